#include "kiln/schedule/rewrite/cache_written.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// One function whose block "B" writes the tensor B, and the question where a
// copy within `depth` of its loops stands.
class Writer {
 public:
  Writer(const std::string& body, size_t depth)
      : function_(*ParseFunction("test", absl::StrCat(
                                             R"(@T.prim_func
def main(B: T.Buffer((64,), "float32")):
)",
                                             body))),
        path_(*FindBlock(function_, BlocksNamed(function_, "B").at(0))),
        scope_(*path_.scope()->block),
        tensor_(path_.realize()->block->writes[0].buffer),
        writer_{scope_, scope_.IndexOf(path_.realize()->block->id), tensor_,
                depth, "cache_read"} {}

  std::string Box() const { return Text(WrittenBox(writer_)); }

  absl::Status Gaps() const {
    return CheckNoGaps(writer_, WrittenBox(writer_));
  }

  // What the copy takes, with the conditions under which it runs.
  absl::StatusOr<std::string> Limited() const {
    CacheCopy copy;
    copy.box = WrittenBox(writer_);
    const absl::Status status = LimitToWritten(writer_, &copy);
    if (!status.ok()) return status;
    std::string text = Text(copy.box);
    for (const PredicateBound& cut : copy.cuts) {
      absl::StrAppend(&text, cut.end ? " to " : " from ",
                      PrintExpr(cut.end ? cut.end : cut.begin));
    }
    if (!IsOne(copy.writer_runs)) {
      absl::StrAppend(&text, " if ", PrintExpr(copy.writer_runs));
    }
    for (const Expr& runs : copy.loops_run) {
      absl::StrAppend(&text, " where ", PrintExpr(runs));
    }
    return text;
  }

 private:
  static std::string Text(const std::vector<Range>& box) {
    std::string text;
    for (const Range& range : box) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", PrintExpr(range.min),
                      " +", PrintExpr(range.extent));
    }
    return text;
  }

  Function function_;
  Path path_;
  Scope scope_;
  Buffer tensor_;
  CacheWriter writer_;
};

// B[index] for i in [0, 4), j in [0, 16).
Writer Split(const std::string& index, const std::string& condition,
             size_t depth) {
  return Writer(absl::StrCat(R"(    for i, j in T.grid(4, 16):
        with T.block("B"):
            v = T.axis.spatial(64, )",
                             index, ")\n            T.where(", condition, R"()
            B[v] = T.float32(1)
)"),
                depth);
}

TEST(CacheWrittenTest, TheBoxIsThatOfTheLoopsWithinThePlace) {
  EXPECT_EQ(Split("i * 16 + j", "True", 0).Box(), "0 +64");
  EXPECT_EQ(Split("i * 16 + j", "True", 1).Box(), "i * 16 +16");
  EXPECT_EQ(Split("i * 16 + j", "True", 2).Box(), "i * 16 + j +1");
}

TEST(CacheWrittenTest, ABoxWithoutGapsIsTaken) {
  KILN_EXPECT_OK(Split("i * 16 + j", "True", 0).Gaps());
  KILN_EXPECT_OK(Split("i * 8 + j", "True", 0).Gaps());
  KILN_EXPECT_OK(Split("i * 16 + j", "True", 1).Gaps());
}

TEST(CacheWrittenTest, ABoxWithGapsIsRefused) {
  const auto gaps =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("is not known to write all of the box of `B`"));
  EXPECT_THAT(Split("i * 16 + j // 2 * 2", "True", 0).Gaps(), gaps);
  EXPECT_THAT(Split("i * 16 + j // 2 * 2", "True", 1).Gaps(), gaps);
  EXPECT_THAT(Split("i * 16 + j", "j < 5", 0).Limited().status(), gaps);
  EXPECT_THAT(Split("i * 16 + j", "j % 2 < 1", 1).Limited().status(), gaps);
}

TEST(CacheWrittenTest, ConstantCutsNarrowTheBox) {
  EXPECT_EQ(*Split("i * 16 + j", "True", 0).Limited(), "0 +64");
  EXPECT_EQ(*Split("i * 16 + j", "i * 16 + j < 30", 0).Limited(), "0 +30");
  EXPECT_EQ(*Split("i * 16 + j", "5 <= i * 16 + j", 0).Limited(), "5 +59");
  EXPECT_EQ(*Split("i * 16 + j", "5 <= i * 16 + j and i < 3", 0).Limited(),
            "5 +43");
}

TEST(CacheWrittenTest, LoopsAroundTheCopyDecideWhatIsLeft) {
  EXPECT_EQ(*Split("i * 16 + j", "i != 2", 1).Limited(),
            "i * 16 +16 if i != 2");
  EXPECT_EQ(*Split("i * 16 + j", "i * 16 + j < 30", 1).Limited(),
            "i * 16 +16 to 30");
}

// B[i * 16 + j] for j in [0, extent).
Writer Inner(const std::string& extent, size_t depth) {
  return Writer(absl::StrCat(R"(    for i in range(4):
        for j in range()",
                             extent, R"():
            with T.block("B"):
                v = T.axis.spatial(64, i * 16 + j)
                B[v] = T.float32(1)
)"),
                depth);
}

TEST(CacheWrittenTest, LoopsThatMayNotRunLeaveNothingToCopy) {
  EXPECT_EQ(*Inner("i * 2", 1).Limited(), "i * 16 +i * 2 where 0 < i * 2");
  EXPECT_EQ(*Inner("i + 1", 1).Limited(), "i * 16 +i + 1");
}

TEST(CacheWrittenTest, OneCopyForLoopsThatRunAndThoseThatDoNotIsRefused) {
  EXPECT_THAT(Inner("i * 2", 0).Limited().status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("whether loop j around block `B` runs depends "
                                 "on i")));
}

// "C" reads the first `read` elements of a tensor that "A" writes 32 of.
absl::Status Held(int64_t read) {
  const Function f = *ParseFunction("test", absl::StrCat(R"(@T.prim_func
def main(B: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((64,))
    for i in range(32):
        with T.block("A"):
            v = T.axis.spatial(32, i)
            A[v] = T.float32(1)
    with T.block("C"):
        T.reads(A[0:)",
                                                         read, R"(])
        T.writes(B[0:64])
        for i in range(16):
            with T.block("D"):
                v = T.axis.spatial(16, i)
                B[v] = A[v]
)"));
  const Path path = *FindBlock(f, BlocksNamed(f, "C").at(0));
  const Buffer tensor = path.realize()->block->reads[0].buffer;
  return CheckHeld(f, path, tensor, "cache_read");
}

TEST(CacheWrittenTest, WhatABlockDeclaresToReadHasToBeWrittenBefore) {
  KILN_EXPECT_OK(Held(16));
  KILN_EXPECT_OK(Held(32));
  EXPECT_THAT(Held(33), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("may read what is not written: ")));
}

}  // namespace
}  // namespace kiln
