// The `oploom` program: checks, explains and lists operators, starts new ones, generates code.
#include <codegen/frontend/CommandLine.h>

#include <iostream>

int main(int argc, char** argv) {
  return oploom::frontend::run_command_line({argv + 1, argv + argc}, std::cout, std::cerr);
}
