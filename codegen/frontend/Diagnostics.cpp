// Rendering of diagnostics for people and for programs.
#include <codegen/frontend/Diagnostics.h>

#include <codegen/frontend/Json.h>

#include <algorithm>
#include <map>

namespace oploom::frontend {

Diagnostic& Diagnostics::error(Location where, std::string message) {
  return diagnostics_.emplace_back(Diagnostic{Severity::error, where, std::move(message), "", {}});
}

Diagnostic& Diagnostics::warning(Location where, std::string message) {
  return diagnostics_.emplace_back(
      Diagnostic{Severity::warning, where, std::move(message), "", {}});
}

std::size_t Diagnostics::num_errors() const {
  return static_cast<std::size_t>(
      std::count_if(diagnostics_.begin(), diagnostics_.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::error; }));
}

std::vector<const Diagnostic*> Diagnostics::sorted() const {
  std::map<const SourceFile*, std::size_t> order;
  std::vector<const Diagnostic*> list;
  for (const auto& diagnostic : diagnostics_) {
    order.emplace(diagnostic.where.file, order.size());
    list.push_back(&diagnostic);
  }
  std::stable_sort(list.begin(), list.end(), [&](const Diagnostic* a, const Diagnostic* b) {
    if (a->where.file != b->where.file) return order[a->where.file] < order[b->where.file];
    return a->where.offset < b->where.offset;
  });
  return list;
}

namespace {

// No screen is as wide.
constexpr std::size_t kLongestLine = 400;

// What stands around [begin, end) of a line that is longer, which then are places in that part.
std::string part_of_line(std::string_view text, std::size_t& begin, std::size_t& end) {
  // A character is cut nowhere; it has up to four bytes, and what is no UTF-8 any number.
  const auto whole = [&](std::size_t place) {
    for (int back = 0; back < 3 && place > 0 && place < text.size(); ++back) {
      if (!is_inside_character(text[place])) break;
      --place;
    }
    return place;
  };
  const std::size_t first = whole(begin - std::min(begin, kLongestLine / 4));
  const std::size_t last = whole(std::min(first + kLongestLine / 2, text.size()));
  const std::string_view before = first > 0 ? "..." : "", after = last < text.size() ? "..." : "";
  begin = begin - first + before.size();
  end = std::min(end, last) - first + before.size();
  return std::string(before) + std::string(text.substr(first, last - first)) + std::string(after);
}

// One message with its source line and a caret:
//   native_functions.yaml:12:13: error: unknown type 'tensor' (did you mean 'Tensor'?)
//      12 | - func: abs(tensor self) -> Tensor
//         |             ^~~~~~
void render_one(std::string& out, const Location& where, std::string_view label,
                const std::string& message, const std::string& suggestion) {
  if (where.file) {
    out += where.file->path + ":";
    if (!where.file->text.empty() || where.offset != 0) {
      out += std::to_string(where.line()) + ":" + std::to_string(where.column()) + ":";
    }
    out += " ";
  } else {
    out += "oploom: ";
  }
  out += std::string(label) + ": " + message;
  if (!suggestion.empty()) out += " (did you mean '" + suggestion + "'?)";
  out += "\n";
  if (!where.file || where.file->text.empty()) return;

  const std::size_t line = where.line() - 1;
  std::string_view text = where.file->line_text(line);
  const std::size_t start = where.file->line_starts[line];
  std::size_t begin = std::min(where.offset - start, text.size());
  std::size_t end = std::min(begin + std::max<std::size_t>(where.length, 1), text.size());
  std::string part;
  if (text.size() > kLongestLine) {
    part = part_of_line(text, begin, end);
    text = part;
  }
  std::string number = std::to_string(line + 1);
  if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
  out += number + " | " + std::string(text) + "\n";
  out += std::string(number.size(), ' ') + " | ";
  for (const char c : text.substr(0, begin)) {
    if (!is_inside_character(c)) out += c == '\t' ? '\t' : ' ';
  }
  out += "^";
  const std::size_t width = count_characters(text.substr(begin, end - begin));
  if (width > 1) out += std::string(width - 1, '~');
  out += "\n";
}

void write_place(JsonWriter& json, const Location& where) {
  json.key("file");
  if (where.file) {
    json.value(where.file->path);
    json.key("line").value(where.line());
    json.key("column").value(where.column());
    json.key("length").value(where.length);
  } else {
    json.null();
  }
}

}  // namespace

std::string Diagnostics::render() const {
  std::string out;
  for (const Diagnostic* diagnostic : sorted()) {
    render_one(out, diagnostic->where,
               diagnostic->severity == Severity::error ? "error" : "warning", diagnostic->message,
               diagnostic->suggestion);
    for (const auto& note : diagnostic->notes) {
      render_one(out, note.where, "note", note.message, "");
    }
  }
  return out;
}

std::string Diagnostics::render_json() const {
  JsonWriter json;
  json.begin_object();
  json.key("errors").value(num_errors());
  json.key("diagnostics").begin_array();
  for (const Diagnostic* diagnostic : sorted()) {
    json.begin_object();
    json.key("severity").value(diagnostic->severity == Severity::error ? "error" : "warning");
    write_place(json, diagnostic->where);
    json.key("message").value(diagnostic->message);
    json.key("suggestion");
    diagnostic->suggestion.empty() ? json.null() : json.value(diagnostic->suggestion);
    json.key("notes").begin_array();
    for (const auto& note : diagnostic->notes) {
      json.begin_object();
      write_place(json, note.where);
      json.key("message").value(note.message);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace oploom::frontend
