#include "kiln/ir/verify/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using verify_internal::CheckRegions;

struct Case {
  const char* body;
  const char* message;  // null: the regions hold
};

void Check(const Case& c) {
  absl::StatusOr<Function> f = ParseFunction("f.py", std::string(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), X: T.Buffer((64,), "int32")):
)") + c.body);
  ASSERT_TRUE(f.ok()) << f.status();
  const absl::Status status = CheckRegions(*f);
  if (c.message) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(c.message)))
        << c.body;
  } else {
    EXPECT_TRUE(status.ok()) << status << "\n" << c.body;
  }
}

// One block over 64 x 64, with these regions and this statement.
std::string Point(const std::string& regions, const std::string& statement) {
  return "    for i, j in T.grid(64, 64):\n"
         "        with T.block(\"B\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            " +
         regions + "\n            " + statement + "\n";
}

TEST(RegionsTest, ElementsAreHeld) {
  const struct {
    const char* regions;
    const char* statement;
    const char* message;
  } kPoints[] = {
      {"T.reads(A[vi, vj])", "B[vi, vj] = A[vi, vj]", nullptr},
      {"T.reads(A[vi, vj])", "B[vi, vj] = A[vi, 63 - vj]",
       "the block reads A[vi, 63 - vj], which T.reads(A[vi, vj]) does not hold"
       " where j = "},
      {"T.reads(A[vi, 63 - vj])", "B[vi, vj] = A[vi, 63 - vj]", nullptr},
      {"T.reads(A[vi, 0:64])", "B[vi, vj] = A[vi, 63 - vj]", nullptr},
      {"T.reads(A[0:64, 0:64])", "B[vi, vj] = A[vj, vi]", nullptr},
      {"T.reads(A[vi, vj])", "B[vi, vj] = A[vj, vi]", "A[vj, vi]"},
      {"T.reads()", "B[vi, vj] = A[vi, vj]", "its T.reads leave out"},
      {"T.writes()", "B[vi, vj] = A[vi, vj]", "its T.writes leave out"},
      {"T.writes(B[vi, 0])", "B[vi, vj] = A[vi, vj]", "where j = 1"},
      {"T.writes(B[vj, vi])", "B[vi, vj] = A[vi, vj]", "the block writes"},
      // Without T.reads they are worked out.
      {"T.writes(B[vi, vj])", "B[vi, vj] = A[vj, 63 - vi]", nullptr},
      // Conditions narrow.
      {"T.reads(A[vi, vj:vj + 1])",
       "B[vi, vj] = T.if_then_else(vi < 0, A[vj, vi], A[vi, vj])", nullptr},
      {"T.reads(A[vi, 0:8])",
       "B[vi, vj] = T.if_then_else(vj < 8, A[vi, vj], T.float32(0))", nullptr},
      {"T.reads(A[vi, 0:8])",
       "B[vi, vj] = T.if_then_else(vj <= 8, A[vi, vj], T.float32(0))", "j = 8"},
      // Data: the whole of the dimension, or a bound.
      {"T.reads(X[vj], A[vi, 0:64])", "B[vi, vj] = A[vi, X[vj]]", nullptr},
      {"T.reads(X[vj], A[vi, 0:32])", "B[vi, vj] = A[vi, X[vj]]",
       "is not known to hold"},
      {"T.reads(X[vj], A[vi, vj])", "B[vi, vj] = A[vi, X[vj]]",
       "is not known to hold"},
      {"T.reads(X[vj], A[vi, 0:8])", "B[vi, vj] = A[vi, X[vj] % 8]", nullptr},
      {"T.reads(A[vi, 0:64])", "B[vi, vj] = A[vi, X[vj]]", "reads X[vj]"},
      {"T.reads(A[vi, X[vj]])", "B[vi, vj] = A[vi, X[vj]]", nullptr},
      {"T.reads(A[vi, X[vi]])", "B[vi, vj] = A[vi, X[vj]]", "reads X[vj]"},
      {"T.reads(X[vj], A[vi, vj], B[vi, vj])", "B[vi, X[vj]] = A[vi, vj]",
       nullptr},
      {"T.writes(B[vi, 0:32])", "B[vi, X[vj]] = A[vi, vj]",
       "is not known to hold"},
      // An update in place reads what it writes.
      {"T.reads(B[vi, vj])", "B[vi, vj] = B[vi, vj] + T.float32(1)", nullptr},
      {"T.reads()", "B[vi, vj] = B[vi, vj] + T.float32(1)", "reads B[vi, vj]"},
      // Regions wider than the accesses, beyond the buffer even.
      {"T.reads(A[vi - 1:vi + 2, vj])", "B[vi, vj] = A[vi, vj]", nullptr},
      // One of several.
      {"T.reads(A[vi, 0], A[vi, vj])", "B[vi, vj] = A[vi, vj]", nullptr},
      // The code behind an address is held to the names.
      {"T.reads(A[vi, vj])",
       "T.evaluate(T.call_extern(\"int32\", \"f\", T.address_of(A[0, 0])))",
       nullptr},
      {"T.reads(X[vj])",
       "T.evaluate(T.call_extern(\"int32\", \"f\", T.address_of(A[0, 0])))",
       "hands out the address of `A`"},
      // Hints read nothing.
      {"T.reads(); T.writes()", "T.prefetch(T.address_of(A[99, vj]), 0, 3, 1)",
       nullptr},
      {"T.reads(); T.writes()",
       "T.prefetch(T.address_of(A[X[vj], vj]), 0, 3, 1)", "reads X[vj]"},
      {"T.reads(A[vi, vj]); T.writes()",
       "T.evaluate(T.call_extern(\"int32\", \"f\", T.tvm_access_ptr("
       "T.type_annotation(\"float32\"), A.data, 0, 1, 2)))",
       "its T.writes leave out"},
  };
  for (const auto& c : kPoints) {
    Check({Point(c.regions, c.statement).c_str(), c.message});
  }
}

constexpr Case kNests[] = {
    // Loops inside of the block.
    {R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi, 0:64])
            T.writes(B[vi, 0:64])
            for j in range(64):
                B[vi, j] = A[vi, 63 - j]
)",
     nullptr},
    {R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi, 0:63])
            T.writes(B[vi, 0:64])
            for j in range(64):
                B[vi, j] = A[vi, j]
)",
     "j = 63"},
    // Blocks inside of the block.
    {R"(
    for i in range(8):
        with T.block("outer"):
            vo = T.axis.spatial(8, i)
            T.reads(A[vo * 8:vo * 8 + 8, 0:64])
            T.writes(B[vo * 8:vo * 8 + 8, 0:64])
            for ii, j in T.grid(8, 64):
                with T.block("B"):
                    vi = T.axis.spatial(64, vo * 8 + ii)
                    vj = T.axis.spatial(64, j)
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj]
)",
     nullptr},
    {R"(
    for i in range(8):
        with T.block("outer"):
            vo = T.axis.spatial(8, i)
            T.reads(A[vo * 8:vo * 8 + 7, 0:64])
            T.writes(B[vo * 8:vo * 8 + 8, 0:64])
            for ii, j in T.grid(8, 64):
                with T.block("B"):
                    vi = T.axis.spatial(64, vo * 8 + ii)
                    vj = T.axis.spatial(64, j)
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj]
)",
     "T.reads(A[vo * 8:vo * 8 + 7, 0:64]) does not hold where"},
    // A predicate narrows.
    {R"(
    for i in range(8):
        with T.block("outer"):
            vo = T.axis.spatial(8, i)
            T.reads(A[vo * 8:vo * 8 + 4, 0:64])
            T.writes(B[vo * 8:vo * 8 + 4, 0:64])
            for ii, j in T.grid(8, 64):
                with T.block("B"):
                    vi = T.axis.spatial(64, vo * 8 + ii)
                    vj = T.axis.spatial(64, j)
                    T.where(ii < 4)
                    T.reads(A[vi, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vi, vj]
)",
     nullptr},
    // What a block states may reach beyond the buffer where it does not read.
    {R"(
    for i in range(8):
        with T.block("outer"):
            vo = T.axis.spatial(8, i)
            T.reads(A[0:64, 0:64])
            T.writes(B[vo * 8:vo * 8 + 8, 0:64])
            for ii, j in T.grid(8, 64):
                with T.block("B"):
                    vi = T.axis.spatial(64, vo * 8 + ii)
                    vj = T.axis.spatial(64, j)
                    T.reads(A[vi - 1:vi + 2, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = T.if_then_else(vi > 0, A[vi - 1, vj], 0.0)
)",
     nullptr},
    // The init writes, and the update reads what it wrote.
    {R"(
    for i, k in T.grid(64, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(B[vi, 0])
            with T.init():
                B[vi, 0] = T.float32(0)
            B[vi, 0] = B[vi, 0] + A[vi, vk]
)",
     nullptr},
    {R"(
    for i, k in T.grid(64, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(B[vi, 0])
            with T.init():
                B[vi, 1] = T.float32(0)
            B[vi, 0] = B[vi, 0] + A[vi, vk]
)",
     "the block writes B[vi, 1]"},
    // What a block allocates is its own.
    {R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi, 0:64])
            T.writes(B[vi, 0:64])
            C = T.alloc_buffer((64,), "float32")
            for j in range(64):
                C[j] = A[vi, j]
            for j in range(64):
                B[vi, j] = C[63 - j]
)",
     nullptr},
    // A view counts as what it views.
    {R"(
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi * 8:vi * 8 + 8, 0:64])
            T.writes(B[vi * 8:vi * 8 + 8, 0:64])
            C = T.match_buffer(A[vi * 8:vi * 8 + 8, 0:64], (8, 64), "float32")
            D = T.match_buffer(B[vi * 8:vi * 8 + 8, 0:64], (8, 64), "float32")
            for a, b in T.grid(8, 64):
                D[a, b] = C[7 - a, b]
)",
     nullptr},
    {R"(
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi * 8:vi * 8 + 4, 0:64])
            T.writes(B[vi * 8:vi * 8 + 8, 0:64])
            C = T.match_buffer(A[vi * 8:vi * 8 + 8, 0:64], (8, 64), "float32")
            D = T.match_buffer(B[vi * 8:vi * 8 + 8, 0:64], (8, 64), "float32")
            for a, b in T.grid(8, 64):
                D[a, b] = C[a, b]
)",
     "as C[a, b]"},
    // Told by hand: taken at its word, unless an instance shows otherwise.
    {R"(
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, 0:32], X[vj])
            T.writes(B[vi, vj])
            T.block_attr({"explicit_read_region": [0]})
            B[vi, vj] = A[vi, X[vj]]
)",
     nullptr},
    {R"(
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, 0:32])
            T.writes(B[vi, vj])
            T.block_attr({"explicit_read_region": [0]})
            B[vi, vj] = A[vi, vj]
)",
     "j = 32"},
};

TEST(RegionsTest, NestsAreHeld) {
  for (const Case& c : kNests) Check(c);
}

TEST(RegionsTest, VariablesThatHoldDataCountAsWhatTheyHold) {
  constexpr char kHead[] = R"(
@T.prim_func
def main(S: T.Buffer((8,), "int32"), K: T.Buffer((8,), "int32"),
         A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("scatter"):
            vi = T.axis.spatial(8, i)
)";
  for (const char* body : {R"(
            at: T.int32 = S[vi]
            X[at] = A[vi]
)",
                           R"(
            at: T.int64 = T.Cast("int64", S[vi])
            next: T.int64 = (at + 1) % 8
            X[vi] = A[next] + A[at]
)"}) {
    const auto f = ParseFunction("f.py", std::string(kHead) + body);
    KILN_ASSERT_OK(f.status());
    KILN_EXPECT_OK(CheckRegions(*f));
  }
}

TEST(RegionsTest, BoundsSpeakOfWhatTensorsHoldWhereTheBlockBegins) {
  constexpr char kBody[] = R"(
            S[vi] = K[vi]
            at: T.int32 = S[vi]
            X[at] = A[vi]
)";
  constexpr char kHead[] = R"(
@T.prim_func
def main(S: T.Buffer((8,), "int32"), K: T.Buffer((8,), "int32"),
         A: T.Buffer((8,), "float32"), X: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("scatter"):
            vi = T.axis.spatial(8, i)
)";
  const auto worked_out = ParseFunction("f.py", std::string(kHead) + kBody);
  KILN_ASSERT_OK(worked_out.status());
  KILN_EXPECT_OK(CheckRegions(*worked_out));
  const auto told = ParseFunction("f.py", std::string(kHead) + R"(
            T.reads(K[vi], S[vi], A[vi])
            T.writes(S[vi], X[S[vi]])
)" + kBody);
  KILN_ASSERT_OK(told.status());
  EXPECT_THAT(CheckRegions(*told), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("is not known to hold")));
}

TEST(RegionsTest, LoopsOfNoIterationsTouchNothing) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((4,)), X: T.Buffer((4,))):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(X[vi])
            X[vi] = A[vi]
            for j in range(0):
                X[vi + j + 9] = A[0]
)");
  KILN_ASSERT_OK(f.status());
  KILN_EXPECT_OK(CheckRegions(*f));
}

TEST(RegionsTest, QuotientsBoundRegions) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(a: T.handle, x: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 14))
    X = T.match_buffer(x, (n, 16))
    for f in range(n * 14):
        with T.block("fused"):
            vi = T.axis.spatial(n, f % n)
            vj = T.axis.spatial(14, f // n)
            T.reads(A[vi, vj])
            T.writes(X[vi, 2:16])
            X[vi, vj + 2] = A[vi, vj]
    for i, j in T.grid(n, 12):
        with T.block("tiles"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj // 2:vj // 2 + ((vj + 1) // 2 - vj // 2 + 1)])
            T.writes(X[vi, vj])
            X[vi, vj] = A[vi, vj // 2] + A[vi, (vj + 1) // 2]
)");
  KILN_ASSERT_OK(f.status());
  KILN_EXPECT_OK(CheckRegions(*f));
}

// What is stated of a view beyond its extents is nobody's.
TEST(RegionsTest, RegionsOfAViewEndWhereTheViewDoes) {
  const auto block = [](const std::string& region) {
    return R"(
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi * 8:vi * 8 + 8, 0:64])
            T.writes(B[vi * 8, 0])
            V = T.match_buffer(A[vi * 8:vi * 8 + 8, 0:64], (8, 64), "float32")
            for j in range(8):
                with T.block("I"):
                    vj = T.axis.spatial(8, j)
                    T.reads()" +
           region + R"()
                    T.writes(B[vi * 8, 0])
                    B[vi * 8, 0] = V[vj, 0]
)";
  };
  for (const char* region :
       {"V[vj, 0]", "V[vj - 1:vj + 2, 0:64]", "V[vj:vj + 99, 0:65]"}) {
    Check({block(region).c_str(), nullptr});
  }
  Check({block("V[vj - 1, 0]").c_str(), "does not hold"});
}

// A block in one that states four columns of a row.
std::string InColumns(const std::string& regions, const std::string& body) {
  return absl::StrCat(R"(
    for i in T.serial(64):
        with T.block("outer"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi, 0:4])
            T.writes(B[vi, 0:4])
            for j in T.serial(4):
                with T.block("B"):
                    vj = T.axis.spatial(4, j)
                    )",
                      regions, "\n                    ", body, "\n");
}

TEST(RegionsTest, WhatABlockSaysBeyondItsAccessesNeedNotBeHeldAround) {
  for (const char* regions :
       {"T.reads(A[vi, vj:vj + 2])", "T.reads(A[vi, 0:64], A[vi, vj])",
        "T.reads(A[vi, 3 - vj], A[vi, vj])", "T.reads(A[0:64, 0:64])"}) {
    Check({InColumns(regions, "B[vi, vj] = A[vi, vj]").c_str(), nullptr});
  }
  Check({InColumns("T.reads(A[vi, vj:vj + 2])", "B[vi, vj] = A[vi, vj + 1]")
             .c_str(),
         "the block reads A[vi, vj + 1], which T.reads(A[vi, 0:4]) does not "
         "hold where j = 3"});
  Check({InColumns("T.writes(B[vi, vj:vj + 2])", "B[vi, vj + 1] = A[vi, vj]")
             .c_str(),
         "the block writes B[vi, vj + 1], which T.writes(B[vi, 0:4])"});
  // Nobody sees what happens behind an address.
  Check({InColumns("T.reads(A[vi, vj:vj + 2])",
                   "B[vi, vj] = T.call_extern(\"float32\", \"f\", "
                   "T.address_of(A[vi, vj]))")
             .c_str(),
         "the block reads A[vi, vj:vj + 2], which T.reads(A[vi, 0:4])"});
  Check({InColumns("T.reads(A[vi, vj:vj + 2])\n                    "
                   "T.block_attr({\"explicit_read_region\": [0]})",
                   "B[vi, vj] = A[vi, vj]")
             .c_str(),
         "the block reads A[vi, vj:vj + 2], which T.reads(A[vi, 0:4])"});
}

TEST(RegionsTest, ABlockTwoDeepIsHeldByTheOuterOneToo) {
  const char* kText = R"(
    for i in T.serial(64):
        with T.block("outer"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi, 0:4])
            T.writes(B[vi, 0:4])
            for j in T.serial(4):
                with T.block("middle"):
                    vj = T.axis.spatial(4, j)
                    T.reads(A[vi, 0:64])
                    T.writes(B[vi, vj])
                    for k in T.serial(1):
                        with T.block("B"):
                            vk = T.axis.spatial(1, k)
                            T.reads(A[vi, 0:8])
                            T.writes(B[vi, vj])
                            B[vi, vj] = A[vi, vj + $])";
  for (const char* shift : {"0", "1"}) {
    const std::string text = absl::StrReplaceAll(kText, {{"$", shift}}) + "\n";
    Check({text.c_str(), *shift == '0' ? nullptr
                                       : "the block reads A[vi, vj + 1], which "
                                         "T.reads(A[vi, 0:4]) does not hold"});
  }
}

// A copy of one row that data names, in a block that states that row.
std::string RowByData(const std::string& before, const std::string& value) {
  return absl::StrCat(R"(
    for i in T.serial(64):
        with T.block("outer"):
            vi = T.axis.spatial(64, i)
            T.reads(A[X[vi], 0:64], X[vi])
            T.writes(B[vi, 0:64])",
                      before, R"(
            for j in T.serial(64):
                with T.block("B"):
                    vj = T.axis.spatial(64, j)
                    vr = T.axis.spatial(64, )",
                      value, R"()
                    T.reads(A[vr, vj])
                    T.writes(B[vi, vj])
                    B[vi, vj] = A[vr, vj]
)");
}

TEST(RegionsTest, IteratorsWhoseValuesAreDataAreFollowed) {
  Check({RowByData(")", "X[vi]").c_str(), nullptr});
  Check({RowByData(")", "T.min(X[vi], X[vi])").c_str(), nullptr});
  Check({RowByData(")", "X[vi] + 1").c_str(),
         "the block reads A[vr, vj], which T.reads(A[X[vi], 0:64]) is not "
         "known to hold"});
  // The row that the region names is the one at the begin of the block.
  Check({RowByData(R"(, X[vi])
            with T.block("X"):
                T.reads(X[vi])
                T.writes(X[vi])
                X[vi] = (X[vi] + 1) % 64)",
                   "X[vi]")
             .c_str(),
         "the block reads A[vr, vj], which T.reads(A[X[vi], 0:64]) is not "
         "known to hold"});
}

}  // namespace
}  // namespace kiln
