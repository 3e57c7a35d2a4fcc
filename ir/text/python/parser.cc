// The statement half of the parser; expressions are expr_parser.cc's. The
// scanner has made indentation into tokens, so that a block is read between
// kIndent and kDedent. A statement is known by its first word, or as an
// assignment by what follows its first expression:
//
//   x: T.int32 = A[0]       `:`    kAnnotate
//   A[i] += 1               `+=`   kAugment, name "+"
//   a = b = c               `=`    kAssign, targets a and b
//   f(x)                    none   kExpr
//   if a: b                 elif becomes an if in orelse:
//   elif c: d                 kIf(a, [b], orelse: [kIf(c, [d])])
//
// Statements that a program cannot contain are parsed all the same, as a script
// around it may hold them, and the reader can then name them when it refuses. A
// text with tabs is parsed twice, with tabs of 4 and of 8 columns; a text
// without any, once.
#include "kiln/ir/text/python/parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/expr_parser.h"
#include "kiln/ir/text/python/keyword.h"
#include "kiln/ir/text/python/scanner.h"
#include "kiln/ir/text/python/token_cursor.h"

namespace kiln::python {
namespace {

constexpr std::array<std::string_view, 13> kAugmented = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=",
    "@=", "&=", "|=", "^=", "<<=", ">>="};

class StmtParser {
 public:
  explicit StmtParser(TokenCursor& cursor) : cursor_(cursor), expr_(cursor) {}

  absl::StatusOr<std::vector<Stmt>> File();

 private:
  // Appends the statement, or the several of one line, to `out`.
  absl::Status Statement(std::vector<Stmt>& out);
  absl::Status SimpleLine(std::vector<Stmt>& out);
  absl::StatusOr<Stmt> Compound();
  absl::StatusOr<Stmt> Simple();
  absl::StatusOr<Stmt> Import();
  absl::StatusOr<Stmt> Return();
  absl::StatusOr<Stmt> Assert();
  absl::StatusOr<Stmt> Other();
  absl::StatusOr<Stmt> Assignment();
  absl::StatusOr<Stmt> Decorated();
  absl::StatusOr<Stmt> Class();
  absl::StatusOr<Stmt> Function();
  absl::Status Parameters(std::vector<Parameter>& out);
  absl::StatusOr<Parameter> OneParameter();
  absl::StatusOr<Stmt> For();
  absl::StatusOr<Stmt> Conditional(StmtKind kind);
  absl::StatusOr<Stmt> With();
  absl::StatusOr<Stmt> Try();
  absl::Status Else(Stmt& stmt);
  absl::Status Body(std::string_view owner, int line, std::vector<Stmt>& out);
  absl::Status CheckTarget(const Expr& target) const;
  absl::StatusOr<std::string> TakeName(std::string_view what);

  Stmt Begin(StmtKind kind) const {
    Stmt stmt;
    stmt.kind = kind;
    stmt.begin = cursor_.peek().begin;
    return stmt;
  }

  TokenCursor& cursor_;
  ExprParser expr_;
};

absl::StatusOr<std::vector<Stmt>> StmtParser::File() {
  std::vector<Stmt> body;
  while (!cursor_.At(TokenKind::kEnd)) {
    KILN_RETURN_IF_ERROR(Statement(body));
  }
  return body;
}

absl::Status StmtParser::Statement(std::vector<Stmt>& out) {
  if (cursor_.At(TokenKind::kIndent)) {
    return cursor_.source().Error(
        cursor_.peek().begin,
        "this line is deeper than the one before, which opens no block");
  }
  KILN_RETURN_IF_ERROR(cursor_.Descend());
  bool compound = cursor_.AtOp("@");
  for (std::string_view word :
       {"class", "def", "for", "while", "if", "with", "try"}) {
    compound = compound || cursor_.AtWord(word);
  }
  if (compound) {
    KILN_ASSIGN_OR_RETURN(Stmt stmt, Compound());
    out.push_back(std::move(stmt));
  } else {
    KILN_RETURN_IF_ERROR(SimpleLine(out));
  }
  cursor_.Ascend();
  return absl::OkStatus();
}

absl::StatusOr<Stmt> StmtParser::Compound() {
  if (cursor_.AtOp("@")) return Decorated();
  if (cursor_.AtWord("class")) return Class();
  if (cursor_.AtWord("def")) return Function();
  if (cursor_.AtWord("for")) return For();
  if (cursor_.AtWord("while")) return Conditional(StmtKind::kWhile);
  if (cursor_.AtWord("if")) return Conditional(StmtKind::kIf);
  if (cursor_.AtWord("with")) return With();
  return Try();
}

absl::Status StmtParser::SimpleLine(std::vector<Stmt>& out) {
  do {
    KILN_ASSIGN_OR_RETURN(Stmt stmt, Simple());
    stmt.last_line = cursor_.last().end.line;
    out.push_back(std::move(stmt));
  } while (cursor_.TakeOp(";") && !cursor_.At(TokenKind::kNewline));
  if (!cursor_.At(TokenKind::kNewline)) {
    return cursor_.Expected("the end of the line");
  }
  cursor_.Take();
  return absl::OkStatus();
}

absl::StatusOr<Stmt> StmtParser::Simple() {
  if (cursor_.AtWord("import") || cursor_.AtWord("from")) return Import();
  if (cursor_.AtWord("return")) return Return();
  if (cursor_.AtWord("assert")) return Assert();
  struct Plain {
    std::string_view word;
    StmtKind kind;
  };
  for (const Plain& plain :
       {Plain{"pass", StmtKind::kPass}, Plain{"break", StmtKind::kBreak},
        Plain{"continue", StmtKind::kContinue}}) {
    Stmt stmt = Begin(plain.kind);
    if (cursor_.TakeWord(plain.word)) return stmt;
  }
  for (std::string_view word : {"del", "global", "nonlocal", "raise"}) {
    if (cursor_.AtWord(word)) return Other();
  }
  return Assignment();
}

// Checks the form of an import; its names are not looked up.
absl::StatusOr<Stmt> StmtParser::Import() {
  Stmt stmt = Begin(StmtKind::kImport);
  Token previous = cursor_.Take();
  stmt.name = std::string(previous.text);
  bool last_is_name = false;
  while (!cursor_.At(TokenKind::kNewline) && !cursor_.AtOp(";")) {
    const Token& token = cursor_.peek();
    bool punctuation = cursor_.AtOp(".") || cursor_.AtOp("...") ||
                       cursor_.AtOp(",") || cursor_.AtOp("(") ||
                       cursor_.AtOp(")") || cursor_.AtOp("*");
    if (token.kind != TokenKind::kName && !punctuation) {
      return cursor_.Expected("a module or a name to import");
    }
    last_is_name = token.kind == TokenKind::kName || token.text == ")" ||
                   token.text == "*";
    absl::StrAppend(&stmt.name, " ", std::string(cursor_.Take().text));
  }
  if (!last_is_name) return cursor_.Expected("a module or a name to import");
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Return() {
  Stmt stmt = Begin(StmtKind::kReturn);
  cursor_.Take();
  if (cursor_.At(TokenKind::kNewline) || cursor_.AtOp(";")) return stmt;
  KILN_ASSIGN_OR_RETURN(stmt.value, expr_.List());
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Assert() {
  Stmt stmt = Begin(StmtKind::kAssert);
  cursor_.Take();
  KILN_ASSIGN_OR_RETURN(stmt.value, expr_.Single());
  if (cursor_.TakeOp(",")) {
    KILN_ASSIGN_OR_RETURN(Expr message, expr_.Single());
    stmt.values.push_back(std::move(message));
  }
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Other() {
  Stmt stmt = Begin(StmtKind::kOther);
  stmt.name = std::string(cursor_.Take().text);
  if (cursor_.At(TokenKind::kNewline) || cursor_.AtOp(";")) return stmt;
  KILN_ASSIGN_OR_RETURN(Expr value, expr_.List());
  stmt.values.push_back(std::move(value));
  if (cursor_.TakeWord("from")) {
    KILN_ASSIGN_OR_RETURN(value, expr_.Single());
    stmt.values.push_back(std::move(value));
  }
  return stmt;
}

absl::Status StmtParser::CheckTarget(const Expr& target) const {
  switch (target.kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript:
      return absl::OkStatus();
    case ExprKind::kStarred:
      return CheckTarget(target.items[0]);
    case ExprKind::kTuple:
    case ExprKind::kList:
      for (const Expr& item : target.items) {
        KILN_RETURN_IF_ERROR(CheckTarget(item));
      }
      return absl::OkStatus();
    case ExprKind::kInt:
    case ExprKind::kFloat:
    case ExprKind::kString:
    case ExprKind::kTrue:
    case ExprKind::kFalse:
    case ExprKind::kNone:
    case ExprKind::kEllipsis:
    case ExprKind::kCall:
    case ExprKind::kKeyword:
    case ExprKind::kSlice:
    case ExprKind::kOmitted:
    case ExprKind::kSet:
    case ExprKind::kDict:
    case ExprKind::kLambda:
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kCompare:
    case ExprKind::kBoolean:
    case ExprKind::kConditional:
    case ExprKind::kComprehension:
      break;
  }
  return cursor_.source().Error(
      target.begin, absl::StrCat("nothing can be assigned to ",
                                 std::string(DescribeKind(target.kind))));
}

absl::StatusOr<Stmt> StmtParser::Assignment() {
  Stmt stmt = Begin(StmtKind::kExpr);
  KILN_ASSIGN_OR_RETURN(Expr first, expr_.List());
  if (cursor_.TakeOp(":")) {
    stmt.kind = StmtKind::kAnnotate;
    KILN_RETURN_IF_ERROR(CheckTarget(first));
    stmt.targets.push_back(std::move(first));
    KILN_ASSIGN_OR_RETURN(stmt.annotation, expr_.Single());
    if (!cursor_.TakeOp("=")) return stmt;
    KILN_ASSIGN_OR_RETURN(stmt.value, expr_.List());
    return stmt;
  }
  for (std::string_view op : kAugmented) {
    if (!cursor_.TakeOp(op)) continue;
    stmt.kind = StmtKind::kAugment;
    stmt.name = std::string(op.substr(0, op.size() - 1));
    KILN_RETURN_IF_ERROR(CheckTarget(first));
    stmt.targets.push_back(std::move(first));
    KILN_ASSIGN_OR_RETURN(stmt.value, expr_.List());
    return stmt;
  }
  while (cursor_.TakeOp("=")) {
    stmt.kind = StmtKind::kAssign;
    KILN_RETURN_IF_ERROR(CheckTarget(first));
    stmt.targets.push_back(std::move(first));
    KILN_ASSIGN_OR_RETURN(first, expr_.List());
  }
  stmt.value = std::move(first);
  return stmt;
}

absl::StatusOr<std::string> StmtParser::TakeName(std::string_view what) {
  if (!cursor_.At(TokenKind::kName) || IsKeyword(cursor_.peek().text)) {
    return cursor_.Expected(what);
  }
  return std::string(cursor_.Take().text);
}

absl::StatusOr<Stmt> StmtParser::Decorated() {
  Position begin = cursor_.peek().begin;
  std::vector<Expr> decorators;
  while (cursor_.TakeOp("@")) {
    KILN_ASSIGN_OR_RETURN(Expr decorator, expr_.Single());
    decorators.push_back(std::move(decorator));
    if (!cursor_.At(TokenKind::kNewline)) {
      return cursor_.Expected("the end of the line after a decorator");
    }
    cursor_.Take();
  }
  if (!cursor_.AtWord("def") && !cursor_.AtWord("class")) {
    return cursor_.Expected("`def` or `class` after a decorator");
  }
  KILN_ASSIGN_OR_RETURN(Stmt stmt,
                        cursor_.AtWord("def") ? Function() : Class());
  stmt.begin = begin;
  stmt.decorators = std::move(decorators);
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Class() {
  Stmt stmt = Begin(StmtKind::kClass);
  int line = cursor_.Take().begin.line;
  KILN_ASSIGN_OR_RETURN(stmt.name, TakeName("the name of the class"));
  if (cursor_.TakeOp("(")) {
    while (!cursor_.AtOp(")")) {
      KILN_ASSIGN_OR_RETURN(Expr base, expr_.Single());
      stmt.values.push_back(std::move(base));
      if (!cursor_.TakeOp(",")) break;
    }
    KILN_RETURN_IF_ERROR(cursor_.ExpectOp(")", "after the base classes"));
  }
  KILN_RETURN_IF_ERROR(Body("class", line, stmt.body));
  stmt.last_line = stmt.body.back().last_line;
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Function() {
  Stmt stmt = Begin(StmtKind::kFunction);
  int line = cursor_.Take().begin.line;
  KILN_ASSIGN_OR_RETURN(stmt.name, TakeName("the name of the function"));
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp("(", "after the name of the function"));
  KILN_RETURN_IF_ERROR(Parameters(stmt.parameters));
  if (cursor_.TakeOp("->")) {
    KILN_ASSIGN_OR_RETURN(stmt.annotation, expr_.Single());
  }
  KILN_RETURN_IF_ERROR(Body("def", line, stmt.body));
  stmt.last_line = stmt.body.back().last_line;
  return stmt;
}

absl::Status StmtParser::Parameters(std::vector<Parameter>& out) {
  while (!cursor_.AtOp(")")) {
    KILN_ASSIGN_OR_RETURN(Parameter parameter, OneParameter());
    out.push_back(std::move(parameter));
    if (!cursor_.TakeOp(",")) break;
  }
  return cursor_.ExpectOp(")", "or `,` after a parameter");
}

absl::StatusOr<Parameter> StmtParser::OneParameter() {
  Parameter parameter;
  parameter.begin = cursor_.peek().begin;
  if (cursor_.AtOp("*") || cursor_.AtOp("**") || cursor_.AtOp("/")) {
    parameter.name = std::string(cursor_.Take().text);
    if (cursor_.AtOp(",") || cursor_.AtOp(")")) return parameter;
  }
  KILN_ASSIGN_OR_RETURN(std::string name, TakeName("the name of a parameter"));
  parameter.name += name;
  if (cursor_.TakeOp(":")) {
    KILN_ASSIGN_OR_RETURN(parameter.annotation, expr_.Single());
  }
  if (cursor_.TakeOp("=")) {
    KILN_ASSIGN_OR_RETURN(parameter.default_value, expr_.Single());
  }
  return parameter;
}

absl::StatusOr<Stmt> StmtParser::For() {
  Stmt stmt = Begin(StmtKind::kFor);
  cursor_.Take();
  KILN_ASSIGN_OR_RETURN(Expr targets, expr_.ForTargets());
  KILN_RETURN_IF_ERROR(CheckTarget(targets));
  stmt.targets.push_back(std::move(targets));
  KILN_RETURN_IF_ERROR(
      cursor_.ExpectWord("in", "after the names of this loop"));
  KILN_ASSIGN_OR_RETURN(stmt.value, expr_.List());
  KILN_RETURN_IF_ERROR(Body("for", stmt.begin.line, stmt.body));
  KILN_RETURN_IF_ERROR(Else(stmt));
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Conditional(StmtKind kind) {
  Stmt stmt = Begin(kind);
  std::string word(cursor_.Take().text);
  KILN_ASSIGN_OR_RETURN(stmt.value, expr_.Single());
  KILN_RETURN_IF_ERROR(Body(word, stmt.begin.line, stmt.body));
  if (kind == StmtKind::kIf && cursor_.AtWord("elif")) {
    KILN_RETURN_IF_ERROR(cursor_.Descend());
    KILN_ASSIGN_OR_RETURN(Stmt next, Conditional(StmtKind::kIf));
    cursor_.Ascend();
    stmt.last_line = next.last_line;
    stmt.orelse.push_back(std::move(next));
    return stmt;
  }
  KILN_RETURN_IF_ERROR(Else(stmt));
  return stmt;
}

// An optional else block; also sets the last line of the statement.
absl::Status StmtParser::Else(Stmt& stmt) {
  int line = cursor_.peek().begin.line;
  if (cursor_.TakeWord("else")) {
    KILN_RETURN_IF_ERROR(Body("else", line, stmt.orelse));
  }
  const std::vector<Stmt>& last = stmt.orelse.empty() ? stmt.body : stmt.orelse;
  stmt.last_line = last.back().last_line;
  return absl::OkStatus();
}

absl::StatusOr<Stmt> StmtParser::With() {
  Stmt stmt = Begin(StmtKind::kWith);
  cursor_.Take();
  do {
    KILN_ASSIGN_OR_RETURN(Expr context, expr_.Single());
    stmt.values.push_back(std::move(context));
    Expr target;
    if (cursor_.TakeWord("as")) {
      KILN_ASSIGN_OR_RETURN(target, expr_.Single());
      KILN_RETURN_IF_ERROR(CheckTarget(target));
    }
    stmt.targets.push_back(std::move(target));
  } while (cursor_.TakeOp(","));
  KILN_RETURN_IF_ERROR(Body("with", stmt.begin.line, stmt.body));
  stmt.last_line = stmt.body.back().last_line;
  return stmt;
}

absl::StatusOr<Stmt> StmtParser::Try() {
  Stmt stmt = Begin(StmtKind::kTry);
  cursor_.Take();
  KILN_RETURN_IF_ERROR(Body("try", stmt.begin.line, stmt.body));
  while (cursor_.AtWord("except") || cursor_.AtWord("finally") ||
         cursor_.AtWord("else")) {
    Token word = cursor_.Take();
    if (word.text == "except" && !cursor_.AtOp(":")) {
      KILN_RETURN_IF_ERROR(expr_.Single().status());
      if (cursor_.TakeWord("as")) {
        KILN_RETURN_IF_ERROR(TakeName("a name after `as`").status());
      }
    }
    KILN_RETURN_IF_ERROR(Body(word.text, word.begin.line, stmt.orelse));
  }
  if (stmt.orelse.empty()) return cursor_.Expected("`except` or `finally`");
  stmt.last_line = stmt.orelse.back().last_line;
  return stmt;
}

absl::Status StmtParser::Body(std::string_view owner, int line,
                              std::vector<Stmt>& out) {
  KILN_RETURN_IF_ERROR(cursor_.ExpectOp(
      ":", absl::StrCat("at the end of this `", std::string(owner), "`")));
  if (!cursor_.At(TokenKind::kNewline)) return SimpleLine(out);
  cursor_.Take();
  if (!cursor_.At(TokenKind::kIndent)) {
    return cursor_.Expected(absl::StrCat("an indented block after the `",
                                         std::string(owner), "` of line ",
                                         line));
  }
  cursor_.Take();
  while (!cursor_.At(TokenKind::kDedent)) {
    KILN_RETURN_IF_ERROR(Statement(out));
  }
  cursor_.Take();
  return absl::OkStatus();
}

// The first token from which on the text has another shape with tabs of 8
// columns than with tabs of 4.
absl::StatusOr<std::optional<Position>> WhereTabsMatter(const Source& source) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Token> narrow, Scan(source, 4));
  KILN_ASSIGN_OR_RETURN(const std::vector<Token> wide, Scan(source, 8));
  for (size_t i = 0; i < std::min(narrow.size(), wide.size()); ++i) {
    if (narrow[i].kind != wide[i].kind) return narrow[i].begin;
  }
  return std::optional<Position>();
}

absl::StatusOr<std::vector<Stmt>> ParseWithTabs(const Source& source,
                                                int tab_width) {
  KILN_ASSIGN_OR_RETURN(std::vector<Token> tokens, Scan(source, tab_width));
  TokenCursor cursor(source, std::move(tokens));
  return StmtParser(cursor).File();
}

}  // namespace

// Text that indents by tabs here and by spaces there has been seen on a screen
// with tabs of four or of eight columns. The width with which it parses is
// taken; where both do and give blocks of other shape, the text is refused.
absl::StatusOr<std::vector<Stmt>> ParseFile(const Source& source) {
  absl::StatusOr<std::vector<Stmt>> parsed = ParseWithTabs(source, 4);
  if (source.text().find('\t') == std::string::npos) return parsed;
  absl::StatusOr<std::vector<Stmt>> wide = ParseWithTabs(source, 8);
  if (!wide.ok()) return parsed;
  if (!parsed.ok()) return wide;
  KILN_ASSIGN_OR_RETURN(const auto matters, WhereTabsMatter(source));
  if (!matters) return parsed;
  return source.Error(*matters,
                      "tabs and spaces mix in the indentation, and this line "
                      "belongs to one block with tabs of 4 columns and to "
                      "another with tabs of 8; indent by spaces alone");
}

absl::StatusOr<Expr> ParseExpression(const Source& source) {
  KILN_ASSIGN_OR_RETURN(std::vector<Token> tokens, Scan(source));
  TokenCursor cursor(source, std::move(tokens));
  KILN_ASSIGN_OR_RETURN(Expr expr, ExprParser(cursor).List());
  if (cursor.At(TokenKind::kNewline)) cursor.Take();
  if (!cursor.At(TokenKind::kEnd)) {
    return cursor.Expected("the end of the expression");
  }
  return expr;
}

}  // namespace kiln::python
