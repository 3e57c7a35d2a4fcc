#include "kiln/codegen/lower/auto/auto_register_tile.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/auto/distribute_loops.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const DType kF32 = DType::Float(32);

// One dimension of a matmul, cut into loops.
struct Dim {
  int64_t extent = 1;
  Expr value = Int(0);
};

struct Loop {
  Var var;
  int64_t extent;
  ForKind kind;
  int dim;
};

// Matmuls C[i, j] += A[stride*i + k, k] * B[k, j] whose loops are cut and
// ordered at random, the reductions among themselves in their order, with the
// initialization in front of the inner loops, in a buffer of its own or not.
class RandomMatmul {
 public:
  explicit RandomMatmul(uint64_t seed) : random_(seed) {}
  Function Make();

 private:
  int64_t Pick(std::vector<int64_t> from) {
    return from[random_() % from.size()];
  }
  void Cut(int dim, int pieces);
  Stmt Nest(Stmt s, size_t begin, bool with_reductions, Function* f);
  Expr Index(const Dim& row, int64_t width, const Dim& column) {
    return Add(Mul(row.value, Int(width)), column.value);
  }

  std::mt19937_64 random_;
  Dim dims_[3];  // i, j, k
  std::vector<Loop> loops_;
};

void RandomMatmul::Cut(int dim, int pieces) {
  for (int p = 0; p < pieces; ++p) {
    const int64_t extent = Pick({1, 2, 2, 3, 4, 4, 7, 8, 16});
    const Var var(std::string(1, "ijk"[dim]) + std::to_string(p));
    const bool is_unrolled = random_() % 4 == 0;
    loops_.push_back({var, extent,
                      is_unrolled ? ForKind::kUnrolled : ForKind::kSerial,
                      dim});
    dims_[dim].value = Add(Mul(dims_[dim].value, Int(extent)), var);
    dims_[dim].extent *= extent;
  }
}

Stmt RandomMatmul::Nest(Stmt s, size_t begin, bool with_reductions,
                        Function* f) {
  for (size_t i = loops_.size(); i-- > begin;) {
    const Loop& loop = loops_[i];
    if (loop.dim == 2 && !with_reductions) continue;
    const Var var(loop.var.name());
    s = MakeFor(f->NewId(), var, Int(loop.extent),
                Substitute(s, {{loop.var.get(), var}}), loop.kind);
  }
  return s;
}

Function RandomMatmul::Make() {
  for (int dim = 0; dim < 3; ++dim) Cut(dim, 1 + random_() % 2);
  std::shuffle(loops_.begin(), loops_.end(), random_);
  // What is outside of the sequence has no reductions.
  size_t outer = 0;
  while (outer < loops_.size() && loops_[outer].dim != 2) ++outer;
  outer = random_() % (outer + 1);
  if (random_() % 2 == 0 && loops_.back().dim == 1) {
    loops_.back().kind = ForKind::kVectorized;
  }
  const Dim &i = dims_[0], &j = dims_[1], &k = dims_[2];
  const int64_t stride = 1 + random_() % 2;
  Function f;
  f.name = "main";
  Buffer a =
      MakeBuffer("A", kF32, {Int((stride * i.extent + k.extent) * k.extent)});
  Buffer b = MakeBuffer("B", kF32, {Int(k.extent * j.extent)});
  Buffer c = MakeBuffer("C", kF32, {Int(i.extent * j.extent)});
  for (const Buffer& p : {a, b, c}) f.params.push_back({Var(p->name), p});
  const Expr row = Add(Mul(i.value, Int(stride)), k.value);
  Expr tap = Load(a, {Add(Mul(row, Int(k.extent)), k.value)});
  if (random_() % 4 == 0) {
    tap = Call(kF32, Intrinsic::kIfThenElse, {LT(Int(2), row), tap, Float(0)});
  }
  const Expr product = Mul(tap, Load(b, {Index(k, j.extent, j)}));
  const Expr index = Index(i, j.extent, j);
  Stmt update = MakeStore(c, Add(Load(c, {index}), product), {index});
  Stmt init = MakeStore(c, Float(0.5), {index});
  f.body =
      MakeSeq({Nest(init, outer, false, &f), Nest(update, outer, true, &f)});
  for (size_t l = outer; l-- > 0;) {
    f.body = MakeFor(
        f.NewId(), loops_[l].var, Int(loops_[l].extent), f.body,
        l == 0 && random_() % 2 ? ForKind::kParallel : ForKind::kSerial);
  }
  return f;
}

absl::Status CheckOne(uint64_t seed, const VectorRegisters& vectors) {
  Function f = RandomMatmul(seed).Make();
  f.attrs[kNumerics] = Attr(std::string(kStrict));  // sums have no parts
  LowerOptions options;
  options.machine.vectors = vectors;
  absl::StatusOr<Function> lowered = Lower(f, options);
  if (!lowered.ok()) return lowered.status();
  std::mt19937_64 random(seed);
  std::vector<Tensor> expected;
  for (const Param& param : f.params) {
    Tensor tensor(kF32, {*AsInt(param.buffer->shape[0])});
    for (int64_t x = 0; x < tensor.size(); ++x) {
      tensor.Set(x, static_cast<double>(random() % 4096) / 1000 - 2);
    }
    expected.push_back(std::move(tensor));
  }
  std::vector<Tensor> actual = expected;
  absl::Status status = Interpret(f, expected);
  if (!status.ok()) return status;
  status = Interpret(*lowered, actual);
  if (!status.ok()) return status;
  return expected[2].bytes == actual[2].bytes
             ? absl::OkStatus()
             : absl::InternalError("the results differ");
}

TEST(AutoRegisterTileTest, RandomMatmulsKeepTheirResultsToTheLastBit) {
  const char* given = getenv("KILN_SEED");
  const uint64_t first =
      given ? strtoull(given, nullptr, 10) : std::random_device{}();
  const char* count = getenv("KILN_COUNT");
  const int rounds = count ? atoi(count) : 60;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t seed = first + round;
    const VectorRegisters vectors[] = {kAvxRegisters, kSseRegisters,
                                       kAvx512Registers};
    const absl::Status status = CheckOne(seed, vectors[seed % 3]);
    EXPECT_TRUE(status.ok()) << status << ", KILN_SEED=" << seed;
  }
}

int CountLocal(const Stmt& s) {
  int count = 0;
  Visit(s, [&](const Stmt& x) {
    const auto* node = x.As<AllocateNode>();
    count += node && node->buffer->scope == "local";
    return true;
  });
  return count;
}

// for c_1 in 4: {for c: C[c_1, c] = 0; for k: for c: C[c_1, c] += A[k, c_1, c]}
class ColumnsTest : public testing::Test {
 protected:
  Function Make(const Buffer& c, const Expr& index) {
    const Expr source = Add(Mul(k_, Int(32)), Add(Mul(c_1_, Int(8)), c_));
    const Var c_init("c_init");
    const Stmt init = MakeFor(
        1, c_init, Int(8),
        MakeStore(c, Float(0), {Substitute(index, {{c_.get(), c_init}})}));
    const Stmt step =
        MakeStore(c, Add(Load(c, {index}), Load(a_, {source})), {index});
    const Stmt update = MakeFor(
        2, k_, Int(16), MakeFor(3, c_, Int(8), step, ForKind::kVectorized));
    Function f;
    f.next_id = 100;
    f.body = MakeSeq({init, update});
    return f;
  }
  void Around(Function* f) { f->body = MakeFor(4, c_1_, Int(4), f->body); }

  Buffer a_ = MakeBuffer("A", kF32, {Int(512)});
  Var c_1_{"c_1"}, c_{"c"}, k_{"k"};
};

TEST_F(ColumnsTest, ALoopAroundInitAndUpdateIsDistributedToWidenVectors) {
  const Buffer c = MakeBuffer("C", kF32, {Int(32)});
  Function f = Make(c, Add(Mul(c_1_, Int(8)), c_));
  Around(&f);
  KILN_ASSERT_OK_AND_ASSIGN(Function apart, DistributeLoops(f, {}));
  const auto* seq = apart.body.As<SeqNode>();
  ASSERT_TRUE(seq);
  EXPECT_EQ(seq->stmts.size(), 2u);
  KILN_ASSERT_OK_AND_ASSIGN(Function tiled, AutoRegisterTile(apart, {}));
  EXPECT_EQ(CountLocal(tiled.body), 1);
}

TEST_F(ColumnsTest, WhatIsAllocatedInsideGetsACopyForEachIteration) {
  const Buffer sum = MakeBuffer("S", kF32, {Int(8)});
  const Buffer c = MakeBuffer("C", kF32, {Int(32)});
  Function f = Make(sum, c_);
  const Var v("v");
  f.body = MakeSeq({f.body, MakeFor(5, v, Int(8),
                                    MakeStore(c, Load(sum, {v}),
                                              {Add(Mul(c_1_, Int(8)), v)}))});
  f.body = MakeAllocate(sum, f.body);
  Around(&f);
  KILN_ASSERT_OK_AND_ASSIGN(Function apart, DistributeLoops(f, {}));
  const auto* node = apart.body.As<AllocateNode>();
  ASSERT_TRUE(node);
  EXPECT_TRUE(IsConst(node->buffer->shape[0], 32));
  ASSERT_TRUE(node->body.As<SeqNode>());
  EXPECT_EQ(node->body.As<SeqNode>()->stmts.size(), 3u);
}

TEST_F(ColumnsTest, IterationsThatShareASumStayTogether) {
  const Buffer c = MakeBuffer("C", kF32, {Int(8)});
  Function f = Make(c, c_);
  Around(&f);
  KILN_ASSERT_OK_AND_ASSIGN(Function apart, DistributeLoops(f, {}));
  EXPECT_EQ(apart.body, f.body);
}

}  // namespace
}  // namespace kiln
