// The JSON writer.
#include <codegen/frontend/Json.h>

#include <utility>

namespace oploom::frontend {

std::string json_quote(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (byte < 0x20) {
          out += std::string("\\u00") + hex[byte >> 4] + hex[byte & 15];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

void JsonWriter::new_line() {
  if (compact_) return;
  out_ += "\n";
  out_.append(2 * empty_.size(), ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (empty_.empty()) return;
  if (!empty_.back()) out_ += compact_ ? ", " : ",";
  empty_.back() = false;
  new_line();
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  out_ += json_quote(name) + ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  before_value();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_quote(text)); }

JsonWriter& JsonWriter::open(char bracket) {
  before_value();
  out_ += bracket;
  empty_.push_back(true);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool was_empty = empty_.back();
  empty_.pop_back();
  if (!was_empty) new_line();
  out_ += bracket;
  return *this;
}

std::string JsonWriter::take() {
  out_ += "\n";
  return std::move(out_);
}

}  // namespace oploom::frontend
