// Long loops whose vectors come from rows far apart, as those of a matrix that
// was not packed: the hardware does not see where the next row is, so each
// step asks for the row that some later step loads.
//
//   for k in 512: acc += A[k] * B[k*1024 : k*1024 + 16]
//     +  T.prefetch(T.address_of(B[(k + 64)*1024]), 0, 3, 1)
//
// What a sum reads row by row from beginning to end, as a matrix that is
// multiplied by a vector, is asked for beyond the page at hand: on a Zen 3 one
// of 50257 x 768 takes 16.5 ms without and 12.6 with. Where passes follow that
// find it in the second level, the first one asks alone: asked for in every
// pass, panels of 590 KiB take a product of 384 rows from 13.3 to 16.3 ms on a
// Xeon. Not so what is read once
// for a result of as many elements (on a Sapphire Rapids an addition of 100,352
// takes 12 us with and 10 without), and what the second level holds (an average
// of 1.6 MB 18 and 13).
//
// A few rows that are read side by side are asked for a little ahead, each of
// them (row_streams.h): four rows times 11008 x 2048 take 4.5 ms without and
// 3.2 with (a Sapphire Rapids).
//
// Of blocks of rows that are read panel by panel, each asks for the next one.
// And of panels that are passed over again and again, each pass asks for its
// share of the next one (prefetch_plan.h). A tile whose rows are read element
// by element, one of each row at a time, asks for the next tile's, row by row:
// on a Zen 3 a product of 65536 rows of 64 with 4 columns takes 4.7 ms without
// and 1.7 with. What is copied before some work is asked for by the work that
// comes before. And before a long sum the lines are asked for to which its
// result goes, and those of what is added to it there (epilogue.h); before a
// short one where vectors as wide as lines go across their borders
// (ragged_stores.h). A store that needs a second line waits for it when its
// turn comes, and all later ones with it: a depthwise convolution of 28 x 28 x
// 120 takes 23 us without and 15.5 with, and of 128 channels, whose stores are
// whole lines, 15 without and 18 with (a Sapphire Rapids).
#include "kiln/codegen/lower/auto/insert_prefetches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/auto/asked_lines.h"
#include "kiln/codegen/lower/auto/epilogue.h"
#include "kiln/codegen/lower/auto/innermost_stream.h"
#include "kiln/codegen/lower/auto/prefetch_plan.h"
#include "kiln/codegen/lower/auto/ragged_stores.h"
#include "kiln/codegen/lower/auto/row_streams.h"
#include "kiln/codegen/lower/auto/tensor_bytes.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::AskedLines;
using lower::ContiguousBase;
using lower::LateAccess;
using lower::Plus;
using lower::Prefetch;
using lower::PrefetchPlan;
using lower::RaggedStores;
using lower::Stream;
using lower::VectorGrid;

// Rows closer together than this are prefetched by hardware, as are those that
// follow without gaps.
constexpr int64_t kMinStrideBytes = 512;
// Of rows in memory of which each element is used once: a Xeon with AVX-512
// multiplies 4096 rows of 25088 and a vector in 34 ms where they are asked for,
// and in 38 where not; but 4096 rows of 4096, which its third level holds, in
// 2.8 and 2.7.
constexpr int64_t kMinDotBytes = 256;
// Smaller buffers are near enough.
constexpr int64_t kMinBufferBytes = 256 << 10;
// Of what is read from beginning to end, how far ahead: beyond the page at
// hand, where the hardware stops. Into the second level: lines that wait in the
// first make a Xeon with AVX-512 take a seventh longer for 16 rows and a matrix
// in memory, whose panels are too high to be asked for ahead.
constexpr int64_t kStreamAheadBytes = 6 << 10;
// Of each of a few rows that are read side by side; 256 and 4096 bytes are
// worse. Into the second level, too: a Zen 4 takes 4.1 ms for 6 x 2048 x 8192
// where they are to come to the first one, whose sets they share, and 2.6 where
// not. For a Xeon both are the same.
constexpr int64_t kRowAheadBytes = 1 << 10;
// Sums that take less do not give their results' lines the time to come.
constexpr int64_t kMinSumCycles = 256;

// Iterations that take less have no room for the lines of scalars; and how many
// cycles ahead those are asked for, in whole tiles.
constexpr int64_t kMinScalarCycles = 8;
constexpr int64_t kScalarCyclesAhead = 1024;
constexpr int64_t kMaxScalarsAhead = 2;
// Into the first level where it is that many times as large as what a tile
// reads: on a Xeon with AVX-512 12544 rows of 32 times 16 columns take 235 us
// without, 190 with the second level, and 130 with the first.
constexpr int64_t kShareOfNearest = 4;

// Localities as T.prefetch counts them.
constexpr int kNearest = 3;
constexpr int kSecondLevel = 2;
// Buffers from this size on are asked for a panel ahead; and, among constants
// that lie in memory when a kernel of a model is called, those that the second
// level could hold, too: 128 rows times 384 x 384 take 275 us without, and 256
// with (a Sapphire Rapids).
constexpr int64_t kMinFarBytes = 1 << 20;
constexpr int64_t kMinColdBytes = 128 << 10;

using Buffers = std::set<const BufferNode*>;

bool HasBytes(const Buffer& buffer, int64_t least) {
  return lower::BytesOf(buffer) >= least;
}

bool IsLarge(const Buffer& buffer) { return HasBytes(buffer, kMinBufferBytes); }

// How many rows `stride` bytes apart may be in the first cache at a time, when
// they take a quarter of the ways of the sets that they fall into. Asked for
// further ahead they push each other out, and asked for later they are no
// earlier than by themselves: on a Zen 3, products of 256 rows of 1 KiB
// take 1.5 times as long as without.
int64_t RowsHeld(const Machine& machine, int64_t stride) {
  return NearPlacesOfRows(machine, stride) * machine.l1_ways / 4;
}

// What an iteration of such a loop asks for.
struct Asked {
  explicit Asked(const Machine& machine) : lines(machine.line_bytes) {}

  AskedLines lines;
  // Elements that one iteration reads from first to last.
  std::vector<std::pair<const BufferNode*, int64_t>> spans;
  // What iterations ask for where a condition holds.
  std::vector<std::pair<Expr, std::vector<Stmt>>> once;
  // Buffers whose next blocks or panels are asked for.
  std::vector<const BufferNode*> blocks, panels;
};

// A copy that comes again when the innermost `around` of the loops goes on.
struct CopyAhead {
  lower::VectorCopy copy;
  size_t around = 0;
};

class Inserter {
 public:
  // A function that accesses `bytes` of tensors, some of which lie in memory
  // when it is called.
  Inserter(const Machine& machine, double bytes, const Buffers& cold)
      : machine_(machine), bytes_(bytes), cold_(cold), asked_for_(machine) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt RunFor(const Stmt& s, const ForNode& loop);
  Stmt RunSeq(const Stmt& s, const SeqNode& seq);
  Stmt RunInSeq(const Stmt& stmt, bool is_last);
  // Before the statement `nest` of `seq`.
  void AskForEpilogue(const SeqNode& seq, size_t nest,
                      std::vector<Stmt>* out) const;
  void AskForLines(absl::Span<const LateAccess> accesses, int64_t least_bytes,
                   std::vector<Stmt>* out) const;
  std::vector<RaggedStores> TilesOf(const SeqNode& seq) const;
  int64_t BytesOfMinSum() const {
    return kMinSumCycles * lower::kVectorsPerCycle * machine_.vectors.bytes;
  }

  // What comes after the nest of loops around `body`, in which it is the
  // innermost.
  void AskAhead(absl::Span<const VectorGrid> grids, std::vector<Stmt>* out);
  void AskForScalars(const Stmt& body, std::vector<Stmt>* out);
  // Of what the innermost loop reads, rows side by side.
  void AskAlongRows(absl::Span<const VectorGrid> grids, std::vector<Stmt>* out);
  void Ask(const VectorGrid& grid, const PrefetchPlan& plan, int locality,
           std::vector<Stmt>* out) const;
  IndexNormalizer NormalizerHere() const;
  bool IsPanel(const VectorGrid& grid) const;
  bool IsCold(const Buffer& buffer) const {
    return cold_.count(buffer.get()) > 0;
  }
  // Whether the second level of a core holds all that it accesses, with its
  // part of what `index` points to.
  bool StaysNear(const Buffer& buffer, const Expr& index) const;
  bool IsFar(const Buffer& buffer, const Expr& index) const {
    return IsCold(buffer)
               ? HasBytes(buffer, kMinColdBytes)
               : HasBytes(buffer, kMinFarBytes) && !StaysNear(buffer, index);
  }
  bool IsHeldBySecondLevel(const Buffer& buffer) const;
  // Of what the loads in `e` read, rows some steps ahead.
  void AskForRows(const Expr& e, bool is_sure, std::vector<Stmt>* out);
  void AskForRow(const LoadNode& load, bool is_sure, std::vector<Stmt>* out);
  int64_t SpanOf(const Buffer& buffer);
  bool ExistsOutside(const Buffer& buffer, const Expr& index) const;
  std::vector<Stmt>* OnceOr(const Buffer& buffer, const Expr& index,
                            std::vector<Stmt>* out);
  void AddLines(const Buffer& buffer, const Expr& index, int64_t bytes,
                int locality, std::vector<Stmt>* out) const;
  // Whether what `stmt` copies can be asked for by the work that follows it.
  std::optional<CopyAhead> FindCopyAhead(const Stmt& stmt) const;

  const Machine& machine_;
  const double bytes_;
  const Buffers& cold_;
  std::vector<const ForNode*> loops_;  // around this place, outermost first
  Stream stream_;
  Asked asked_for_;
  std::vector<CopyAhead> copies_;      // before this place
  const BufferNode* asked_ = nullptr;  // for before it is copied
};

// One prefetch for each line that the bytes from element `index` on touch, if
// they begin with one.
void Inserter::AddLines(const Buffer& buffer, const Expr& index, int64_t bytes,
                        int locality, std::vector<Stmt>* out) const {
  const int64_t each = buffer->dtype.bytes();
  const int64_t elements = std::max<int64_t>(1, machine_.line_bytes / each);
  for (int64_t at = 0; at * each < bytes; at += elements) {
    out->push_back(Prefetch(buffer, Plus(index, at), false, locality));
  }
}

// Outer variables first.
IndexNormalizer Inserter::NormalizerHere() const {
  IndexNormalizer normalizer;
  for (size_t i = 0; i < loops_.size(); ++i) {
    normalizer.SetDepth(loops_[i]->var.get(), static_cast<int>(i) + 1);
  }
  return normalizer;
}

void Inserter::Ask(const VectorGrid& grid, const PrefetchPlan& plan,
                   int locality, std::vector<Stmt>* out) const {
  if (plan.indices.empty()) return;
  IndexNormalizer normalizer = NormalizerHere();
  std::vector<Stmt> asks;
  AskedLines lines(machine_.line_bytes);
  for (const Expr& index : plan.indices) {
    const Expr first = normalizer.Run(index);
    if (!lines.Add(grid.buffer, first)) continue;
    AddLines(grid.buffer, first, grid.lanes * grid.buffer->dtype.bytes(),
             locality, &asks);
  }
  const Stmt all = MakeSeq(std::move(asks));
  const ForNode& loop = *stream_.loop;
  const Expr step = FloorMod(Sub(loop.var, loop.min), Int(plan.every));
  out->push_back(
      plan.every == 1 ? all : MakeIf(EQ(normalizer.Run(step), Int(0)), all));
}

void Inserter::AskAhead(absl::Span<const VectorGrid> grids,
                        std::vector<Stmt>* out) {
  const absl::Span<const ForNode* const> loops(loops_);
  for (const auto& [copy, around] : copies_) {
    Ask(copy.from,
        PlanNextCopy(copy, loops.first(around), loops.subspan(around)),
        kSecondLevel, out);
  }
  for (const VectorGrid& grid : grids) {
    if (!IsFar(grid.buffer, grid.first) || grid.buffer.get() == asked_ ||
        absl::c_linear_search(asked_for_.blocks, grid.buffer.get()) ||
        !ExistsOutside(grid.buffer, grid.first)) {
      continue;
    }
    PrefetchPlan plan = PlanNextBlock(grid, loops);
    if (!plan.indices.empty()) {
      asked_for_.blocks.push_back(grid.buffer.get());
    } else if (IsPanel(grid)) {
      plan = PlanNextPanel(grid, loops);
      if (!plan.indices.empty()) asked_for_.panels.push_back(grid.buffer.get());
    }
    Ask(grid, plan, kSecondLevel, out);
  }
}

// Rows that are read element by element, each for a tile of vectors. They wait
// in the second level where that holds all tensors of the function.
void Inserter::AskForScalars(const Stmt& body, std::vector<Stmt>* out) {
  const int64_t cycles = stream_.cycles * *AsInt(stream_.loop->extent);
  const int64_t ahead =
      std::clamp<int64_t>(kScalarCyclesAhead / cycles, 1, kMaxScalarsAhead);
  if (bytes_ < machine_.level(MemoryLevelId::kL2).bytes) return;
  for (VectorGrid grid : lower::FindScalarGrids(body)) {
    if (!IsLarge(grid.buffer) || !ExistsOutside(grid.buffer, grid.first))
      continue;
    const int64_t line = machine_.line_bytes / grid.buffer->dtype.bytes();
    const PrefetchPlan plan = PlanNextRows(grid, line, ahead, loops_);
    grid.lanes = static_cast<int>(line);
    const auto lines = static_cast<int64_t>(plan.indices.size());
    const int64_t bytes =
        lines * machine_.line_bytes * *AsInt(stream_.loop->extent) / plan.every;
    const bool is_near =
        bytes <= machine_.level(MemoryLevelId::kL1).bytes / kShareOfNearest;
    Ask(grid, plan, is_near ? kNearest : kSecondLevel, out);
  }
}

void Inserter::AskAlongRows(absl::Span<const VectorGrid> grids,
                            std::vector<Stmt>* out) {
  for (const VectorGrid& grid : grids) {
    const int64_t bytes = grid.buffer->dtype.bytes();
    if (IsHeldBySecondLevel(grid.buffer) ||
        StaysNear(grid.buffer, grid.first) ||
        !ExistsOutside(grid.buffer, grid.first)) {
      continue;
    }
    const auto streams =
        lower::FindRowStreams(grid, loops_, kRowAheadBytes / bytes);
    if (!streams) continue;
    asked_for_.blocks.push_back(grid.buffer.get());
    const Expr first = NormalizerHere().Run(streams->first);
    std::vector<Stmt> asks;
    for (int64_t row = 0; row < grid.rows; ++row) {
      AddLines(grid.buffer, Plus(first, row * grid.row_step),
               grid.columns * grid.lanes * bytes, kSecondLevel, &asks);
    }
    Stmt all = MakeSeq(std::move(asks));
    for (const ForNode* pass : streams->passes) {
      all = MakeIf(EQ(pass->var, pass->min), all);
    }
    out->push_back(std::move(all));
  }
}

bool Inserter::IsHeldBySecondLevel(const Buffer& buffer) const {
  return !HasBytes(buffer, machine_.level(MemoryLevelId::kL2).bytes);
}

bool Inserter::StaysNear(const Buffer& buffer, const Expr& index) const {
  return stream_.is_sum && stream_.uses_once && !IsCold(buffer) &&
         lower::ShareOfCore(bytes_, loops_, index, machine_.cores) <
             machine_.level(MemoryLevelId::kL2).bytes;
}

bool Inserter::IsPanel(const VectorGrid& grid) const {
  const int64_t bytes = *AsInt(stream_.loop->extent) * grid.count() *
                        grid.lanes * grid.buffer->dtype.bytes();
  return IsAskedForAhead(bytes);
}

// Whether both have a meaning at the beginning of an iteration.
bool Inserter::ExistsOutside(const Buffer& buffer, const Expr& index) const {
  return stream_.inside.count(buffer.get()) == 0 &&
         !UsesVar(index, [&](const VarNode* var) {
           return stream_.inside.count(var) != 0;
         });
}

// `is_sure`: whether what `e` reads is read wherever its statement runs.
void Inserter::AskForRows(const Expr& e, bool is_sure, std::vector<Stmt>* out) {
  if (!e->has_loads) return;
  if (const auto* load = e.As<LoadNode>()) AskForRow(*load, is_sure, out);
  if (const auto* let = e.As<LetNode>()) {
    return AskForRows(let->value, is_sure, out);
  }
  const auto* call = e.As<CallNode>();
  if (call && call->op == Intrinsic::kAddressOf) return;
  const bool chooses = (call && call->op == Intrinsic::kIfThenElse) ||
                       e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr;
  bool is_first = true;
  ForEachOperand(e, [&](const Expr& operand) {
    AskForRows(operand, is_sure && (!chooses || is_first), out);
    is_first = false;
  });
}

void Inserter::AskForRow(const LoadNode& load, bool is_sure,
                         std::vector<Stmt>* out) {
  const Buffer& buffer = load.buffer;
  const Expr index = ContiguousBase(load.indices[0]);
  if (!index || !IsLarge(buffer) || buffer.get() == asked_ ||
      absl::c_linear_search(asked_for_.blocks, buffer.get()) ||
      (!is_sure && lower::MayTrap(index))) {
    return;
  }
  if (!asked_for_.lines.Add(buffer, index)) return;
  const int64_t bytes = buffer->dtype.bytes();
  const int64_t step = ToLinear(index).Coefficient(stream_.loop->var.get());
  const bool is_dot =
      stream_.bytes == bytes * step &&
      HasBytes(buffer, machine_.level(MemoryLevelId::kL3).bytes);
  const int64_t least = is_dot ? kMinDotBytes : kMinStrideBytes;
  if (step == SpanOf(buffer) && bytes * step >= least) {
    if (!stream_.is_sum || IsHeldBySecondLevel(buffer) ||
        absl::c_linear_search(asked_for_.panels, buffer.get())) {
      return;
    }
    AddLines(buffer, Plus(index, kStreamAheadBytes / bytes), load.dtype.bytes(),
             kSecondLevel, OnceOr(buffer, index, out));
    return;
  }
  if (stream_.is_short || bytes * step <= kMinStrideBytes ||
      step <= SpanOf(buffer)) {
    return;
  }
  if (StaysNear(buffer, index)) return;
  const bool is_held = stream_.ahead <= RowsHeld(machine_, bytes * step);
  const bool comes = !IsFar(buffer, index) ||
                     absl::c_linear_search(asked_for_.panels, buffer.get());
  if (!is_held && comes) return;
  AddLines(buffer, Plus(index, step * stream_.ahead), load.dtype.bytes(),
           is_held ? kNearest : kSecondLevel, out);
}

// Where passes follow that find a panel in the second level, the list of what
// the first one alone asks for; else `out`.
std::vector<Stmt>* Inserter::OnceOr(const Buffer& buffer, const Expr& index,
                                    std::vector<Stmt>* out) {
  const lower::Passes passes = lower::PassesOver(index, loops_);
  const int64_t panel = passes.steps * SpanOf(buffer) * buffer->dtype.bytes();
  if (!passes.is_first || !ExistsOutside(buffer, index) ||
      panel > UsableBytes(machine_, MemoryLevelId::kL2)) {
    return out;
  }
  for (auto& [condition, asks] : asked_for_.once) {
    if (SameExpr(condition, passes.is_first)) return &asks;
  }
  asked_for_.once.emplace_back(passes.is_first, std::vector<Stmt>());
  return &asked_for_.once.back().second;
}

int64_t Inserter::SpanOf(const Buffer& buffer) {
  for (const auto& [known, span] : asked_for_.spans) {
    if (known == buffer.get()) return span;
  }
  const int64_t span = lower::VectorSpan(stream_.loop->body, buffer);
  asked_for_.spans.emplace_back(buffer.get(), span);
  return span;
}

std::optional<CopyAhead> Inserter::FindCopyAhead(const Stmt& stmt) const {
  std::optional<lower::VectorCopy> copy = lower::FindVectorCopy(stmt);
  if (!copy || !IsFar(copy->from.buffer, copy->from.first) || loops_.empty())
    return std::nullopt;
  return CopyAhead{*std::move(copy), loops_.size()};
}

Stmt Inserter::RunInSeq(const Stmt& stmt, bool is_last) {
  std::optional<CopyAhead> copy;
  if (!is_last) copy = FindCopyAhead(stmt);
  if (!copy) return Run(stmt);
  asked_ = copy->copy.from.buffer.get();
  Stmt result = Run(stmt);
  asked_ = nullptr;
  copies_.push_back(*std::move(copy));
  return result;
}

// Of what goes to or comes from buffers of `least_bytes`.
void Inserter::AskForLines(absl::Span<const LateAccess> accesses,
                           int64_t least_bytes, std::vector<Stmt>* out) const {
  AskedLines lines(machine_.line_bytes);
  for (const LateAccess& access : accesses) {
    if (!HasBytes(access.buffer, least_bytes) || lower::MayTrap(access.first) ||
        !lines.Add(access.buffer, access.first)) {
      continue;
    }
    out->push_back(Prefetch(access.buffer, access.first, access.writes,
                            access.writes ? kNearest : kSecondLevel));
  }
}

void Inserter::AskForEpilogue(const SeqNode& seq, size_t nest,
                              std::vector<Stmt>* out) const {
  const Stmt& work = seq.stmts[nest];
  if (!work.As<ForNode>() || loops_.empty() ||
      lower::BytesStored(work) < BytesOfMinSum()) {
    return;
  }
  AskForLines(lower::AccessesAfter(seq, nest), kMinBufferBytes, out);
}

// The tiles of `seq` whose results' lines are asked for before their work.
std::vector<RaggedStores> Inserter::TilesOf(const SeqNode& seq) const {
  if (machine_.vectors.bytes < machine_.line_bytes) return {};
  return lower::FindRaggedStores(
      seq, machine_.line_bytes, BytesOfMinSum(), [&](const Buffer& buffer) {
        return HasBytes(buffer, machine_.level(MemoryLevelId::kL1).bytes / 2);
      });
}

Stmt Inserter::RunSeq(const Stmt& s, const SeqNode& seq) {
  const size_t copies = copies_.size();
  const std::vector<RaggedStores> tiles = TilesOf(seq);
  auto tile = tiles.begin();
  std::vector<Stmt> stmts;
  bool changed = false;
  for (size_t i = 0; i < seq.stmts.size(); ++i) {
    for (; tile != tiles.end() && tile->work == i; ++tile) {
      AskForLines(tile->stores, 0, &stmts);
    }
    AskForEpilogue(seq, i, &stmts);
    stmts.push_back(RunInSeq(seq.stmts[i], i + 1 == seq.stmts.size()));
    changed |= stmts.back() != seq.stmts[i];
  }
  copies_.erase(copies_.begin() + copies, copies_.end());
  changed |= stmts.size() > seq.stmts.size();
  return changed ? MakeSeq(std::move(stmts)) : s;
}

// What runs in a parallel loop is a thread's own.
Stmt Inserter::RunFor(const Stmt& s, const ForNode& loop) {
  if (IsMarked(loop, kTileProduct)) return s;
  if (loop.for_kind == ForKind::kParallel && !loops_.empty()) {
    return Inserter(machine_, bytes_, cold_).Run(s);
  }
  loops_.push_back(&loop);
  stream_ = lower::StreamOf(loop, machine_);
  asked_for_ = Asked(machine_);
  std::vector<Stmt> ahead;
  const bool is_sum = lower::IsInnermostSum(loop.body);
  const bool is_long = stream_.loop && !stream_.is_short;
  std::vector<VectorGrid> grids;
  if (is_sum || is_long) grids = lower::FindVectorGrids(loop.body);
  if (is_sum) AskAlongRows(grids, &ahead);
  if (is_long) AskAhead(grids, &ahead);
  if (stream_.cycles >= kMinScalarCycles) AskForScalars(loop.body, &ahead);
  Stmt body = Run(loop.body);
  for (auto& [condition, asks] : asked_for_.once) {
    ahead.push_back(MakeIf(condition, MakeSeq(std::move(asks))));
  }
  stream_ = Stream();
  asked_for_ = Asked(machine_);
  loops_.pop_back();
  if (ahead.empty() && body == loop.body) return s;
  ahead.push_back(std::move(body));
  return WithBody(loop, MakeSeq(std::move(ahead)));
}

Stmt Inserter::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return RunFor(s, *loop);
  if (const auto* seq = s.As<SeqNode>()) return RunSeq(s, *seq);
  std::vector<Stmt> stmts;
  if (stream_.loop) {
    ForEachExpr(s, [&](const Expr& e) { AskForRows(e, true, &stmts); });
  }
  Stmt own = MapChildren(s, [&](const Stmt& child) { return Run(child); });
  if (stmts.empty()) return own;
  stmts.push_back(std::move(own));
  return MakeSeq(std::move(stmts));
}

}  // namespace

absl::StatusOr<Function> InsertPrefetches(Function f, const Machine& machine) {
  Buffers cold;
  for (const int param : ColdParams(f)) {
    cold.insert(f.params[param].buffer.get());
  }
  Stmt body = Inserter(machine, lower::TensorBytes(f), cold).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
