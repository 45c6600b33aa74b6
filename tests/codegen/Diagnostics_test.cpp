// Every diagnostic of the front end, as it is shown: the tables lie in diagnostics/*.cases.
//
// A case is
//   === name
//   --- native_functions.yaml
//   --- derivatives.yaml   (may be left away, as may tags.yaml and helpers.h; of a package, its
//                           namespace and oploom/native_functions.yaml)
//   --- expected
// and what is expected is all that the front end prints. After a change of wording, run with
// OPLOOM_UPDATE_EXPECTED=1 and read the difference.
#include "Frontend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace oploom::frontend {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(OPLOOM_SOURCE_DIR) / "tests" / "codegen" / "diagnostics";

struct Case {
  std::string file, name;
  std::vector<std::pair<std::string, std::string>> parts;

  std::string* part(const std::string& wanted) {
    for (auto& [title, text] : parts) {
      if (title == wanted) return &text;
    }
    return nullptr;
  }
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.file << ": " << test.name; }

std::vector<Case> read_cases(const std::filesystem::path& path, std::string* preamble = nullptr) {
  std::vector<Case> cases;
  std::ifstream stream(path);
  std::string line;
  while (std::getline(stream, line)) {
    if (line.starts_with("=== ")) {
      cases.push_back({path.filename().string(), line.substr(4), {}});
    } else if (cases.empty()) {
      if (preamble) *preamble += line + "\n";
    } else if (line.starts_with("--- ")) {
      cases.back().parts.emplace_back(line.substr(4), "");
    } else if (!cases.back().parts.empty()) {
      cases.back().parts.back().second += line + "\n";
    }
  }
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cases") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const auto& path : paths) {
    for (auto& test : read_cases(path)) cases.push_back(std::move(test));
  }
  return cases;
}

std::string one_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string rendered(Case test) {
  auto text = [&](const std::string& part) {
    const std::string* found = test.part(part);
    return found ? *found : std::string();
  };
  Frontend frontend(text("native_functions.yaml"), text("derivatives.yaml"), text("tags.yaml"),
                    text("helpers.h"), /*syntax_only=*/false, one_line(text("namespace")),
                    text("oploom/native_functions.yaml"));
  return frontend.diagnostics.render();
}

class Diagnostic_ : public testing::TestWithParam<Case> {};

TEST_P(Diagnostic_, IsShownAsWritten) {
  Case test = GetParam();
  ASSERT_TRUE(test.part("expected")) << "the case has no part 'expected'";
  EXPECT_EQ(rendered(test), *test.part("expected"));
}

INSTANTIATE_TEST_SUITE_P(Cases, Diagnostic_, testing::ValuesIn(all_cases()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) {
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return name;
});

// Rewrites the tables with what the front end prints now.
void update_expected() {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".cases") continue;
    std::string text;
    for (auto& test : read_cases(entry.path(), &text)) {
      const std::string expected = rendered(test);
      if (!test.part("expected")) test.parts.emplace_back("expected", "");
      *test.part("expected") = expected;
      text += "=== " + test.name + "\n";
      for (const auto& [title, part] : test.parts) text += "--- " + title + "\n" + part;
    }
    std::ofstream(entry.path()) << text;
  }
}

TEST(Diagnostics, TablesAreThere) {
  EXPECT_GE(all_cases().size(), 60u);
  if (std::getenv("OPLOOM_UPDATE_EXPECTED")) update_expected();
}

// What a program reads.
TEST(Diagnostics, Json) {
  Frontend frontend("- func: abs(tensor self) -> Tensor\n  family: X\n");
  EXPECT_EQ(frontend.diagnostics.render_json(),
            "{\n"
            "  \"errors\": 1,\n"
            "  \"diagnostics\": [\n"
            "    {\n"
            "      \"severity\": \"error\",\n"
            "      \"file\": \"native_functions.yaml\",\n"
            "      \"line\": 1,\n"
            "      \"column\": 13,\n"
            "      \"length\": 6,\n"
            "      \"message\": \"unknown type 'tensor'\",\n"
            "      \"suggestion\": \"Tensor\",\n"
            "      \"notes\": []\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

TEST(Diagnostics, PartOfALongLine) {
  const std::string much(5000, 'x');
  const Frontend frontend("- {doc: " + much + ", famly: " + much +
                          ", func: \"abs(Tensor self) -> Tensor\", family: e}\n");
  const std::string shown = frontend.diagnostics.render();
  EXPECT_LT(shown.size(), 600u);
  const std::size_t line = shown.find("| ..."), caret = shown.find("^~~~~\n");
  ASSERT_NE(line, shown.npos);
  const std::size_t below = shown.rfind('\n', caret) + 1, above = shown.rfind('\n', below - 2) + 1;
  EXPECT_EQ(shown.substr(above + (caret - below), 5), "famly");
}

TEST(Diagnostics, CaretStandsUnderTheCharacterAfterWideAndTabbedText) {
  Frontend frontend("- {func: \"abs(Tensor self) -> Tensor\", family: e, doc: öé, famly: x}\n");
  EXPECT_EQ(frontend.diagnostics.render(),
            "native_functions.yaml:1:60: error: unknown key 'famly' of an operator (did you mean "
            "'family'?)\n"
            "    1 | - {func: \"abs(Tensor self) -> Tensor\", family: e, doc: öé, famly: x}\n"
            "      |                                                            ^~~~~\n");
}

}  // namespace
}  // namespace oploom::frontend
