// Calls on random views of one stretch of memory: at any address, apart, in
// place and overlapping. Each is refused and leaves memory as it was, or gives
// what the interpreter computes of tensors that are apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/aligned_memory.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/execute.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {
namespace {

constexpr int64_t kArena = 8192;

// Reads each element of A twice, the second time from the other end.
constexpr char kMirror[] = R"py(
@T.prim_func
def mirror(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * 3 + A[n - 1 - vi]
)py";

constexpr char kMatmul[] = R"py(
@T.prim_func
def matmul(A: T.Buffer((12, 16), "int32"), B: T.Buffer((16, 16), "int32"), C: T.Buffer((12, 16), "int32")):
    for i in T.parallel(12):
        for k in range(16):
            for j in T.vectorized(16):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        C[vi, vj] = 0
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)py";

// Two results, one of which is read too, at alignments of their own.
constexpr char kUpdate[] = R"py(
@T.prim_func
def update(a: T.handle, b: T.handle, c: T.handle, d: T.handle):
    A = T.match_buffer(a, (40,), "int16", align=2)
    B = T.match_buffer(b, (40,), "int16", align=16)
    C = T.match_buffer(c, (40,), "int16", align=2)
    D = T.match_buffer(d, (20,), "int32", align=4)
    for i in range(40):
        with T.block("C"):
            vi = T.axis.spatial(40, i)
            C[vi] = C[vi] + A[vi] - B[39 - vi]
    for i in range(20):
        with T.block("D"):
            vi = T.axis.spatial(20, i)
            D[vi] = T.Cast("int32", A[vi]) * T.Cast("int32", C[vi + 20])
)py";

constexpr char kDeclared[] = R"py(
@T.prim_func
def declared(A: T.Buffer((9, 7), "uint8"), B: T.Buffer((7, 9), "uint8")):
    T.func_attr({"tir.noalias": True})
    for i, j in T.grid(9, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi] = A[vi, vj] + T.uint8(1)
)py";

// Rows of A, then rows of B.
constexpr char kConcat[] = R"py(
@T.prim_func
def concat(a: T.handle, b: T.handle, c: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, 5), "int32")
    B = T.match_buffer(b, (m, 5), "int32")
    C = T.match_buffer(c, (n + m, 5), "int32", align=4)
    for i, j in T.grid(n + m, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vi < n, A[vi, vj], B[vi - n, vj])
)py";

// The extents of A and B tell m alone, or n with it.
constexpr char kEveryOther[] = R"py(
@T.prim_func
def every_other(a: T.handle, b: T.handle, d: T.handle):
    n, m = T.int32(), T.int64()
    A = T.match_buffer(a, (n * 2 + m,), "int16")
    B = T.match_buffer(b, ((m + 1) // 2, 3), "int16")
    D = T.match_buffer(d, (T.max(m, 4) // 4, m), "int16")
    for i, j in T.grid((m + 1) // 2, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[n * 2 + vi * 2] + D[0, vi]
)py";

constexpr char kStrided[] = R"py(
@T.prim_func
def strided(a: T.handle, b: T.handle):
    n, s, o = T.int64(), T.int64(), T.int64()
    A = T.match_buffer(a, (6, n, 4), "int32", strides=(s, 4, 1), elem_offset=o)
    B = T.match_buffer(b, (n, 6), "int32", strides=(6, 1))
    for i, j, k in T.grid(n, 6, 4):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = 1
            B[vi, vj] = B[vi, vj] * 3 + A[vj, vi, vk]
)py";

// A tensor of the arena.
struct View {
  int64_t offset = 0;
  Tensor contents;  // what lies there before the call
  bool written = false;

  int64_t end() const {
    return offset + static_cast<int64_t>(contents.bytes.size());
  }
  bool Meets(const View& other) const {
    return offset < other.end() && other.offset < end();
  }
};

class ViewsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(function_, ParseFunction("views", GetParam()));
    KILN_ASSERT_OK_AND_ASSIGN(kernel_, CompileAndLoad(function_, HostTarget()));
    KILN_ASSERT_OK_AND_ASSIGN(Interpreter made, Interpreter::Create(function_));
    interpreter_ = std::make_unique<Interpreter>(std::move(made));
    arena_ = AllocateAligned(kArena);
    bytes_ = static_cast<uint8_t*>(arena_.get());
  }

  int64_t Draw(int64_t limit) {
    return static_cast<int64_t>(random_() % limit);
  }

  // Often where another view begins or a little after, often aligned.
  int64_t DrawOffset(int64_t room, const std::vector<View>& others) {
    int64_t offset = Draw(room);
    if (!others.empty() && Draw(2) == 0) {
      offset = others[Draw(others.size())].offset + (Draw(2) ? Draw(80) : 0);
    }
    const int64_t grain = std::vector<int64_t>{1, 4, 64}[Draw(3)];
    return std::min(offset, room) / grain * grain;
  }

  std::vector<View> DrawViews() {
    std::vector<int64_t> scalars;
    for (size_t i = 0; i < kernel_.signature().scalars.size(); ++i) {
      scalars.push_back(1 + Draw(30));
    }
    std::vector<View> views;
    for (const KernelBuffer& buffer : kernel_.signature().buffers) {
      std::vector<int64_t> shape;
      for (const KernelDim& dim : buffer.shape) {
        shape.push_back(*Evaluate(dim, scalars));
      }
      View view;
      view.contents = Tensor(buffer.dtype, shape);
      view.written = buffer.written;
      const auto bytes = static_cast<int64_t>(view.contents.bytes.size());
      view.offset = DrawOffset(kArena - bytes, views);
      views.push_back(std::move(view));
    }
    for (View& view : views) {
      std::memcpy(view.contents.bytes.data(), bytes_ + view.offset,
                  view.contents.bytes.size());
    }
    return views;
  }

  absl::Status Call(const std::vector<View>& views) {
    std::vector<PackedValue> args;
    for (const View& view : views) {
      KILN_ASSIGN_OR_RETURN(
          NDArray array,
          NDArray::View(bytes_ + view.offset, view.contents.shape,
                        view.contents.dtype, nullptr));
      args.emplace_back(std::move(array));
    }
    return kernel_.Call(host_.abi(), args);
  }

  bool IsToBeRefused(const std::vector<View>& views) const {
    for (size_t i = 0; i < views.size(); ++i) {
      for (size_t j = 0; j < views.size(); ++j) {
        if (i == j || !views[i].written || !views[i].Meets(views[j])) continue;
        if (views[j].written || kernel_.signature().noalias) return true;
      }
    }
    return false;
  }

  // The arena after a call.
  std::vector<uint8_t> Expected(std::vector<View> views) const {
    std::vector<uint8_t> expected(bytes_, bytes_ + kArena);
    std::vector<Argument> args;
    for (View& view : views) args.push_back(&view.contents);
    KILN_EXPECT_OK(interpreter_->Run(args));
    for (const View& view : views) {
      if (!view.written) continue;
      std::copy(view.contents.bytes.begin(), view.contents.bytes.end(),
                expected.begin() + view.offset);
    }
    return expected;
  }

  uint32_t seed_ = std::random_device()();
  std::mt19937 random_{seed_};
  Function function_;
  LoadedKernel kernel_;
  std::unique_ptr<Interpreter> interpreter_;
  AlignedMemory arena_;
  uint8_t* bytes_ = nullptr;
  ThreadPool pool_;
  KernelHost host_{&pool_};
};

TEST_P(ViewsTest, AreRefusedOrComputedAsIfApart) {
  SCOPED_TRACE(seed_);
  int refused = 0, ran = 0, met = 0;
  for (int trial = 0; trial < 400; ++trial) {
    for (int64_t i = 0; i < kArena; ++i) bytes_[i] = Draw(256);
    const std::vector<View> views = DrawViews();
    std::vector<uint8_t> expected(bytes_, bytes_ + kArena);
    if (IsToBeRefused(views)) {
      EXPECT_THAT(Call(views),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           testing::HasSubstr("which is written, shares")));
      ++refused;
    } else {
      expected = Expected(views);
      KILN_ASSERT_OK(Call(views));
      ++ran;
      for (const View& view : views)
        met += &view != &views[0] && view.Meets(views[0]);
    }
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), bytes_)) << trial;
  }
  EXPECT_GT(ran, 10);
  const bool is_declared = kernel_.signature().noalias;
  EXPECT_EQ(met == 0, is_declared);
  if (is_declared) EXPECT_GT(refused, 10);
}

INSTANTIATE_TEST_SUITE_P(All, ViewsTest,
                         testing::Values(kMirror, kMatmul, kUpdate, kDeclared,
                                         kConcat, kEveryOther, kStrided));

}  // namespace
}  // namespace kiln
