// A register tile needs a nest around one store; a sequence of statements hides
// the loop around it from the tile. Here 8 accumulators are all that `c`
// offers, and 4 * 8 once the update has `i` to itself:
//
//   for i in 4:                                 t[32]
//     t[8]                                      for i in 4, c in 8:
//     for c in 8: t[c] = 0                        t[c + i*8] = 0
//     for k in 64, c in 8:                →     for i in 4, k in 64, c in 8:
//       t[c] += A[i*64 + k] * B[k*8 + c]          t[c + i*8] += ...
//     for c in 8: C[i*8 + c] = t[c]             for i in 4, c in 8:
//                                                 C[i*8 + c] = t[c + i*8]
//
// Where no iteration touches what another one writes, only the order within
// each iteration counts, and that stays. What the iterations kept in one
// buffer, one after the other, needs a copy for each of them now: the whole
// buffers one after the other, as here, or interleaved row by row where that
// suits the tile better. The estimate of cycles (choose_tile.h) decides between
// the two, and whether either gains enough.
#include "kiln/codegen/lower/auto/distribute_loops.h"

#include <limits>
#include <unordered_map>

#include "kiln/codegen/lower/auto/choose_tile.h"
#include "kiln/codegen/lower/auto/nest.h"
#include "kiln/codegen/lower/vector/lane_independence.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::Nest;

constexpr int64_t kMaxExtent = 64;
// Of the estimated cycles: what a distribution has to leave at most.
constexpr double kWorthwhile = 0.8;

using Extents = std::unordered_map<const VarNode*, int64_t>;

// The extents of the loops in `s` that go from 0 to a constant.
Extents ExtentsIn(const Stmt& s) {
  Extents extents;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    const int64_t* extent = loop ? AsInt(loop->extent) : nullptr;
    if (extent && IsZero(loop->min)) extents[loop->var.get()] = *extent;
    return true;
  });
  return extents;
}

// Where element `index` of a buffer goes when there are `copies` of it, rows of
// `row` elements side by side; null when a row's end is not seen in the index.
Expr Spread(const Expr& index, const Expr& copy, int64_t copies, int64_t row,
            const Extents& extents) {
  const Linear form = ToLinear(index);
  Linear out;
  int64_t reach = 0;
  for (const Term& term : form.terms) {
    const bool is_row = term.coefficient % row == 0;
    Linear scaled;
    scaled.Add(term.atom, term.coefficient);
    out.Add(scaled, is_row ? copies : 1);
    if (is_row) continue;
    auto extent = extents.find(term.atom.As<VarNode>());
    if (extent == extents.end() || term.coefficient < 0) return nullptr;
    reach += term.coefficient * (extent->second - 1);
  }
  const int64_t rest = ((form.constant % row) + row) % row;
  if (reach + rest >= row) return nullptr;
  out.constant = (form.constant - rest) * copies + rest;
  return Add(IndexNormalizer().Build(out), Mul(copy, Int(row)));
}

bool LoadsFromAny(const Expr& e, const BufferMap& buffers) {
  bool found = false;
  Visit(e, [&](const Expr& x) {
    const auto* load = x.As<LoadNode>();
    found |= load && buffers.count(load->buffer.get());
    return !found;
  });
  return found;
}

// A loop around allocations around a sequence.
struct Candidate {
  const ForNode* loop = nullptr;
  int64_t extent = 0;
  std::vector<const AllocateNode*> allocations;  // outermost first
  const SeqNode* seq = nullptr;
};

std::optional<Candidate> AsCandidate(const Stmt& s) {
  Candidate c;
  c.loop = s.As<ForNode>();
  if (!c.loop || (c.loop->for_kind != ForKind::kSerial &&
                  c.loop->for_kind != ForKind::kUnrolled)) {
    return std::nullopt;
  }
  const int64_t* extent = AsInt(c.loop->extent);
  if (!extent || *extent < 2 || *extent > kMaxExtent || !IsZero(c.loop->min)) {
    return std::nullopt;
  }
  c.extent = *extent;
  const Stmt* at = &c.loop->body;
  while (const auto* node = at->As<AllocateNode>()) {
    const bool is_flat = node->buffer->shape.size() == 1 &&
                         AsInt(node->buffer->shape[0]) && !node->is_view &&
                         !node->buffer->data;
    if (!is_flat) return std::nullopt;
    c.allocations.push_back(node);
    at = &node->body;
  }
  c.seq = at->As<SeqNode>();
  if (!c.seq) return std::nullopt;
  return c;
}

class Distributor {
 public:
  Distributor(Function* f, const Machine& machine) : f_(f), machine_(machine) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt Distribute(const Candidate& c);
  const Stmt* FindUpdate(const Candidate& c, double* cycles) const;
  std::optional<BufferMap> Copies(const Candidate& c) const;
  Stmt Spread(const Candidate& c, const Stmt& part, const BufferMap& copies,
              int64_t row) const;
  Stmt AloneInLoop(const Candidate& c, const Stmt& part) const;
  double CyclesOf(const Stmt& s) const;

  Function* f_;
  const Machine& machine_;
};

double Distributor::CyclesOf(const Stmt& s) const {
  const std::optional<Nest> nest = lower::FindNest(s);
  if (!nest || !nest->is_update) return std::numeric_limits<double>::infinity();
  return lower::EstimateCycles(*nest, machine_);
}

// The update that costs most, and its cycles; null when there is none.
const Stmt* Distributor::FindUpdate(const Candidate& c, double* cycles) const {
  const Stmt* update = nullptr;
  *cycles = 0;
  for (const Stmt& part : c.seq->stmts) {
    const std::optional<Nest> nest = lower::FindNest(part);
    if (!nest || !nest->is_update) continue;
    const double own = lower::EstimateCycles(*nest, machine_);
    if (update && own <= *cycles) continue;
    update = &part;
    *cycles = own;
  }
  return update;
}

// What holds the copies of the buffers that `c` allocates; nullopt when they
// take too much.
std::optional<BufferMap> Distributor::Copies(const Candidate& c) const {
  BufferMap copies;
  int64_t bytes = 0;
  for (const AllocateNode* node : c.allocations) {
    const int64_t elements = *AsInt(node->buffer->shape[0]) * c.extent;
    bytes += elements * node->buffer->dtype.bytes();
    copies[node->buffer.get()] = EditBuffer(
        node->buffer, [&](BufferNode& b) { b.shape = {Int(elements)}; });
  }
  if (bytes > kMaxExpandedBytes) return std::nullopt;
  return copies;
}

// `part` with accesses to the copies; null when rows of `row` elements do not
// suit one of them.
Stmt Distributor::Spread(const Candidate& c, const Stmt& part,
                         const BufferMap& copies, int64_t row) const {
  if (copies.empty()) return part;
  const Extents extents = ExtentsIn(part);
  bool is_possible = true;
  auto spread = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    const int64_t size = *AsInt(buffer->shape[0]);
    const int64_t width = row == 0 ? size : row;
    // A buffer that is no number of rows has no place for the copies' rows.
    const bool is_rows =
        indices[0].dtype() == DType::Index() && size % width == 0;
    Expr index = is_rows ? kiln::Spread(indices[0], c.loop->var, c.extent,
                                        width, extents)
                         : Expr();
    is_possible &= index.get() != nullptr && !LoadsFromAny(indices[0], copies);
    return index ? index : indices[0];
  };
  auto map = [&](const Expr& e) -> Expr {
    const auto* load = e.As<LoadNode>();
    auto found = load ? copies.find(load->buffer.get()) : copies.end();
    if (found == copies.end()) return nullptr;
    return Load(found->second, {spread(load->buffer, load->indices)});
  };
  Stmt mapped = RewriteExprs(part, map);
  mapped = Rewrite(mapped, [&](const Stmt& s) -> Stmt {
    const auto* store = s.As<StoreNode>();
    auto found = store ? copies.find(store->buffer.get()) : copies.end();
    if (found == copies.end()) return nullptr;
    return MakeStore(found->second, store->value,
                     {spread(store->buffer, store->indices)});
  });
  return is_possible ? mapped : Stmt();
}

Stmt Distributor::AloneInLoop(const Candidate& c, const Stmt& part) const {
  ForFields fields = c.loop->fields();
  fields.id = f_->NewId();
  fields.var = Var(c.loop->var.name());
  fields.body = Substitute(part, {{c.loop->var.get(), fields.var}});
  return MakeFor(std::move(fields));
}

// Null when it is not possible or not worthwhile.
Stmt Distributor::Distribute(const Candidate& c) {
  double before;
  const Stmt* update = FindUpdate(c, &before);
  const double ideal = 0.5 / static_cast<double>(machine_.vectors.bytes);
  if (!update || before < ideal * 4 / kWorthwhile) return nullptr;
  const std::optional<BufferMap> copies = Copies(c);
  if (!copies) return nullptr;
  const int64_t row = lower::ConsecutiveElements(*lower::FindNest(*update));
  double best = kWorthwhile * before;
  int64_t best_row = -1;
  for (int64_t r : {row, int64_t{0}}) {
    const Stmt alone = Spread(c, *update, *copies, r);
    const double cycles = alone ? CyclesOf(AloneInLoop(c, alone)) : before;
    if (cycles >= best) continue;
    best = cycles;
    best_row = r;
  }
  if (best_row < 0 || !lower::IterationsAreIndependent(*c.loop)) return nullptr;
  std::vector<Stmt> parts;
  for (const Stmt& part : c.seq->stmts) {
    const Stmt spread = Spread(c, part, *copies, best_row);
    if (!spread) return nullptr;
    parts.push_back(AloneInLoop(c, spread));
  }
  Stmt all = MakeSeq(std::move(parts));
  for (size_t i = c.allocations.size(); i-- > 0;) {
    const AllocateNode* node = c.allocations[i];
    all = MakeAllocate(copies->at(node->buffer.get()), all, false,
                       node->annotations);
  }
  return all;
}

Stmt Distributor::Run(const Stmt& s) {
  const Stmt below =
      MapChildren(s, [&](const Stmt& child) { return Run(child); });
  const std::optional<Candidate> candidate = AsCandidate(below);
  const Stmt apart = candidate ? Distribute(*candidate) : Stmt();
  return apart ? apart : below;
}

}  // namespace

absl::StatusOr<Function> DistributeLoops(Function f, const Machine& machine) {
  Stmt body = Distributor(&f, machine).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
