// Reading of source files, and lines and columns.
#include <codegen/frontend/Source.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace oploom::frontend {

std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_inside_character));
}

// The model names files this way, so that it is the same wherever the tree lies.
std::string file_name(const SourceFile& file) {
  return file.path.substr(file.path.find_last_of('/') + 1);
}

std::size_t SourceFile::line_of(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  return static_cast<std::size_t>(after - line_starts.begin()) - 1;
}

std::string_view SourceFile::line_text(std::size_t line) const {
  std::string_view rest = std::string_view(text).substr(line_starts[line]);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

std::size_t Location::line() const { return file ? file->line_of(offset) + 1 : 0; }

std::size_t Location::column() const {
  if (!file) return 0;
  const std::size_t start = file->line_starts[file->line_of(offset)];
  return count_characters(std::string_view(file->text).substr(start, offset - start)) + 1;
}

const SourceFile* SourceFiles::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return nullptr;
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad() || (text.fail() && stream.gcount() != 0)) return nullptr;
  return add(path, std::move(text).str());
}

const SourceFile* SourceFiles::add(std::string path, std::string text) {
  SourceFile& file = files_.emplace_back();
  file.path = std::move(path);
  file.text = std::move(text);
  if (file.text.starts_with("\xEF\xBB\xBF")) file.text.erase(0, 3);  // a byte order mark
  file.line_starts.push_back(0);
  for (std::size_t i = 0; i < file.text.size(); ++i) {
    if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  }
  return &file;
}

}  // namespace oploom::frontend
