// Parser of derivative formulas: precedence climbing over C++ expressions.
#include <codegen/frontend/Formula.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

namespace oploom::frontend {

namespace {

struct Failure {};

struct BinaryOperator {
  std::string_view text;
  int precedence;
};
// Longer spellings before their prefixes.
constexpr std::array<BinaryOperator, 18> kBinaryOperators = {{{"||", 1},
                                                              {"&&", 2},
                                                              {"==", 6},
                                                              {"!=", 6},
                                                              {"<=", 7},
                                                              {">=", 7},
                                                              {"<<", 8},
                                                              {">>", 8},
                                                              {"|", 3},
                                                              {"^", 4},
                                                              {"&", 5},
                                                              {"<", 7},
                                                              {">", 7},
                                                              {"+", 9},
                                                              {"-", 9},
                                                              {"*", 10},
                                                              {"/", 10},
                                                              {"%", 10}}};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

class Parser {
 public:
  Parser(std::string_view text, FormulaError& error, FormulaLimits limits)
      : text_(text), error_(error), limits_(limits) {}

  Expr formula() {
    if (text_.size() > limits_.length) fail("the formula is too long");
    skip_space();
    if (at_ >= text_.size()) fail("the formula is empty");
    Expr expr = expression();
    skip_space();
    if (at_ < text_.size())
      fail("expected an operator or the end of the formula, found " + found() + in_cpp());
    return expr;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool peek_text(std::string_view wanted) const { return text_.substr(at_).starts_with(wanted); }

  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (peek_text("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail("the comment is not closed");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  [[noreturn]] void fail(std::string message) { fail(std::move(message), at_, 1); }
  [[noreturn]] void fail(std::string message, std::size_t offset, std::size_t length) {
    error_ = {std::move(message), offset, length};
    throw Failure{};
  }
  // A whole word, or one character of UTF-8.
  std::string_view here() const {
    std::size_t end = at_ + 1;
    if (starts_name(peek())) {
      while (end < text_.size() && continues_name(text_[end])) ++end;
    } else {
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    }
    return text_.substr(at_, end - at_);
  }

  std::string found() const {
    if (at_ >= text_.size()) return "the end of the formula";
    return "'" + std::string(here()) + "'";
  }

  // What other languages write here, in C++.
  std::string in_cpp() const {
    if (at_ >= text_.size()) return "";
    const std::string_view word = here();
    const char* meant = word == "if"    ? "condition ? a : b"
                        : word == "and" ? "&&"
                        : word == "or"  ? "||"
                        : word == "="   ? "=="
                                        : "";
    return *meant ? std::string(": write '") + meant + "'" : "";
  }

  void expect(char wanted, std::string_view what) {
    skip_space();
    if (peek() != wanted) fail("expected " + std::string(what) + ", found " + found());
    ++at_;
  }

  Expr finish(Expr expr, std::size_t start) {
    expr.offset = start;
    expr.length = at_ - start;
    return expr;
  }

  struct Depth {
    explicit Depth(Parser& parser) : parser(parser) {
      if (++parser.depth_ > parser.limits_.depth) parser.fail("the formula is nested too deeply");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  Expr expression() {
    Depth depth(*this);
    skip_space();
    const std::size_t start = at_;
    Expr condition = binary(1);
    skip_space();
    if (peek() != '?') return condition;
    ++at_;
    Expr expr;
    expr.kind = Expr::Kind::ternary;
    expr.children.push_back(std::move(condition));
    expr.children.push_back(expression());
    expect(':', "':' of the conditional expression");
    expr.children.push_back(expression());
    return finish(std::move(expr), start);
  }

  const BinaryOperator* peek_binary() const {
    for (const auto& op : kBinaryOperators) {
      if (peek_text(op.text)) return &op;
    }
    return nullptr;
  }

  Expr binary(int min_precedence) {
    skip_space();
    const std::size_t start = at_;
    Expr left = unary();
    std::size_t end = at_;
    while (true) {
      skip_space();
      const BinaryOperator* op = peek_binary();
      if (!op || op->precedence < min_precedence) break;
      at_ += op->text.size();
      if (peek() == '=')
        fail("a formula cannot assign", at_ - op->text.size(), op->text.size() + 1);
      Expr expr;
      expr.kind = Expr::Kind::binary;
      expr.text = std::string(op->text);
      expr.children.push_back(std::move(left));
      expr.children.push_back(binary(op->precedence + 1));
      end = at_;
      left = finish(std::move(expr), start);
    }
    at_ = end;
    return left;
  }

  Expr unary() {
    Depth depth(*this);
    skip_space();
    const std::size_t start = at_;
    const char c = peek();
    if (c == '-' || c == '!' || c == '+' || c == '~' || c == '*' || c == '&') {
      ++at_;
      Expr expr;
      expr.kind = Expr::Kind::unary;
      expr.text = std::string(1, c);
      expr.children.push_back(unary());
      return finish(std::move(expr), start);
    }
    return postfix();
  }

  Expr postfix() {
    const std::size_t start = at_;
    Expr expr = primary();
    while (true) {
      const std::size_t end = at_;
      skip_space();
      const bool arrow = peek_text("->");
      if (arrow || (peek() == '.' && starts_name(peek(1)))) {
        at_ += arrow ? 2 : 1;
        skip_space();
        if (!starts_name(peek())) fail("expected a member's name, found " + found());
        Expr member;
        member.kind = Expr::Kind::member;
        member.arrow = arrow;
        member.text = identifier();
        if (member.text == "template") {
          skip_space();
          member.text = identifier();
        }
        member.template_arguments = template_arguments();
        member.children.push_back(std::move(expr));
        expr = finish(std::move(member), start);
      } else if (peek() == '(') {
        Expr call;
        call.kind = Expr::Kind::call;
        call.children.push_back(std::move(expr));
        list(call, '(', ')');
        expr = finish(std::move(call), start);
      } else if (peek() == '[') {
        ++at_;
        Expr index;
        index.kind = Expr::Kind::index;
        index.children.push_back(std::move(expr));
        index.children.push_back(expression());
        expect(']', "']' after the index");
        expr = finish(std::move(index), start);
      } else if (peek() == '{' && expr.kind == Expr::Kind::name) {
        Expr braces;
        braces.kind = Expr::Kind::braces;
        braces.text = expr.text + expr.template_arguments;
        list(braces, '{', '}');
        expr = finish(std::move(braces), start);
      } else {
        at_ = end;
        return expr;
      }
    }
  }

  void list(Expr& into, char open, char close) {
    const std::size_t start = at_;
    ++at_;
    skip_space();
    if (peek() == close) {
      ++at_;
      return;
    }
    while (true) {
      into.children.push_back(expression());
      skip_space();
      if (peek() == close) {
        ++at_;
        return;
      }
      if (at_ >= text_.size())
        fail(std::string("this '").append(1, open).append("' is not closed"), start, 1);
      if (peek() != ',') {
        fail(std::string("expected ',' or '") + close + "', found " + found());
      }
      ++at_;
    }
  }

  std::string identifier() {
    if (!starts_name(peek())) fail("expected a name, found " + found());
    const std::size_t start = at_;
    while (continues_name(peek())) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // `<double>` or `<Tensor, std::vector<int>>` when a call or a brace follows; else nothing is
  // read, and `<` is a comparison.
  std::string template_arguments() {
    if (peek() != '<') return "";
    std::size_t end = at_;
    int open = 0;
    while (end < text_.size()) {
      const char c = text_[end];
      if (c == '<') {
        ++open;
      } else if (c == '>') {
        if (--open == 0) break;
      } else if (!continues_name(c) && c != ':' && c != ',' && c != ' ' && c != '*' && c != '&') {
        return "";
      }
      ++end;
    }
    if (end >= text_.size() || open != 0) return "";
    std::size_t after = end + 1;
    while (after < text_.size() && text_[after] == ' ') ++after;
    if (after >= text_.size() || (text_[after] != '(' && text_[after] != '{')) return "";
    std::string arguments(text_.substr(at_, end + 1 - at_));
    at_ = end + 1;
    return arguments;
  }

  Expr primary() {
    skip_space();
    const std::size_t start = at_;
    const char c = peek();
    Expr expr;
    if (c == '(') {
      ++at_;
      expr.kind = Expr::Kind::paren;
      expr.children.push_back(expression());
      skip_space();
      if (at_ >= text_.size()) fail("this '(' is not closed", start, 1);
      expect(')', "')'");
      return finish(std::move(expr), start);
    }
    if (c == '{') {
      expr.kind = Expr::Kind::braces;
      list(expr, '{', '}');
      return finish(std::move(expr), start);
    }
    if (c == '[') return lambda();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return string();
    if (starts_name(c) || peek_text("::")) {
      expr.kind = Expr::Kind::name;
      if (peek_text("::")) {
        at_ += 2;
        expr.text = "::";
      }
      expr.text += identifier();
      while (true) {
        expr.template_arguments = template_arguments();
        if (!peek_text("::")) break;
        at_ += 2;
        expr.text += expr.template_arguments + "::" + identifier();
      }
      return finish(std::move(expr), start);
    }
    if (c == '=') fail("a formula cannot assign");
    if (c == '/' && at_ > 0 && text_[at_ - 1] == '/') {
      --at_;
      fail("there is no operator '//': write 'floor(a / b)'");
    }
    fail("expected an expression, found " + found());
  }

  // The one form that formulas need: a function of its parameters that returns an expression.
  Expr lambda() {
    const std::size_t start = at_;
    Expr expr;
    expr.kind = Expr::Kind::lambda;
    while (at_ < text_.size() && peek() != ']') ++at_;
    expect(']', "']' of the lambda's captures");
    expect('(', "'(' of the lambda's parameters");
    std::string last;
    while (true) {
      skip_space();
      if (starts_name(peek())) {
        last = identifier();
      } else if (peek() == ',' || peek() == ')') {
        if (!last.empty()) expr.parameters.push_back(last);
        last.clear();
        if (text_[at_++] == ')') break;
      } else if (peek() == ':' || peek() == '&' || peek() == '*') {
        ++at_;
      } else {
        fail("expected the lambda's parameters, found " + found());
      }
    }
    expect('{', "'{' of the lambda's body");
    skip_space();
    if (!peek_text("return")) fail("a lambda in a formula is '{ return expression; }'");
    at_ += 6;
    expr.children.push_back(expression());
    expect(';', "';' after the lambda's result");
    expect('}', "'}' of the lambda's body");
    return finish(std::move(expr), start);
  }

  Expr number() {
    const std::size_t start = at_;
    if (peek_text("0x") || peek_text("0X")) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek()))) ++at_;
    } else {
      while (is_digit(peek())) ++at_;
      if (peek() == '.') {
        ++at_;
        while (is_digit(peek())) ++at_;
      }
      if (peek() == 'e' || peek() == 'E') {
        ++at_;
        if (peek() == '-' || peek() == '+') ++at_;
        if (!is_digit(peek())) fail("expected the digits of the exponent, found " + found());
        while (is_digit(peek())) ++at_;
      }
    }
    const std::size_t suffix = at_;
    while (continues_name(peek())) ++at_;
    std::string ending(text_.substr(suffix, at_ - suffix));
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    static constexpr std::string_view known[] = {"", "f", "l", "ll", "u", "ul", "ull"};
    if (std::find(std::begin(known), std::end(known), ending) == std::end(known)) {
      const std::string digits(text_.substr(start, suffix - start));
      const std::string name(text_.substr(suffix, at_ - suffix));
      fail("not a number: '" + digits + name + "'; a product is '" + digits + " * " + name + "'",
           start, at_ - start);
    }
    Expr expr;
    expr.kind = Expr::Kind::number;
    expr.text = std::string(text_.substr(start, at_ - start));
    return finish(std::move(expr), start);
  }

  Expr string() {
    const std::size_t start = at_;
    const char quote = peek();
    ++at_;
    while (at_ < text_.size() && peek() != quote) {
      if (peek() == '\\') ++at_;
      ++at_;
    }
    if (at_ >= text_.size()) fail("the string is not closed", start, 1);
    ++at_;
    Expr expr;
    expr.kind = Expr::Kind::string;
    expr.text = std::string(text_.substr(start, at_ - start));
    return finish(std::move(expr), start);
  }

  std::string_view text_;
  FormulaError& error_;
  const FormulaLimits limits_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<Expr> parse_formula(std::string_view text, FormulaError& error,
                                  FormulaLimits limits) {
  try {
    return Parser(text, error, limits).formula();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::string to_s_expression(const Expr& expr) {
  auto with = [&](std::string head) {
    std::string out = "(" + head;
    for (const auto& child : expr.children) out += " " + to_s_expression(child);
    return out + ")";
  };
  switch (expr.kind) {
    case Expr::Kind::name:
      return expr.text + expr.template_arguments;
    case Expr::Kind::number:
    case Expr::Kind::string:
      return expr.text;
    case Expr::Kind::call:
      return with("call");
    case Expr::Kind::member:
      return "(" + std::string(expr.arrow ? "->" : ".") + " " + to_s_expression(expr.children[0]) +
             " " + expr.text + expr.template_arguments + ")";
    case Expr::Kind::index:
      return with("index");
    case Expr::Kind::unary:
    case Expr::Kind::binary:
      return with(expr.text);
    case Expr::Kind::ternary:
      return with("?");
    case Expr::Kind::braces:
      return with(expr.text + "{}");
    case Expr::Kind::lambda:
      return with("lambda");
    case Expr::Kind::paren:
      return to_s_expression(expr.children[0]);
  }
  return "";
}

void walk(const Expr& expr, const std::function<bool(const Expr&)>& visit) {
  if (!visit(expr)) return;
  for (const auto& child : expr.children) walk(child, visit);
}

std::string rewrite(std::string_view text, const Expr& expr,
                    const std::function<std::optional<std::string>(const Expr&)>& replace) {
  std::string out;
  std::size_t done = 0;
  walk(expr, [&](const Expr& node) {
    auto replacement = replace(node);
    if (!replacement) return true;
    out += text.substr(done, node.offset - done);
    out += *replacement;
    done = node.offset + node.length;
    return false;
  });
  out += text.substr(done);
  return out;
}

namespace {

class Pieces {
 public:
  explicit Pieces(std::string_view text) : text_(text) {}

  std::vector<FormulaPiece> of(const Expr& expr) {
    visit(expr, false);
    keep_until(text_.size());
    return std::move(pieces_);
  }

 private:
  void visit(const Expr& expr, bool called) {
    if (expr.kind == Expr::Kind::name) {
      if (called) {
        add(FormulaPiece::Kind::call, expr.offset, expr.text);
      } else if (expr.text.find("::") == std::string::npos && expr.template_arguments.empty() &&
                 std::find(parameters_.begin(), parameters_.end(), expr.text) ==
                     parameters_.end()) {
        add(FormulaPiece::Kind::name, expr.offset, expr.text);
      }
      return;
    }
    // A lambda's parameters hide what has their names outside.
    const std::size_t hidden = parameters_.size();
    parameters_.insert(parameters_.end(), expr.parameters.begin(), expr.parameters.end());
    for (std::size_t i = 0; i < expr.children.size(); ++i) {
      visit(expr.children[i], expr.kind == Expr::Kind::call && i == 0);
    }
    parameters_.resize(hidden);
    if (expr.kind == Expr::Kind::member && called) {
      const std::size_t tail = expr.text.size() + expr.template_arguments.size();
      add(FormulaPiece::Kind::call, expr.offset + expr.length - tail, expr.text);
    }
  }

  void add(FormulaPiece::Kind kind, std::size_t offset, const std::string& name) {
    keep_until(offset);
    pieces_.push_back({kind, name});
    done_ = offset + name.size();
  }
  void keep_until(std::size_t offset) {
    if (offset == done_) return;
    pieces_.push_back({FormulaPiece::Kind::text, std::string(text_.substr(done_, offset - done_))});
    done_ = offset;
  }

  std::string_view text_;
  std::size_t done_ = 0;
  std::vector<std::string> parameters_;  // of the lambdas around
  std::vector<FormulaPiece> pieces_;
};

}  // namespace

std::vector<FormulaPiece> take_apart(std::string_view text, const Expr& expr) {
  return Pieces(text).of(expr);
}

}  // namespace oploom::frontend
