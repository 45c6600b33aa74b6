// Writes JSON, indented, in the order of the calls.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace oploom::frontend {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& raw(std::string_view text);  // text is JSON already

  // Whatever stands within is written on one line.
  JsonWriter& begin_compact() {
    ++compact_;
    return *this;
  }
  JsonWriter& end_compact() {
    --compact_;
    return *this;
  }

  std::string take();  // the document, with a final line break

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void before_value();
  void new_line();

  std::string out_;
  std::vector<bool> empty_;  // for each open bracket: nothing written in it yet
  bool after_key_ = false;
  int compact_ = 0;
};

// Text between quotes, escaped.
std::string json_quote(std::string_view text);

}  // namespace oploom::frontend
