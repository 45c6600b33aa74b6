// Command line of the `oploom` program: finds the command, parses its options, prints help.
#include <c10/util/Suggest.h>
#include <codegen/frontend/CommandLine.h>
#include <codegen/frontend/commands/Command.h>

#include <algorithm>
#include <ostream>

namespace oploom::frontend {

namespace {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> all = {
      &kCheckCommand, &kExplainCommand,  &kListCommand, &kNewCommand,
      &kModelCommand, &kGenerateCommand, &kDocsCommand};
  return all;
}

constexpr std::string_view kExitCodes = R"(
Exit codes:
  0  all is well
  1  the files have mistakes, which were reported; or generated code is not up to date (--check)
  2  the command line is wrong
  3  a file cannot be read or written, or the back end failed
)";

// Breaks the text into lines of at most 100 characters; all but the first begin at `indent`.
std::string filled(std::string_view text, std::size_t at, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string out;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (at + 1 + word.size() > kWidth && at > indent) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!out.empty()) {
      out += " ";
      ++at;
    }
    out += word;
    at += word.size();
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return out;
}

void print_help(std::ostream& out) {
  out << "usage: oploom COMMAND [OPTIONS] [native_functions.yaml "
         "[derivatives.yaml]]\n\nCommands:\n";
  for (const Command* command : commands()) {
    std::string name(command->name);
    name.resize(11, ' ');
    out << "  " << name << command->summary << "\n";
  }
  out << "\n`oploom help COMMAND` tells what a command does and its options, `oploom --version` "
         "which\n"
         "oploom this is. Without files, native_functions.yaml and derivatives.yaml of the "
         "working\n"
         "directory are read.\n"
      << kExitCodes;
}

void print_help(const Command& command, std::ostream& out) {
  out << "usage: oploom " << command.name << " [OPTIONS] " << command.operands << "\n\n"
      << filled(command.text, 0, 0) << "\n\nOptions:\n";
  auto print = [&](const OptionHelp& option) {
    std::string head = "  " + std::string(option.name);
    if (!option.value.empty()) head += " " + std::string(option.value);
    head.resize(std::max<std::size_t>(head.size() + 2, 20), ' ');
    out << head << filled(option.text, head.size(), 20) << "\n";
  };
  for (const auto& option : command.options) print(option);
  for (const auto& option : file_options()) print(option);
  print({"-h, --help", "", "this text"});
  out << kExitCodes;
}

// The mistake in the command line, or "".
std::string parse(const Command& command, const std::vector<std::string>& words,
                  Arguments& arguments) {
  std::vector<OptionHelp> known = command.options;
  known.insert(known.end(), file_options().begin(), file_options().end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      arguments.words.push_back(word);
      continue;
    }
    const auto option = std::find_if(known.begin(), known.end(),
                                     [&](const OptionHelp& help) { return help.name == word; });
    if (option == known.end()) {
      std::vector<std::string_view> names = {"--help"};
      for (const auto& help : known) names.push_back(help.name);
      return "unknown option '" + word + "'" + did_you_mean(c10::closest_name(word, names));
    }
    auto& values = arguments.options[word];
    if (option->value.empty()) continue;
    if (i + 1 >= words.size()) {
      return "'" + word + "' needs a value: " + word + " " + std::string(option->value);
    }
    values.push_back(words[++i]);
  }
  if (arguments.words.size() < command.own_operands) {
    return "usage: oploom " + std::string(command.name) + " " + std::string(command.operands);
  }
  if (arguments.words.size() > command.own_operands + 2) {
    return "at most two files: native_functions.yaml derivatives.yaml";
  }
  return "";
}

}  // namespace

std::string did_you_mean(const std::string& suggestion) {
  return suggestion.empty() ? "" : " (did you mean '" + suggestion + "'?)";
}

std::string Arguments::get(std::string_view option, std::string otherwise) const {
  const auto found = options.find(option);
  return found == options.end() || found->second.empty() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::vector<std::string>() : found->second;
}

int run_command_line(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  auto is_help = [](const std::string& word) { return word == "-h" || word == "--help"; };
  if (!words.empty() && words[0] == "--version") {
    out << "oploom " OPLOOM_VERSION "\n";
    return kOk;
  }
  // `oploom help check` is `oploom check --help`.
  const bool asks = !words.empty() && words[0] == "help";
  const std::size_t place = asks ? 1 : 0;
  const std::string name = place < words.size() ? words[place] : "";
  const Command* command = nullptr;
  for (const Command* known : commands()) {
    if (known->name == name) command = known;
  }
  const bool help = std::any_of(words.begin(), words.end(), is_help);
  if (help || (asks && (command || name.empty()))) {
    command ? print_help(*command, out) : print_help(out);
    return kOk;
  }
  std::string mistake;
  Arguments arguments;
  if (command) {
    mistake = parse(*command, {words.begin() + 1, words.end()}, arguments);
  } else {
    std::vector<std::string_view> names;
    for (const Command* known : commands()) names.push_back(known->name);
    mistake = name.empty()
                  ? "a command is needed"
                  : "unknown command '" + name + "'" + did_you_mean(c10::closest_name(name, names));
  }
  if (!mistake.empty()) {
    err << "oploom: " << mistake << "\ntry 'oploom "
        << (command ? std::string(command->name) + " " : "") << "--help'\n";
    return kUsage;
  }
  return command->run(arguments, out, err);
}

}  // namespace oploom::frontend
