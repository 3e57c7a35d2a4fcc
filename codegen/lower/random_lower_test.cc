// Random programs with loops of random kinds, and tensors of random strides,
// mean the same after lowering.
#include <cstdlib>
#include <random>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/random_program.h"

namespace kiln {
namespace {

class RandomKinds {
 public:
  explicit RandomKinds(uint64_t seed) : random_(seed) {}

  // `f` with loops split, made vectorized, unrolled or annotated at random, and
  // strides asked for.
  Function Apply(Function f) {
    Stmt body = Change(f.body, &f);
    f.body = std::move(body);
    return f;
  }

 private:
  bool Chance(int one_in) { return random_() % one_in == 0; }

  // `s` with a stride asked for of a tensor that a block allocates.
  Stmt Align(const BlockRealizeNode& realize) {
    BlockFields fields = realize.block->fields();
    const Buffer& buffer = fields.writes[0].buffer;
    const auto rank = static_cast<int64_t>(buffer->shape.size());
    const int64_t factor = 1 + random_() % 9;
    const AttrList note = {Int(0), Int(static_cast<int64_t>(random_() % rank)),
                           Int(factor),
                           Int(static_cast<int64_t>(random_() % factor))};
    fields.annotations["buffer_dim_align"] = Attr(AttrList(1, note));
    aligned_.insert(buffer.get());
    return MakeRealize(realize.values, realize.predicate,
                       MakeBlock(std::move(fields)));
  }

  bool MayAlign(const BlockNode& block) {
    if (block.writes.empty()) return false;
    const Buffer& buffer = block.writes[0].buffer;
    return allocated_.count(buffer.get()) && !aligned_.count(buffer.get()) &&
           !buffer->shape.empty() && buffer->strides.empty();
  }

  Stmt Change(const Stmt& s, Function* f) {
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const Buffer& b : realize->block->alloc_buffers) {
        allocated_.insert(b.get());
      }
    }
    Stmt below =
        MapChildren(s, [&](const Stmt& child) { return Change(child, f); });
    const auto* realize = below.As<BlockRealizeNode>();
    if (realize && Chance(3) && MayAlign(*realize->block)) {
      return Align(*realize);
    }
    const auto* loop = below.As<ForNode>();
    if (!loop || loop->for_kind != ForKind::kSerial) return below;
    ForFields fields = loop->fields();
    if (Chance(6)) {
      const int64_t step = int64_t{4} << random_() % 5;
      fields.annotations["pragma_auto_unroll_max_step"] = Attr(Int(step));
    }
    fields.for_kind = RandomKind();
    return Chance(3) ? Split(fields, f) : MakeFor(fields);
  }

  // Two loops and a condition in the place of one loop.
  Stmt Split(ForFields fields, Function* f) {
    const int64_t extent = *AsInt(fields.extent);
    const int64_t factor = 2 + random_() % 7;
    const Var outer(fields.var.name() + "_o"), inner(fields.var.name() + "_i");
    const Expr value = Add(Mul(outer, Int(factor)), inner);
    Stmt body = Substitute(fields.body, {{fields.var.get(), value}});
    if (extent % factor != 0) body = MakeIf(LT(value, Int(extent)), body);
    fields.var = inner;
    fields.extent = Int(factor);
    fields.body = body;
    return MakeFor(f->NewId(), outer, Int((extent + factor - 1) / factor),
                   MakeFor(fields), RandomKind());
  }

  ForKind RandomKind() {
    if (Chance(3)) return ForKind::kVectorized;
    return Chance(4) ? ForKind::kUnrolled : ForKind::kSerial;
  }

  std::mt19937_64 random_;
  std::unordered_set<const BufferNode*> allocated_, aligned_;
};

absl::Status CheckLowered(const Function& f, const LowerOptions& options,
                          uint64_t seed) {
  absl::StatusOr<Function> lowered = Lower(f, options);
  if (!lowered.ok()) return lowered.status();
  std::vector<Tensor> expected = RandomInputs(f, seed);
  std::vector<Tensor> actual = expected;
  absl::Status status = Interpret(f, expected);
  if (!status.ok()) return status;
  for (Tensor& tensor : actual) tensor.shape = {tensor.size()};
  status = Interpret(*lowered, actual);
  if (!status.ok()) return status;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].bytes != actual[i].bytes) {
      return absl::InternalError("the results differ");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOne(uint64_t seed, const LowerOptions& lower = {}) {
  RandomProgramOptions options;
  options.max_work = 1 << 10;
  return CheckLowered(RandomKinds(seed).Apply(RandomProgram(seed, options)),
                      lower, seed);
}

TEST(RandomLowerTest, ProgramsKeepTheirMeaningToTheLastBit) {
  const char* given = getenv("KILN_SEED");
  const uint64_t first =
      given ? strtoull(given, nullptr, 10) : std::random_device{}();
  const char* count = getenv("KILN_COUNT");
  const int rounds = count ? atoi(count) : 200;
  for (int round = 0; round < rounds; ++round) {
    const absl::Status status = CheckOne(first + round);
    EXPECT_TRUE(status.ok()) << status << ", KILN_SEED=" << first + round;
  }
}

TEST(RandomLowerTest, SoTheyDoWithoutThePassesThatAreNotRequired) {
  const uint64_t first = std::random_device{}();
  for (int round = 0; round < 100; ++round) {
    const absl::Status status =
        CheckOne(first + round, {.only_required = true});
    EXPECT_TRUE(status.ok()) << status << ", seed " << first + round;
  }
}

}  // namespace
}  // namespace kiln
