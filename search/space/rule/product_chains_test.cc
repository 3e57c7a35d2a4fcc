// One head of attention, of known extents and of such as stand for open ones:
// what the rule makes computes the same in few parallel loops, and rows that
// are few, or that others read, stay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// One head of attention over ROWS queries and KEYS keys, whose matrix lies
// transposed; ROWS x COLUMNS results.
constexpr char kAttention[] = R"(
@T.prim_func
def main(Q: T.Buffer((2, ROWS, 16), "float32"), K: T.Buffer((2, 16, KEYS), "float32"), V: T.Buffer((KEYS, 2, COLUMNS), "float32"), Y: T.Buffer((ROWS, 2, COLUMNS), "float32")):
    S = T.alloc_buffer((2, ROWS, KEYS), "float32")
    M = T.alloc_buffer((2, ROWS), "float32")
    E = T.alloc_buffer((2, ROWS, KEYS), "float32")
    D = T.alloc_buffer((2, ROWS), "float32")
    P = T.alloc_buffer((2, ROWS, KEYS), "float32")
    for h, i, j, k in T.grid(2, ROWS, KEYS, 16):
        with T.block("S"):
            vh, vi, vj, vk = T.axis.remap("SSSR", [h, i, j, k])
            with T.init():
                S[vh, vi, vj] = T.float32(0)
            S[vh, vi, vj] = S[vh, vi, vj] + Q[vh, vi, vk] * K[vh, vk, vj]
    for h, i, k in T.grid(2, ROWS, KEYS):
        with T.block("M"):
            vh, vi, vk = T.axis.remap("SSR", [h, i, k])
            with T.init():
                M[vh, vi] = T.float32(-1000)
            M[vh, vi] = T.max(M[vh, vi], S[vh, vi, vk])
    for h, i, j in T.grid(2, ROWS, KEYS):
        with T.block("E"):
            vh, vi, vj = T.axis.remap("SSS", [h, i, j])
            E[vh, vi, vj] = T.exp(S[vh, vi, vj] - M[vh, vi])
    for h, i, k in T.grid(2, ROWS, KEYS):
        with T.block("D"):
            vh, vi, vk = T.axis.remap("SSR", [h, i, k])
            with T.init():
                D[vh, vi] = T.float32(0)
            D[vh, vi] = D[vh, vi] + E[vh, vi, vk]
    for h, i, j in T.grid(2, ROWS, KEYS):
        with T.block("P"):
            vh, vi, vj = T.axis.remap("SSS", [h, i, j])
            P[vh, vi, vj] = E[vh, vi, vj] / D[vh, vi]
    for i, h, v, k in T.grid(ROWS, 2, COLUMNS, KEYS):
        with T.block("Y"):
            vi, vh, vv, vk = T.axis.remap("SSSR", [i, h, v, k])
            with T.init():
                Y[vi, vh, vv] = T.float32(0)
            Y[vi, vh, vv] = Y[vi, vh, vv] + P[vh, vi, vk] * V[vk, vh, vv]
)";

Module Attention(int rows, int keys, int columns) {
  return ParseProgram(
      absl::StrReplaceAll(kAttention, {{"ROWS", std::to_string(rows)},
                                       {"KEYS", std::to_string(keys)},
                                       {"COLUMNS", std::to_string(columns)}}));
}

// The condition on which the block runs; "" for none.
std::string WhereOf(const Function& f, const std::string& block) {
  std::string where = "no such block";
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize && realize->block->name == block) {
      where = IsOne(realize->predicate) ? "" : PrintExpr(realize->predicate);
    }
    return true;
  });
  return where;
}

TEST(ProductChainsTest, SomeRowsGoThroughAllOfAttentionAtATime) {
  struct Size {
    int rows, keys, columns;
  };
  for (const auto& [rows, keys, columns] :
       {Size{48, 40, 32}, {29, 37, 19}, {13, 64, 16}, {50, 9, 24}}) {
    SCOPED_TRACE(rows);
    const Module module = Attention(rows, keys, columns);
    std::vector<Schedule> made = ApplyRule(ProductChains, module, "Y");
    ASSERT_GE(made.size(), 2u);
    // The last one leaves the rows to other rules.
    EXPECT_TRUE(made.back().trace().instructions.empty());
    made.pop_back();
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), CountRootLoops(f));
      EXPECT_LE(CountRootLoops(f), 3);  // panels of K, of V, and the rows
      EXPECT_GE(CountLoops(f, ForKind::kVectorized), 6);
    }
  }
}

// The same for extents that are open: whole tiles, and no condition inside of
// their loops.
TEST(ProductChainsTest, OpenRowsAreRoundedUpToTiles) {
  struct Size {
    int rows, keys, columns, open_size;
  };
  for (const auto& [rows, keys, columns, open_size] :
       {Size{67, 67, 32, 67}, Size{131, 131, 16, 131}, Size{67, 96, 16, 67}}) {
    SCOPED_TRACE(rows);
    const Module module = Attention(rows, keys, columns);
    RuleLog log;
    const std::vector<Schedule> made =
        ApplyRule(ProductChains, module, "Y",
                  RuleContext{.open_size = open_size, .log = &log});
    ASSERT_FALSE(made.empty()) << ToLine(log.refusals().back());
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), CountRootLoops(f));
      EXPECT_LE(CountRootLoops(f), 3);
      EXPECT_EQ(WhereOf(f, "S_update"), "");
      EXPECT_EQ(WhereOf(f, "Y_update"), "");
    }
  }
}

// There is nothing to round up: other sizes stand for open extents.
TEST(ProductChainsTest, OpenRowsThatTilesDivideAreLeftToOtherSizes) {
  EXPECT_TRUE(ApplyRule(ProductChains, Attention(48, 48, 16), "Y",
                        RuleContext{.open_size = 48})
                  .empty());
}

TEST(ProductChainsTest, NothingIsMadeOfOtherBlocks) {
  const Module module = Attention(48, 40, 32);
  for (const char* block : {"S", "M", "E", "D", "P"}) {
    EXPECT_TRUE(ApplyRule(ProductChains, module, block).empty()) << block;
  }
}

TEST(ProductChainsTest, FewRowsAreLeftToOtherRules) {
  EXPECT_TRUE(ApplyRule(ProductChains, Attention(4, 40, 32), "Y").empty());
}

// Replaces a line of the program.
Module Changed(const std::string& line, const std::string& by) {
  std::string text = absl::StrReplaceAll(
      kAttention, {{"ROWS", "24"}, {"KEYS", "40"}, {"COLUMNS", "16"}});
  EXPECT_NE(text.find(line), std::string::npos) << line;
  return ParseProgram(absl::StrReplaceAll(text, {{line, by}}));
}

TEST(ProductChainsTest, RowsThatOthersNeedAreLeftToOtherRules) {
  // Row i of Y takes row i of the other half.
  EXPECT_TRUE(ApplyRule(ProductChains,
                        Changed("P[vh, vi, vk] * V[", "P[1 - vh, vi, vk] * V["),
                        "Y")
                  .empty());
  // Rows go in another direction.
  EXPECT_TRUE(
      ApplyRule(ProductChains,
                Changed("P[vh, vi, vk] * V[", "P[vh, 23 - vi, vk] * V["), "Y")
          .empty());
  // Y reads E as well.
  EXPECT_TRUE(
      ApplyRule(ProductChains,
                Changed("P[vh, vi, vk] * V[vk, vh, vv]",
                        "P[vh, vi, vk] * V[vk, vh, vv] * E[vh, vi, vk]"),
                "Y")
          .empty());
}

}  // namespace
}  // namespace kiln
