#include "kiln/ir/text/python/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/python/literal.h"

namespace kiln::python {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The tree as nested lists: a + b is (+ a b).
std::string Show(const Expr& e) {
  std::string head(DescribeKind(e.kind));
  switch (e.kind) {
    case ExprKind::kName:
    case ExprKind::kInt:
    case ExprKind::kFloat:
      return e.text;
    case ExprKind::kString:
      return absl::StrCat("'", e.text, "'");
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kBoolean:
      head = e.text;
      break;
    case ExprKind::kAttribute:
      head = "." + e.text;
      break;
    case ExprKind::kKeyword:
      head = e.text + "=";
      break;
    case ExprKind::kTrue:
    case ExprKind::kFalse:
    case ExprKind::kNone:
    case ExprKind::kEllipsis:
    case ExprKind::kOmitted:
      return head;
    case ExprKind::kCall:
    case ExprKind::kStarred:
    case ExprKind::kSubscript:
    case ExprKind::kSlice:
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kSet:
    case ExprKind::kDict:
    case ExprKind::kLambda:
    case ExprKind::kCompare:
    case ExprKind::kConditional:
    case ExprKind::kComprehension:
      break;
  }
  std::string out = "(" + head;
  for (const std::string& name : e.names) out += " " + name;
  for (const Expr& item : e.items) out += " " + Show(item);
  return out + ")";
}

std::string ShowText(const std::string& text) {
  Source source("t.py", text);
  auto expr = ParseExpression(source);
  return expr.ok() ? Show(*expr) : std::string(expr.status().message());
}

TEST(ExprParserTest, OperatorsBindAsInPython) {
  EXPECT_EQ(ShowText("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(ShowText("-a ** -b % c"), "(% (- (** a (- b))) c)");
  EXPECT_EQ(ShowText("not a and b or c"), "(or (and (not a) b) c)");
  EXPECT_EQ(ShowText("a | b ^ c & d << e // f"),
            "(| a (^ b (& c (<< d (// e f)))))");
  EXPECT_EQ(ShowText("a if b else c if d else e"),
            "(a conditional expression a b (a conditional expression c d e))");
}

TEST(ExprParserTest, ComparisonsChain) {
  EXPECT_EQ(ShowText("0 <= i < n"), "(a comparison <= < 0 i n)");
  EXPECT_EQ(ShowText("a is not b"), "(a comparison is not a b)");
  EXPECT_EQ(ShowText("a not in b"), "(a comparison not in a b)");
}

TEST(ExprParserTest, SubscriptsHoldIndicesAndSlices) {
  EXPECT_EQ(ShowText("A[i, 0:4]"), "(a subscript A i (a slice 0 4 nothing))");
  EXPECT_EQ(ShowText("A[:, ::2]"),
            "(a subscript A (a slice nothing nothing nothing) "
            "(a slice nothing nothing 2))");
  EXPECT_EQ(ShowText("T.Buffer[(1, 2), 'f']"),
            "(a subscript (.Buffer T) (a tuple 1 2) 'f')");
}

TEST(ExprParserTest, CallsTakePositionalNamedAndStarredArguments) {
  EXPECT_EQ(ShowText("sch.split(l, factors=[None, 4], *a, **b)"),
            "(a call (.split sch) l (factors= (a list None 4)) "
            "(a starred expression a) (a starred expression b))");
}

TEST(ExprParserTest, LambdasTakeStarredParameters) {
  EXPECT_EQ(ShowText("lambda i, *j: (i, *j)"),
            "(a lambda i *j (a tuple i (a starred expression j)))");
  EXPECT_EQ(ShowText("lambda: 0"), "(a lambda 0)");
}

TEST(ExprParserTest, TuplesNeedNoParentheses) {
  EXPECT_EQ(ShowText("a, b,"), "(a tuple a b)");
  EXPECT_EQ(ShowText("(a)"), "a");
  EXPECT_EQ(ShowText("(a,)"), "(a tuple a)");
  EXPECT_EQ(ShowText("()"), "(a tuple)");
}

TEST(ExprParserTest, StringsDecodeAndJoin) {
  EXPECT_EQ(ShowText("'a\\n' \"\\x41\\u00e9\" r'\\n'"), "'a\nA\xC3\xA9\\n'");
  EXPECT_EQ(ShowText("'\\\n'"), "''");
}

TEST(ExprParserTest, ScriptsAroundProgramsAreReadToo) {
  EXPECT_EQ(ShowText("{k: f(v) for k, v in d if v}"),
            "(a comprehension k (a call f v) (a tuple k v) d v)");
  EXPECT_EQ(ShowText("sum(x for x in y)"),
            "(a call sum (a comprehension x x y))");
}

std::vector<Stmt> MustParse(const std::string& text) {
  Source source("t.py", text);
  auto parsed = ParseFile(source);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *std::move(parsed) : std::vector<Stmt>();
}

TEST(ParserTest, AScheduleFunctionIsReadWithItsAnnotations) {
  std::vector<Stmt> file = MustParse(
      "from tvm import tir\n"
      "def f(sch: tvm.tir.Schedule, n=4, *rest) -> None:\n"
      "    \"\"\"Doc.\"\"\"\n"
      "    i, j = sch.get_loops(block=b); sch.fuse(i, j)\n"
      "    return sch\n");
  ASSERT_EQ(file.size(), 2u);
  const Stmt& f = file[1];
  EXPECT_EQ(f.kind, StmtKind::kFunction);
  EXPECT_EQ(f.name, "f");
  ASSERT_EQ(f.parameters.size(), 3u);
  EXPECT_EQ(DottedName(*f.parameters[0].annotation), "tvm.tir.Schedule");
  EXPECT_EQ(f.parameters[1].default_value->text, "4");
  EXPECT_EQ(f.parameters[2].name, "*rest");
  ASSERT_EQ(f.body.size(), 4u);
  EXPECT_EQ(f.body[1].kind, StmtKind::kAssign);
  EXPECT_EQ(Show(f.body[1].targets[0]), "(a tuple i j)");
  EXPECT_EQ(f.body[3].kind, StmtKind::kReturn);
  EXPECT_EQ(f.last_line, 5);
}

TEST(ParserTest, ADecoratedClassHoldsDecoratedFunctions) {
  std::vector<Stmt> file = MustParse(
      "@I.ir_module\n"
      "class Module:\n"
      "    @T.prim_func(private=True)\n"
      "    def f(A: T.Buffer((4,), \"float32\")):\n"
      "        with T.block(\"a\"), T.init() as c:\n"
      "            pass\n");
  ASSERT_EQ(file.size(), 1u);
  EXPECT_EQ(file[0].kind, StmtKind::kClass);
  EXPECT_EQ(file[0].begin, (Position{1, 1}));
  const Stmt& f = file[0].body[0];
  EXPECT_EQ(Show(f.decorators[0]), "(a call (.prim_func T) (private= True))");
  ASSERT_EQ(f.body[0].values.size(), 2u);
  EXPECT_EQ(f.body[0].targets[0].kind, ExprKind::kOmitted);
  EXPECT_EQ(f.body[0].targets[1].text, "c");
}

TEST(ParserTest, AssignmentsOfEveryForm) {
  std::vector<Stmt> file =
      MustParse("a = b = 1\nx: T.int64 = 2\ny: int\nz //= 3\nf(x)\n");
  ASSERT_EQ(file.size(), 5u);
  EXPECT_EQ(file[0].targets.size(), 2u);
  EXPECT_EQ(file[1].kind, StmtKind::kAnnotate);
  EXPECT_TRUE(file[1].value.has_value());
  EXPECT_FALSE(file[2].value.has_value());
  EXPECT_EQ(file[3].kind, StmtKind::kAugment);
  EXPECT_EQ(file[3].name, "//");
  EXPECT_EQ(file[4].kind, StmtKind::kExpr);
}

TEST(ParserTest, ElifNestsInElse) {
  std::vector<Stmt> file =
      MustParse("if a: b\nelif c:\n  d\nelse:\n  e\nwhile x: y\n");
  ASSERT_EQ(file.size(), 2u);
  ASSERT_EQ(file[0].orelse.size(), 1u);
  EXPECT_EQ(file[0].orelse[0].kind, StmtKind::kIf);
  EXPECT_EQ(file[0].orelse[0].orelse.size(), 1u);
  EXPECT_EQ(file[0].last_line, 5);
}

TEST(ParserTest, TabsAndSpacesMixAsTheyLookOnAScreen) {
  EXPECT_EQ(MustParse("if a:\n\tif b:\n        c\n\td\n").size(), 1u);
  EXPECT_EQ(MustParse("if a:\n    if b:\n\tc\n    d\n").size(), 1u);
}

TEST(ParserTest, IndentationThatTabsDecideIsRefused) {
  const Source source("t.py", "if a:\n    if b:\n        c\n\td\n");
  EXPECT_THAT(ParseFile(source),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("t.py:4:2: tabs and spaces mix")));
}

struct BadText {
  std::string text, place, message;
};

TEST(ParserTest, RefusesWithThePlace) {
  const std::vector<BadText> cases = {
      {"for i in :", ":1:10:", "expected an expression, found `:`"},
      {"for i in x\n  y", ":1:11:", "expected `:` at the end of this `for`"},
      {"for i in x:\ny",
       ":2:1:", "an indented block after the `for` of line 1"},
      {"a\n  b", ":2:3:", "opens no block"},
      {"a b", ":1:3:", "expected the end of the line, found `b`"},
      {"f(a=1, b)", ":1:8:", "cannot follow a named one"},
      {"f(x) = 3", ":1:1:", "nothing can be assigned to a call"},
      {"a + = 3", ":1:5:", "expected an expression, found `=`"},
      {"f(a.b=1)", ":1:6:", "only a name can be given a value"},
      {"def (x):\n  y", ":1:5:", "the name of the function"},
      {"def f(x y):\n  z", ":1:9:", "or `,` after a parameter"},
      {"def f(1):\n  z", ":1:7:", "the name of a parameter"},
      {"@x\ny = 1", ":2:1:", "`def` or `class` after a decorator"},
      {"A[]", ":1:3:", "expected an index"},
      {"A[i,,j]", ":1:5:", "expected an index"},
      {"[1 2]", ":1:4:", "or `,` in this list"},
      {"{1: }", ":1:5:", "expected an expression"},
      {"x = 'a\\xZZ'", ":1:5:", "the escape `\\x`"},
      {"a if b", ":1:7:", "expected `else`"},
      {"a not b", ":1:7:", "`in` after `not`"},
      {"x.", ":1:3:", "a name after `.`"},
      {"lambda 1: 2", ":1:8:", "parameter of this lambda"},
      {"try:\n  a\nb", ":3:1:", "`except` or `finally`"},
      {"import 3", ":1:8:", "to import"},
      {"yield x", ":1:1:", "expected an expression"},
      {"class = 3", ":1:7:", "the name of the class"},
  };
  for (const BadText& bad : cases) {
    Source source("t.py", bad.text);
    EXPECT_THAT(ParseFile(source), StatusIs(absl::StatusCode::kInvalidArgument,
                                            AllOf(HasSubstr("t.py" + bad.place),
                                                  HasSubstr(bad.message))))
        << bad.text;
  }
}

std::string Repeat(const std::string& piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(ParserTest, DeepNestingIsRefusedNotFatal) {
  const int n = 100000;
  for (const std::string& text :
       {Repeat("(", n) + "x" + Repeat(")", n), Repeat("-", n) + "x",
        Repeat("not ", n) + "x", Repeat("f(", n) + Repeat(")", n),
        Repeat("lambda: ", n) + "x", Repeat("x**", n) + "x",
        Repeat("x if y else ", n) + "x", Repeat("[", n) + Repeat("]", n)}) {
    Source source("t.py", text);
    EXPECT_THAT(ParseFile(source), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("nested more than")))
        << text.substr(0, 20);
  }
  Source elifs("t.py", "if a: b\n" + Repeat("elif a: b\n", n));
  EXPECT_THAT(ParseFile(elifs), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("nested more than")));
}

TEST(ParserTest, LongChainsAreReadUpToALimit) {
  Source fine("t.py", Repeat("x + ", 1500) + "x");
  KILN_EXPECT_OK(ParseFile(fine));
  for (const std::string& text :
       {"x" + Repeat(".y()", 100000), "x" + Repeat(" and x", 100000),
        "x" + Repeat(" or x", 100000), "x" + Repeat(" < x", 100000)}) {
    Source source("t.py", text);
    EXPECT_THAT(ParseFile(source), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("operations in a row")));
  }
}

TEST(ParserTest, RandomDamageNeverCrashes) {
  const std::string program =
      "@T.prim_func\ndef f(A: T.Buffer((4, 8), 'float32')):\n"
      "    for i, j in T.grid(4, 8):\n        with T.block(\"A\"):\n"
      "            A[i, j] = -A[i, j] ** 2 if i < j <= 3 else 1e-5\n"
      "    x = lambda *a: {1: [2, (3,)]}\n";
  const unsigned seed = 20240611;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string text = program;
    for (int edits = 1 + random() % 4; edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 5);
          break;
        case 1:
          text.insert(at, 1, program[random() % program.size()]);
          break;
        case 2:
          text[at] = static_cast<char>(random() % 256);
          break;
      }
    }
    Source source("t.py", text);
    (void)ParseFile(source);
  }
}

absl::StatusOr<int64_t> Integer(const std::string& text) {
  Source source("t.py", text);
  KILN_ASSIGN_OR_RETURN(Expr expr, ParseExpression(source));
  return IntegerValue(source, expr);
}

double FloatOf(const std::string& text) {
  Source source("t.py", text);
  return *FloatValue(source, *ParseExpression(source));
}

TEST(LiteralTest, IntegersOfEverySpelling) {
  EXPECT_EQ(*Integer("0x_ff"), 255);
  EXPECT_EQ(*Integer("0b101"), 5);
  EXPECT_EQ(*Integer("1_000"), 1000);
  EXPECT_EQ(*Integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(*Integer("9223372036854775807"), INT64_MAX);
}

TEST(LiteralTest, IntegersBeyond64BitsAreRefused) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809",
                           "99999999999999999999999", "0o9", "1.5", "x"}) {
    EXPECT_THAT(Integer(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("t.py:1:")))
        << text;
  }
}

TEST(LiteralTest, FloatsRoundToNearest) {
  EXPECT_EQ(FloatOf("340282346638528859811704183484516925440.0"),
            3.4028234663852886e38);
  EXPECT_EQ(FloatOf("-1e-5"), -1e-5);
  EXPECT_EQ(FloatOf("1_0.5"), 10.5);
  EXPECT_EQ(FloatOf("99999999999999999999999"), 1e23);
}

TEST(LiteralTest, FloatsThatAreTooLargeAreRefused) {
  const Source source("t.py", "1e999");
  const absl::StatusOr<Expr> literal = ParseExpression(source);
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_THAT(FloatValue(source, *literal),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("too large for a float64")));
}

}  // namespace
}  // namespace kiln::python
