// Collects mistakes and shows them as a compiler does: place, message, line, caret, notes.
#pragma once

#include <codegen/frontend/Source.h>

#include <deque>
#include <iosfwd>
#include <string>
#include <vector>

namespace oploom::frontend {

enum class Severity { error, warning };

struct DiagnosticNote {
  Location where;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::error;
  Location where;
  std::string message;
  std::string suggestion;  // shown as: did you mean '...'?
  std::vector<DiagnosticNote> notes;

  Diagnostic& suggest(std::string text) {
    suggestion = std::move(text);
    return *this;
  }
  Diagnostic& note(Location place, std::string text) {
    notes.push_back({place, std::move(text)});
    return *this;
  }
};

class Diagnostics {
 public:
  Diagnostic& error(Location where, std::string message);
  Diagnostic& warning(Location where, std::string message);

  std::size_t num_errors() const;
  bool ok() const { return num_errors() == 0; }
  // In the order of the files as first named, and of the places in them.
  std::vector<const Diagnostic*> sorted() const;

  std::string render() const;
  std::string render_json() const;

 private:
  std::deque<Diagnostic> diagnostics_;
};

}  // namespace oploom::frontend
