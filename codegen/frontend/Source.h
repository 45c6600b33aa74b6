// Source files in memory and places in them.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

struct SourceFile {
  std::string path;  // as given on the command line
  std::string text;
  std::vector<std::size_t> line_starts;  // byte offset of each line

  std::size_t line_of(std::size_t offset) const;       // 0-based
  std::string_view line_text(std::size_t line) const;  // without the line break
};

// The path without folders.
std::string file_name(const SourceFile& file);

// A place in a file: bytes [offset, offset + length).
struct Location {
  const SourceFile* file = nullptr;
  std::size_t offset = 0;
  std::size_t length = 1;

  std::size_t line() const;    // 1-based
  std::size_t column() const;  // 1-based, in characters
};

// Holds every file read, at a fixed address.
class SourceFiles {
 public:
  // Reads a file; null when it cannot be read.
  const SourceFile* read(const std::string& path);
  const SourceFile* add(std::string path, std::string text);

 private:
  std::deque<SourceFile> files_;
};

// Whether this is a byte of a UTF-8 character behind its first.
inline bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
// Number of characters (code points) in UTF-8 text.
std::size_t count_characters(std::string_view text);

}  // namespace oploom::frontend
