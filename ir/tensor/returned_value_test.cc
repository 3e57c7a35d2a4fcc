#include "kiln/ir/tensor/returned_value.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kRows[] = R"(@T.prim_func(private=True)
def rows(n: T.int64, m: T.int64) -> T.int64:
    return (n + 15) // 16 + T.max(n, m)
)";

TEST(ReturnedValueTest, IsReadPrintedAndReadAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("f.py", kRows));
  ASSERT_TRUE(ReturnedValue(m.functions[0]));
  EXPECT_EQ(ReturnedValue(m.functions[0]).dtype(), DType::Int(64));
  const std::string text = PrintModule(m);
  EXPECT_THAT(text, HasSubstr("-> T.int64:\n"));
  EXPECT_THAT(text, HasSubstr("return (n + 15) // 16 + T.max(n, m)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module again, ParseModule("g.py", text));
  EXPECT_EQ(PrintModule(again), text);
}

TEST(ReturnedValueTest, IsAlsoWrittenAsACall) {
  for (const char* line : {"return n % 4 == 0", "T.ret(n % 4 == 0)",
                           "T.evaluate(T.ret(n % 4 == 0))"}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module m,
        ParseModule("f.py", std::string("@T.prim_func\ndef f(n: T.int64) -> "
                                        "T.bool:\n    ") +
                                line + "\n"));
    EXPECT_EQ(ReturnedValue(m.functions[0]).dtype(), DType::Bool()) << line;
  }
}

TEST(ReturnedValueTest, IsStoredWhereThatIsAsked) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("f.py", kRows));
  const Function storing = WithStoredValue(m.functions[0]);
  EXPECT_FALSE(HasReturn(storing.body));
  EXPECT_EQ(storing.params.size(), 3u);
  EXPECT_FALSE(ReturnedValue(storing));
}

TEST(ReturnedValueTest, NothingStandsBesideIt) {
  const char* const kBodies[] = {
      "    A[0] = T.float32(1)\n    return n\n",
      "    return A[0]\n",
      "    if n > 3:\n        return n\n",
      "    for i in range(4):\n        return n\n",
      "    return n\n    return n\n",
      "    return n\n",
  };
  for (const char* body : kBodies) {
    EXPECT_THAT(
        ParseModule("f.py", std::string("@T.prim_func\ndef f(n: T.int64, A: "
                                        "T.Buffer((4,), \"float32\")):\n") +
                                body),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("returns a value beside other work")))
        << body;
  }
  EXPECT_THAT(
      ParseModule("f.py", "@T.prim_func\ndef f(n: T.int64):\n    return\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("return n + 1")));
}

}  // namespace
}  // namespace kiln
