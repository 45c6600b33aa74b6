// Collects the names of functions declared in C++ headers, for the check of formulas.
#include <codegen/frontend/Load.h>

#include <algorithm>
#include <cctype>

namespace oploom::frontend {

namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

// A name before `(` is a function, a name after `struct` or `class` is a constructor. Calls in
// inline bodies come along too: a name too many only makes the check more lenient.
void load_helpers(const SourceFile& file, Model& model) {
  const std::string& text = file.text;
  std::string last;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const auto end = text.find("*/", at + 2);
      at = end == std::string::npos ? text.size() : end + 2;
    } else if (starts_name(c)) {
      const std::size_t start = at;
      while (at < text.size() && continues_name(text[at])) ++at;
      std::string name = text.substr(start, at - start);
      if (last == "struct" || last == "class") model.helpers.insert(name);
      last = std::move(name);
    } else {
      if (c == '(' && !last.empty() && !is_cpp_keyword(last)) model.helpers.insert(last);
      if (!std::isspace(static_cast<unsigned char>(c))) last.clear();
      ++at;
    }
  }
}

}  // namespace oploom::frontend
