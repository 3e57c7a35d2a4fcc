// Products that default schedules give to instructions on tiles of matrices:
// that these are what is emitted, of each type, and with sums that begin at
// zero in registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Product {
  std::string a = "int8", b = "int8", sum = "int32";
  int rows = 64, columns = 64, steps = 128;
  std::string term = "T.Cast(\"$2\", A[vi, vk]) * T.Cast(\"$2\", B[vk, vj])";
};

absl::StatusOr<std::string> Assembly(const Product& p,
                                     const std::string& target_name) {
  const std::string term = absl::Substitute(p.term, p.a, p.b, p.sum);
  KILN_ASSIGN_OR_RETURN(const Module module,
                        ParseModule("m.py", absl::Substitute(
                                                R"(
@T.prim_func
def main(A: T.Buffer(($3, $5), "$0"), B: T.Buffer(($5, $4), "$1"), C: T.Buffer(($3, $4), "$2")):
    for i, j, k in T.grid($3, $4, $5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.$2(0)
            C[vi, vj] = C[vi, vj] + $6
)",
                                                p.a, p.b, p.sum, p.rows,
                                                p.columns, p.steps, term)));
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_name));
  const RuleContext context = RuleContextFor(target.machine, 0);
  const std::vector<Schedule> made =
      MatrixTiles(Schedule(module), "C", context);
  if (made.empty()) return "";
  KILN_ASSIGN_OR_RETURN(const Function lowered,
                        LowerForTarget(*made[0].state().functions[0], target));
  return CompileToAssembly(lowered, "main", target);
}

// Features of a machine's own CPU are the machine's, which a hypervisor may
// mask.
constexpr char kWithTiles[] =
    "llvm -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8,+amx-bf16";

std::string OnTiles(const Product& p) {
  const auto code = Assembly(p, kWithTiles);
  EXPECT_TRUE(code.ok()) << code.status();
  return code.value_or("");
}

TEST(TileCode, EachTypeHasItsInstruction) {
  EXPECT_THAT(OnTiles({}), HasSubstr("tdpbssd"));
  EXPECT_THAT(OnTiles({.a = "uint8"}), HasSubstr("tdpbusd"));
  EXPECT_THAT(OnTiles({.b = "uint8"}), HasSubstr("tdpbsud"));
  EXPECT_THAT(OnTiles({.a = "uint8", .b = "uint8"}), HasSubstr("tdpbuud"));
  EXPECT_THAT(OnTiles({.a = "bfloat16", .b = "bfloat16", .sum = "float32"}),
              HasSubstr("tdpbf16ps"));
}

TEST(TileCode, OfAnySizeAndOrder) {
  for (const Product& p :
       {Product{.rows = 5}, Product{.columns = 9}, Product{.steps = 40},
        Product{.steps = 512}, Product{.rows = 70, .columns = 50, .steps = 130},
        Product{.term =
                    "T.Cast(\"$2\", B[vk, vj]) * T.Cast(\"$2\", A[vi, vk])"}}) {
    const std::string code = OnTiles(p);
    EXPECT_THAT(code, HasSubstr("tdpbssd"));
    EXPECT_THAT(code, HasSubstr("tilezero"));
    EXPECT_THAT(code, HasSubstr("ldtilecfg"));
    EXPECT_THAT(code, HasSubstr("tilerelease"));
  }
}

TEST(TileCode, OnlyOfWhatIsLoadedAndWhereThereAreSome) {
  EXPECT_THAT(OnTiles({.term = "T.Cast(\"$2\", A[vi, vk] + T.int8(1)) * "
                               "T.Cast(\"$2\", B[vk, vj])"}),
              Not(HasSubstr("tile")));
  const auto elsewhere = Assembly({}, "llvm -mcpu=znver4");
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status();
  EXPECT_THAT(*elsewhere, Not(HasSubstr("tile")));
}

}  // namespace
}  // namespace kiln
