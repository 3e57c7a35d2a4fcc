// Loops as text, and whether, where and how far ahead they ask for what they
// read:
//
//   for k in range(512): C[0:16] = A[k * 1040 : k * 1040 + 16]
#include "kiln/codegen/lower/auto/insert_prefetches.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/codegen/lower/verify_lowered.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/bounds.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kAny[] = "T.prefetch";

// A flat function of A of so many float32, C of 64, and X of 1024 int64.
Function Parse(const std::string& body, int64_t elements = 1 << 20) {
  const auto f = ParseFunction("f.py", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0,), "float32"), C: T.Buffer((64,), "float32"), X: T.Buffer((1024,), "int64")):
)",
                                                        elements) +
                                           body);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? *f : Function();
}

std::string After(const Function& f, const Machine& machine) {
  const auto after = InsertPrefetches(f, machine);
  KILN_EXPECT_OK(after.status());
  KILN_EXPECT_OK(VerifyLowered(*after).status());
  return PrintFunction(*after);
}

std::string After(const Function& f, int line_bytes = 64) {
  return After(f, Machine{.line_bytes = line_bytes});
}

// for k: C[0:lanes] = A[k*stride : k*stride + lanes]
std::string Rows(int64_t extent, int64_t stride, int64_t lanes = 16) {
  return absl::Substitute(R"(
    for k in range($0):
        C[0:$2] = A[k * $1:k * $1 + $2]
)",
                          extent, stride, lanes);
}

TEST(InsertPrefetchesTest, RowsFarApartAreAskedForAhead) {
  EXPECT_THAT(After(Parse(Rows(512, 1040))),
              HasSubstr("for k in range(512):\n        "
                        "T.prefetch(T.address_of(A[k * 1040 + 66560]), 0, 3, "
                        "1)\n"));
}

// Rows of 4096 bytes all begin in one set of the first cache.
TEST(InsertPrefetchesTest, RowsInFewSetsAreNotBroughtIntoTheFirstCache) {
  EXPECT_THAT(After(Parse(Rows(512, 1024))),
              HasSubstr("T.address_of(A[k * 1024 + 65536]), 0, 2, 1)"));
  // A second cache holds as much.
  EXPECT_THAT(After(Parse(Rows(100, 1024), 100 << 10)), Not(HasSubstr(kAny)));
  EXPECT_THAT(After(Parse(Rows(100, 1040), 104000)), HasSubstr(", 0, 3, 1)"));
}

TEST(InsertPrefetchesTest, APanelThatIsAskedForIsNotAskedForByRows) {
  const std::string text = After(Parse(R"(
    for j in range(64):
        for i in range(8):
            for k in range(256):
                C[0:16] = A[k * 1024 + j * 16:k * 1024 + j * 16 + 16]
)"));
  EXPECT_THAT(text, HasSubstr("if k % 8 == 0:"));
  EXPECT_EQ(text.find(kAny), text.rfind(kAny)) << text;
}

TEST(InsertPrefetchesTest, EachLineOfARowIsAskedForOnce) {
  const Function f = Parse(Rows(512, 1024, 32));
  const std::string text = After(f);
  EXPECT_THAT(text, HasSubstr("A[k * 1024 + 65536]"));
  EXPECT_THAT(text, HasSubstr("A[k * 1024 + 65552]"));
  EXPECT_THAT(After(f, /*line_bytes=*/128),
              Not(HasSubstr("A[k * 1024 + 65552]")));
  // Half a line by each vector.
  const std::string halves = After(Parse(R"(
    for k in range(512):
        C[0:8] = A[k * 1040:k * 1040 + 8]
        C[8:16] = A[k * 1040 + 8:k * 1040 + 16]
        C[16:24] = A[k * 1040 + 16:k * 1040 + 24]
)"));
  EXPECT_THAT(halves, HasSubstr("A[k * 1040 + 66560]"));
  EXPECT_THAT(halves, Not(HasSubstr("A[k * 1040 + 66568]")));
  EXPECT_THAT(halves, HasSubstr("A[k * 1040 + 66576]"));
}

TEST(InsertPrefetchesTest, WhatHardwareFollowsIsNot) {
  EXPECT_THAT(After(Parse(Rows(512, 16))), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, ShortLoopsDoNotLookAhead) {
  EXPECT_THAT(After(Parse(Rows(8, 1024))), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, SmallBuffersAreNearEnough) {
  EXPECT_THAT(After(Parse(Rows(16, 256), 1 << 12)), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, PassesOverAPanelAskForTheNextOne) {
  const auto passes = [](int64_t count) {
    return After(Parse(absl::Substitute(R"(
    for j in range(64):
        for i in range($0):
            for k in range(1024):
                C[0:16] = A[j * 16384 + k * 16:j * 16384 + k * 16 + 16]
)",
                                        count)));
  };
  EXPECT_THAT(passes(8), HasSubstr(", 0, 2, 1)"));
  EXPECT_THAT(passes(8), HasSubstr("if k % 8 == 0:"));
  EXPECT_THAT(passes(1), Not(HasSubstr(kAny)));
}

// 512 KiB, which the second level would hold.
TEST(InsertPrefetchesTest, PanelsOfColdConstantsAreAskedForHoweverFew) {
  Function f = Parse(R"(
    for j in range(8):
        for i in range(8):
            for k in range(1024):
                C[0:16] = A[j * 16384 + k * 16:j * 16384 + k * 16 + 16]
)",
                     8 * 16384);
  EXPECT_THAT(After(f), Not(HasSubstr(kAny)));
  SetColdParams(&f, {0});
  EXPECT_THAT(After(f), HasSubstr("if k % 8 == 0:"));
  SetColdParams(&f, {1});
  EXPECT_THAT(After(f), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, NothingIsReadAheadThatMayNotBeRead) {
  const auto rows = [](const std::string& index, const std::string& value) {
    return After(
        Parse(absl::Substitute("    for k in range(512):\n"
                               "        C[0:16] = " +
                                   value + "\n",
                               "A[" + index + ":" + index + " + 16]")));
  };
  const std::string sure = "$0";
  const std::string unsure =
      "T.if_then_else(k < 4, $0, T.Broadcast(T.float32(0), 16))";
  EXPECT_THAT(rows("k * 1024", unsure), HasSubstr(kAny));
  EXPECT_THAT(rows("k * 1024 + X[k]", sure), HasSubstr(kAny));
  EXPECT_THAT(rows("k * 1024 + X[k]", unsure), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, WhatExistsInAnIterationOnlyIsNotUsedBefore) {
  EXPECT_THAT(After(Parse(R"(
    for j in range(64):
        for i in range(8):
            for k in range(1024):
                x = X[k]
                C[0:16] = A[j * 16384 + k * 16 + x:j * 16384 + k * 16 + x + 16]
)")),
              Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, HintsThatStandThereStayAndNoneIsMadeOfThem) {
  const std::string text = After(Parse(R"(
    for k in range(512):
        T.prefetch(T.address_of(A[k * 1024]), 0, 3, 1)
        C[0:16] = C[0:16] + T.Broadcast(T.float32(1), 16)
)"));
  EXPECT_EQ(text.find(kAny), text.rfind(kAny));
  EXPECT_THAT(text, HasSubstr("A[k * 1024]"));
}

// 16 sums of so many terms for each row of Q, to which they are added.
std::string SumsAdded(int64_t terms) {
  return After(Parse(absl::Substitute(R"(
    Q = T.decl_buffer((1048576,), scope="workspace")
    Y = T.decl_buffer((1048576,), scope="workspace")
    for i in range(64):
        for k in range($0):
            C[0:16] = C[0:16] + A[k * 16:k * 16 + 16]
        Y[i * 1024:i * 1024 + 8] = C[0:8] + Q[i * 1024:i * 1024 + 8]
        Y[i * 1024 + 8:i * 1024 + 16] = C[8:16] + Q[i * 1024 + 8:i * 1024 + 16]
)",
                                      terms)));
}

TEST(InsertPrefetchesTest, WhatSumsGoToAndAreAddedToIsAskedForBeforeThem) {
  const std::string text = SumsAdded(512);
  EXPECT_THAT(text,
              HasSubstr("T.prefetch(T.address_of(Q[i * 1024]), 0, 2, 1)\n"
                        "        T.prefetch(T.address_of(Y[i * 1024]), 1, "
                        "3, 1)\n        for k in range(512):"));
  EXPECT_THAT(text, Not(HasSubstr("address_of(Q[i * 1024 + 8])")));
  EXPECT_THAT(text, Not(HasSubstr("address_of(C"))) << "the sums are near";
  EXPECT_THAT(SumsAdded(32), Not(HasSubstr(kAny))) << "no time for it";
}

TEST(InsertPrefetchesTest, TheTextIsReadBackAndItsMeaningIsTheSame) {
  const Function f = Parse(R"(
    for j in T.parallel(4):
        for i in range(2):
            for k in range(16):
                C[0:64] = A[j * 262144 + k * 4096:j * 262144 + k * 4096 + 64]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function after, InsertPrefetches(f, {}));
  const std::string text = PrintFunction(after);
  EXPECT_THAT(text, HasSubstr(kAny));
  KILN_ASSERT_OK_AND_ASSIGN(const Function read, ParseFunction("f.py", text));
  EXPECT_EQ(PrintFunction(read), text);
  KILN_EXPECT_OK(CheckBounds(read));  // though it asks for what is not in A
  KILN_EXPECT_OK(lower::CompareMeaning(f, read, 1));
}

// Rows of 128 elements without gaps.
std::string WholeRows(int64_t extent) {
  return absl::Substitute(R"(
    for k in range($0):
        C[0:64] = C[0:64] + A[k * 128:k * 128 + 64]
        C[0:64] = C[0:64] + A[k * 128 + 64:k * 128 + 128]
)",
                          extent);
}

TEST(InsertPrefetchesTest, WholeRowsAreAskedForAPageAhead) {
  for (const int64_t rows : {512, 8}) {
    const std::string after = After(Parse(WholeRows(rows)));
    EXPECT_THAT(after, HasSubstr("T.address_of(A[k * 128 + 1536]), 0, 2, 1)"));
    EXPECT_THAT(after, HasSubstr("T.address_of(A[k * 128 + 1648]), 0, 2, 1)"));
  }
  EXPECT_THAT(After(Parse(WholeRows(3))), Not(HasSubstr(kAny))) << "too few";
  EXPECT_THAT(After(Parse(WholeRows(100), 32 << 10)), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, WholeRowsThatTheSecondCacheHoldsAreNot) {
  EXPECT_THAT(After(Parse(WholeRows(512), 128 << 10)), Not(HasSubstr(kAny)));
}

// Of a panel that waits in the second cache the first pass alone, which ends
// up in one condition; of one that does not every pass.
// Each row is added once, and the second level holds all of them, or those of
// one core: to ask for them would take as long as to load them.
TEST(InsertPrefetchesTest, RowsToAddThatTheSecondCacheHoldsAreNot) {
  const std::string sums = R"(
    for p in $0(2):
        for k in range(400):
            C[p * 16:p * 16 + 16] = C[p * 16:p * 16 + 16] + $1A[p * 512000 + k * 1280:p * 512000 + k * 1280 + 16]
)";
  const auto after = [&](const std::string& loop, const std::string& factor,
                         int64_t l2_bytes) {
    Machine machine{.line_bytes = 64, .cores = 2};
    machine.levels[static_cast<int>(MemoryLevelId::kL2)].bytes = l2_bytes;
    return After(Parse(absl::Substitute(sums, loop, factor)), machine);
  };
  const int64_t half = 3 << 20;
  EXPECT_THAT(after("T.parallel", "", half), Not(HasSubstr(kAny)));
  EXPECT_THAT(after("range", "", half), HasSubstr(kAny)) << "of one core";
  EXPECT_THAT(after("T.parallel", "", half / 2), HasSubstr(kAny));
  EXPECT_THAT(after("range", "", 5 << 20), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, WholeRowsOfAPanelAreAskedForInItsFirstPass) {
  const auto passes = [](const std::string& loops, const std::string& row,
                         int64_t rows) {
    Machine machine;
    machine.levels[static_cast<int>(MemoryLevelId::kL2)].bytes = 2 << 20;
    return After(Parse(absl::Substitute(R"(
    for $0:
        for k in range($1):
            C[0:64] = C[0:64] + A[$2 + k * 128:$2 + k * 128 + 64]
            C[0:64] = C[0:64] + A[$2 + k * 128 + 64:$2 + k * 128 + 128]
)",
                                        loops, rows, row),
                       1 << 21),
                 machine);
  };
  const std::string apart = passes("j, i in T.grid(4, 5)", "j * 163840", 1280);
  EXPECT_THAT(apart, HasSubstr("if i == 0:\n"));
  EXPECT_THAT(apart, HasSubstr("T.address_of(A[j * 163840 + k * 128 + 1648])"));
  EXPECT_EQ(apart.find("if "), apart.rfind("if "));
  EXPECT_THAT(passes("p in range(20)", "p // 5 * 163840", 1280),
              HasSubstr("if p % 5 == 0:\n"));
  const std::string high = passes("j, i in T.grid(4, 5)", "j * 327680", 2560);
  EXPECT_THAT(high, HasSubstr("+ 1648])"));
  EXPECT_THAT(high, Not(HasSubstr("if ")));
}

TEST(InsertPrefetchesTest, RowsOfADotInMemoryAreAskedForInShorterSteps) {
  const auto after = [](const std::string& second_use,
                        int64_t elements = 1 << 23) {
    return After(Parse(absl::Substitute(R"(
    for k in range(512):
        C[0:32] = C[0:32] + A[k * 64:k * 64 + 32]
        C[32:64] = C[32:64] + A[k * 64 + 32:k * 64 + 64]
        $0
)",
                                        second_use),
                       elements));
  };
  EXPECT_THAT(after(""), HasSubstr("T.address_of(A[k * 64 + 1584]), 0, 2, 1)"));
  EXPECT_THAT(after("", 1 << 20), Not(HasSubstr(kAny))) << "the third level";
  EXPECT_THAT(after("C[32:64] = C[32:64] * A[k * 64:k * 64 + 32]"),
              Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, WholeRowsForAsManyElementsAreLeftToTheHardware) {
  EXPECT_THAT(After(Parse(R"(
    for k in range(512):
        C[0:64] = A[k * 128:k * 128 + 64]
        C[0:64] = A[k * 128 + 64:k * 128 + 128]
)")),
              Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, ShortLoopsAskForNothingElse) {
  EXPECT_THAT(After(Parse(Rows(8, 1040))), Not(HasSubstr(kAny)));
}

// Into the second level: rows a power of two apart share sets of the first.
TEST(InsertPrefetchesTest, RowsReadSideBySideAreAskedForAhead) {
  std::string body = R"(
    for k in range(256):
        for j in range(64):
            for q in range(2):
)";
  for (int row = 0; row < 4; ++row) {
    for (int vector = 0; vector < 2; ++vector) {
      absl::StrAppend(
          &body,
          absl::Substitute("                C[$0:$0 + 16] = C[$0:$0 + 16] + "
                           "A[k * 16384 + q * 8192 + j * 32 + $1:k * 16384 + "
                           "q * 8192 + j * 32 + $1 + 16]\n",
                           16 * vector, 2048 * row + 16 * vector));
    }
  }
  const std::string after = After(Parse(body, 256 * 16384));
  for (const char* row : {"", " + 2048", " + 4096", " + 6144"}) {
    EXPECT_THAT(after, HasSubstr(absl::StrCat("(j + 8) % 64 * 32 + q * 8192",
                                              row, "]), 0, 2, 1)")));
  }
  EXPECT_THAT(After(Parse(body, 16384)), Not(HasSubstr(kAny)))
      << "what the second cache holds";
}

// Four rows of so many elements each, read one by one for vectors of 16.
std::string ScalarRows(int64_t next_rows, int64_t length = 64) {
  std::string body = absl::Substitute(R"(
    for i in range(4000):
        for k in range($0):
)",
                                      length);
  for (const int row : {0, 1, 2, 3}) {
    absl::StrAppend(&body, absl::Substitute(R"(
            C[0:16] = C[0:16] + T.Broadcast(A[i * $0 + k + $1], 16)
            C[16:32] = C[16:32] + T.Broadcast(A[i * $0 + k + $1], 16)
            C[32:48] = C[32:48] + T.Broadcast(A[i * $0 + k + $1], 16)
)",
                                            next_rows, row * length));
  }
  return body;
}

TEST(InsertPrefetchesTest, RowsReadElementByElementAreAskedForATileAhead) {
  const std::string after = After(Parse(ScalarRows(256)));
  EXPECT_THAT(after, HasSubstr("if k % 16 == 0:"));
  EXPECT_THAT(
      after,
      HasSubstr("T.address_of(A[i * 256 + T.min(k // 16, 3) * 64 + 256])"));
  EXPECT_THAT(
      after,
      HasSubstr("T.address_of(A[i * 256 + T.min(k // 16, 3) * 64 + 304])"));
}

TEST(InsertPrefetchesTest, OfShortRowsToo) {
  for (const int64_t length : {8, 12, 15}) {
    EXPECT_THAT(After(Parse(ScalarRows(4 * length, length))),
                HasSubstr(absl::StrCat("T.address_of(A[i * ", 4 * length)))
        << length;
  }
}

TEST(InsertPrefetchesTest, RowsOfATileComeIntoTheFirstCacheThatHoldsThem) {
  const auto after = [](int64_t first_bytes) {
    Machine machine;
    machine.levels[0].bytes = first_bytes;
    return After(Parse(ScalarRows(256)), machine);
  };
  EXPECT_THAT(after(32 << 10), HasSubstr(", 0, 3, 1)"));
  EXPECT_THAT(after(2 << 10), HasSubstr(", 0, 2, 1)"));
}

TEST(InsertPrefetchesTest, RowsThatTheNextTileReadsAgainAreNot) {
  EXPECT_THAT(After(Parse(ScalarRows(64))), Not(HasSubstr(kAny)));
}

TEST(InsertPrefetchesTest, RowsThatTheSecondCacheHoldsAreNot) {
  EXPECT_THAT(After(Parse(ScalarRows(256), 4096)), Not(HasSubstr(kAny)));
  // With all other tensors, which pass through it as well.
  Machine machine;
  const auto with_others = [&](int64_t held) {
    machine.levels[1].bytes = held;
    return After(Parse(ScalarRows(256), 1 << 18), machine);
  };
  EXPECT_THAT(with_others((1 << 20) + 1024), HasSubstr(kAny));
  EXPECT_THAT(with_others((1 << 20) + 16384), Not(HasSubstr(kAny)));
}

// Results of 127 channels, 16 at a time: vectors across the borders of lines
// bring them before they are stored, where a vector is as wide as a line.
TEST(InsertPrefetchesTest, LinesOfRaggedResultsComeBeforeTheWork) {
  const Function f = Parse(R"(
    for c in range(7):
        for k in range(4):
            C[0:32] = C[0:32] + T.Broadcast(T.float32(1), 32)
        A[c * 16:c * 16 + 16] = C[0:16]
        A[c * 16 + 127:c * 16 + 143] = C[16:32]
)");
  EXPECT_THAT(After(f, Machine{.vectors = {.bytes = 64}}),
              HasSubstr("for c in range(7):\n"
                        "        T.prefetch(T.address_of(A[c * 16]), 1, 3, 1)\n"
                        "        T.prefetch(T.address_of(A[c * 16 + 127]), 1, "
                        "3, 1)\n"
                        "        for k in range(4):"));
  EXPECT_THAT(After(f, Machine{.vectors = {.bytes = 32}}),
              Not(HasSubstr(kAny)));
}

}  // namespace
}  // namespace kiln
