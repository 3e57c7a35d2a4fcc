// The producer's store B[g(v)] = e(v) defines B as a function: each element is
// written once, and what e reads does not change until the consumers run. So a
// load B[x] becomes e(v) at the v with g(v) = x, for a map g that SolveIters()
// can invert:
//
//   B[vi, vj] = A[vi, vj] * 2                  g is the identity
//   C[vi, vj] = B[vi, vj] + B[15 - vi, vj]
//   =>
//   C[vi, vj] = A[vi, vj] * 2 + A[15 - vi, vj] * 2
//
// and a store to B[vj, vi // 4, vi % 4] has v = (x_1 * 4 + x_2, x_0). Declared
// reads of B become what the producer reads at those v, as boxes: A[0:16, vj].
// Each load copies e, so that a chain of n producers that are each read twice
// would grow to 2^n copies; WhyTooLargeInlined() bounds that.
#include "kiln/schedule/primitive/compute_inline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/data_regions.h"
#include "kiln/schedule/rewrite/inlined_size.h"
#include "kiln/schedule/rewrite/inlining.h"

namespace kiln {
namespace {

constexpr std::string_view kName = "compute_inline";

bool IsPure(const Expr& e) {
  bool pure = true;
  Visit(e, [&](const Expr& part) {
    const auto* call = part.As<CallNode>();
    pure =
        pure && (!call || GetIntrinsicInfo(call->op).purity != Purity::kOpaque);
    return pure;
  });
  return pure;
}

Reason WhyNotDefinition(const BlockNode& block) {
  if (block.init) return "it has an init";
  const StoreNode* store = OnlyStore(block);
  if (!store || block.writes.size() != 1 ||
      block.writes[0].buffer != store->buffer) {
    return "its body is not the store of one element of one tensor";
  }
  if (!IsPure(store->value)) return "what it stores has side effects";
  if (!SolveIters(block, store->indices, store->indices)) {
    return "its iterators do not follow from the indices that it writes";
  }
  return std::nullopt;
}

// Inlines into statements of the scope.
class Inliner {
 public:
  Inliner(const BlockNode& producer, const StoreNode& store)
      : producer_(producer), store_(store) {}

  Stmt operator()(const Stmt& s) const {
    Stmt own = s;
    const auto* realize = s.As<BlockRealizeNode>();
    const bool reads = realize && ReadsBuffer(*realize->block, store_.buffer);
    if (reads) own = WithBlock(*realize, Regions(*realize->block));
    own = MapExprs(own, [&](const Expr& e) { return Inlined(e); });
    own = MapChildren(own, *this);
    if (!reads) return own;
    realize = own.As<BlockRealizeNode>();
    BlockFields fields = realize->block->fields();
    WidenOverData(&fields);
    return WithBlock(*realize, std::move(fields));
  }

 private:
  Expr Inlined(const Expr& e) const {
    return ReplaceLoads(e, store_.buffer, [&](const LoadNode& load) {
      const auto map = SolveIters(producer_, store_.indices, load.indices);
      return Substitute(store_.value, *map);
    });
  }

  // What the producer reads to make `region` of its tensor.
  std::vector<BufferRegion> InputsOf(const BufferRegion& region,
                                     Analyzer* analyzer) const {
    std::vector<LoopRange> running;
    std::vector<Expr> points;
    for (const Range& range : region.region) {
      points.push_back(range.min);
      if (IsOne(range.extent)) continue;
      running.push_back({Var("r"), {Int(0), range.extent}});
      points.back() = Add(range.min, running.back().var);
    }
    const auto map = SolveIters(producer_, store_.indices, points);
    std::vector<BufferRegion> inputs;
    for (const BufferRegion& read : producer_.reads) {
      const BufferRegion moved =
          MapRegion(read, [&](const Expr& e) { return Substitute(e, *map); });
      inputs.push_back(Hull(moved, running, analyzer));
    }
    return inputs;
  }

  Block Regions(const BlockNode& block) const {
    Analyzer analyzer;
    BindIters(block, &analyzer);
    BlockFields fields = block.fields();
    fields.reads.clear();
    for (const BufferRegion& read : block.reads) {
      if (read.buffer != store_.buffer) {
        AddRegion(&fields.reads, read, &analyzer);
        continue;
      }
      for (const BufferRegion& input : InputsOf(read, &analyzer)) {
        const bool is_sum = block.init && WritesBuffer(block, input.buffer);
        if (!is_sum) AddRegion(&fields.reads, input, &analyzer);
      }
    }
    return MakeBlock(std::move(fields));
  }

  const BlockNode& producer_;
  const StoreNode& store_;
};

absl::Status CheckProducer(const Scope& scope, int producer) {
  const BlockNode& block = scope.blocks[producer].block();
  if (!scope.only_loops_and_blocks) {
    return Refusal(kName,
                   "the enclosing block holds statements other than loops and "
                   "blocks");
  }
  if (Reason reason = WhyNotDefinition(block)) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " cannot be inlined: ", *reason));
  }
  if (scope.IsOutput(producer)) {
    return Refusal(kName,
                   absl::StrCat(Describe(block),
                                " writes an output of the enclosing block"));
  }
  if (Reason reason = WhyNotComplete(scope, producer)) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " is not complete: ", *reason));
  }
  return absl::OkStatus();
}

absl::Status CheckConsumers(const Scope& scope, int producer) {
  const BlockNode& block = scope.blocks[producer].block();
  const Buffer& buffer = block.writes[0].buffer;
  const std::vector<int> consumers = scope.Readers(buffer);
  for (int consumer : consumers) {
    if (consumer > producer) continue;
    return Refusal(kName, absl::StrCat(Describe(scope.blocks[consumer].block()),
                                       " reads `", buffer->name, "` before ",
                                       Describe(block), " writes it"));
  }
  if (Reason reason = WhyNotPlainAccess(scope.block->body, buffer)) {
    return Refusal(kName, *reason);
  }
  if (Reason reason = WhyNotMovable(scope, producer, consumers)) {
    return Refusal(kName, absl::StrCat(Describe(block),
                                       " cannot be computed later: ", *reason));
  }
  if (Reason reason =
          WhyTooLargeInlined(scope.block->body, block, *OnlyStore(block))) {
    return Refusal(
        kName, absl::StrCat(Describe(block), " cannot be inlined: ", *reason),
        "keep it in a buffer, with compute_at where it is used");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Function> ComputeInline(const Function& f, BlockId id) {
  KILN_ASSIGN_OR_RETURN(Path path, RequireBlockThatRuns(f, id, kName));
  if (!path.scope()) return Refusal(kName, "the root block cannot be inlined");
  const BlockNode& producer = *path.realize()->block;
  const BlockId scope_id = path.scope()->block->id;
  const Scope scope(*path.scope()->block);
  KILN_RETURN_IF_ERROR(CheckProducer(scope, scope.IndexOf(id)));
  KILN_RETURN_IF_ERROR(CheckConsumers(scope, scope.IndexOf(id)));
  const std::optional<Removal> removal = RemoveAt(path);
  if (!removal) {
    return Refusal(kName, absl::StrCat(Describe(producer),
                                       " is all that the enclosing block "
                                       "does"));
  }
  Function result = ReplaceAt(f, removal->path, removal->replacement);
  KILN_ASSIGN_OR_RETURN(Path changed,
                        RequireBlockThatRuns(result, scope_id, kName));
  BlockFields fields = changed.realize()->block->fields();
  const StoreNode& store = *OnlyStore(producer);
  fields.body = Inliner(producer, store)(fields.body);
  auto& buffers = fields.alloc_buffers;
  buffers.erase(std::remove(buffers.begin(), buffers.end(), store.buffer),
                buffers.end());
  Stmt realize = WithBlock(*changed.realize(), std::move(fields));
  return ReplaceAt(std::move(result), changed, std::move(realize));
}

}  // namespace kiln
