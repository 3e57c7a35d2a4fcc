#include "kiln/codegen/lower/auto/asked_lines.h"

#include <gtest/gtest.h>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::lower {
namespace {

Buffer Flat(const char* name) {
  return MakeBuffer(name, DType::Float(32), {Int(4096)});
}

TEST(AskedLinesTest, OncePerLineAndBuffer) {
  const Buffer a = Flat("a"), b = Flat("b");
  const Var i("i");
  const Expr at = Mul(i, Int(127));
  AskedLines lines(64);
  EXPECT_TRUE(lines.Add(a, at));
  EXPECT_FALSE(lines.Add(a, at));
  EXPECT_FALSE(lines.Add(a, Add(at, Int(15))));
  EXPECT_TRUE(lines.Add(a, Add(at, Int(16))));
  EXPECT_TRUE(lines.Add(b, at));
  EXPECT_TRUE(lines.Add(a, i)) << "how far apart is not known";
}

TEST(PlusTest, HasOneConstant) {
  const Var i("i");
  EXPECT_EQ(PrintExpr(Plus(Plus(i, 3), 4)), "i + 7");
  EXPECT_EQ(PrintExpr(Plus(i, 0)), "i");
}

TEST(PrefetchTest, SaysWhatItIsFor) {
  EXPECT_EQ(PrintStmt(Prefetch(Flat("a"), Int(3), true, 2)),
            "T.prefetch(T.address_of(a[3]), 1, 2, 1)\n");
}

}  // namespace
}  // namespace kiln::lower
