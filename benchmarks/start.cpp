// A program that does nothing: what it costs to be linked with a library.
int main() {}
