// Independent iterations may run in lockstep, statement by statement. So each
// statement is made a vector statement for itself, and one that has no such
// form is a serial loop over the lanes in its place, while its neighbours stay
// vectors:
//
//   for v in vectorized(8):                C[0:8] = A[0:8]
//     C[v] = A[v]                    →     for v in 8:
//     if v < n: D[v] = A[v]                  if v < n: D[v] = A[v]
//
// Not so within a Let or an allocation with a value for each lane: its scope is
// vectors throughout, or the whole of it is serial. 200 iterations are a loop
// of 3 vectors of 64, and one of 8.
#include "kiln/codegen/lower/vector/vectorize_loops.h"

#include <algorithm>
#include <cstddef>

#include "kiln/codegen/lower/vector/lane_independence.h"
#include "kiln/codegen/lower/vector/near_lanes.h"
#include "kiln/codegen/lower/vector/vector_expr.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::LaneMapper;

// Vector forms of the statements of one loop.
class StmtVectorizer {
 public:
  StmtVectorizer(LaneMapper mapper, Function* f)
      : mapper_(std::move(mapper)), f_(f) {}

  // The vector form of what the loop or a branch inside it holds. Null when
  // there is none and it stands inside a scope that was made wide, so that no
  // part of the scope can be serial.
  Stmt RunInside(const Stmt& body);

 private:
  Stmt Run(const Stmt& s);
  Stmt RunStore(const Stmt& s);
  Stmt RunFor(const Stmt& s);
  Stmt RunLet(const Stmt& s);
  Stmt RunAllocate(const Stmt& s);
  Stmt RunIf(const Stmt& s);
  Stmt RunSeq(const SeqNode& seq);
  Stmt Serial(const Stmt& s);

  LaneMapper mapper_;
  Function* f_;
  int wide_scopes_ = 0;
};

// One lane after the other.
Stmt StmtVectorizer::Serial(const Stmt& s) {
  if (wide_scopes_ > 0) return nullptr;
  const Var lane(mapper_.lane().name());
  Expr min = mapper_.min();
  const Expr value = IsZero(min) ? Expr(lane) : Add(min, lane);
  return MakeFor(f_->NewId(), lane, Int(mapper_.lanes()),
                 Substitute(s, {{mapper_.lane().get(), value}}));
}

Stmt StmtVectorizer::RunStore(const Stmt& s) {
  const auto* store = s.As<StoreNode>();
  Expr value = mapper_.Map(store->value);
  auto [buffer, index] = mapper_.MapAccess(store->buffer, store->indices[0]);
  if (!value || !index || !store->buffer->dtype.is_scalar()) return Serial(s);
  if (index.dtype().is_scalar()) {
    return value.dtype().is_scalar() ? s : Serial(s);
  }
  if (value.dtype().is_scalar()) value = Broadcast(value, mapper_.lanes());
  return MakeStore(buffer, value, {index});
}

Stmt StmtVectorizer::RunFor(const Stmt& s) {
  const auto* loop = s.As<ForNode>();
  if (mapper_.DependsOnLane(loop->min) || mapper_.DependsOnLane(loop->extent)) {
    return Serial(s);
  }
  ForFields fields = loop->fields();
  fields.body = RunInside(loop->body);
  if (!fields.body) return nullptr;
  if (fields.for_kind == ForKind::kParallel) {
    fields.for_kind = ForKind::kSerial;
  }
  return MakeFor(std::move(fields));
}

Stmt StmtVectorizer::RunLet(const Stmt& s) {
  const auto* let = s.As<LetStmtNode>();
  Expr value = mapper_.Map(let->value);
  if (!value) return Serial(s);
  if (value.dtype().is_scalar()) {
    Stmt body = Run(let->body);
    return body ? MakeLet(let->var, value, body) : nullptr;
  }
  const Var wide = mapper_.Widen(let->var);
  ++wide_scopes_;
  Stmt body = Run(let->body);
  --wide_scopes_;
  mapper_.Forget(let->var);
  return body ? MakeLet(wide, value, body) : Serial(s);
}

Stmt StmtVectorizer::RunAllocate(const Stmt& s) {
  const auto* node = s.As<AllocateNode>();
  if (node->is_view || node->buffer->data) return Serial(s);
  const Buffer wide = EditBuffer(node->buffer, [&](BufferNode& b) {
    b.shape = {Mul(b.shape[0], Int(mapper_.lanes()))};
  });
  mapper_.WidenBuffer(node->buffer.get(), wide);
  ++wide_scopes_;
  Stmt body = Run(node->body);
  --wide_scopes_;
  return body ? MakeAllocate(wide, body, false, node->annotations) : Serial(s);
}

Stmt StmtVectorizer::RunIf(const Stmt& s) {
  const auto* node = s.As<IfNode>();
  if (mapper_.DependsOnLane(node->condition)) return Serial(s);
  Stmt yes = RunInside(node->then_case);
  Stmt no = node->else_case ? RunInside(node->else_case) : Stmt();
  if (!yes || (node->else_case && !no)) return nullptr;
  return MakeIf(node->condition, yes, no);
}

Stmt StmtVectorizer::RunSeq(const SeqNode& seq) {
  std::vector<Stmt> stmts;
  for (const Stmt& child : seq.stmts) {
    stmts.push_back(Run(child));
    if (!stmts.back()) return nullptr;
  }
  return MakeSeq(std::move(stmts));
}

Stmt StmtVectorizer::RunInside(const Stmt& body) {
  const size_t outside = mapper_.sure_loads().size();
  mapper_.sure_loads().Add(body);
  Stmt result = Run(body);
  mapper_.sure_loads().Shrink(outside);
  return result;
}

Stmt StmtVectorizer::Run(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return RunFor(s);
    case StmtKind::kSeq:
      return RunSeq(*s.As<SeqNode>());
    case StmtKind::kStore:
      return RunStore(s);
    case StmtKind::kIf:
      return RunIf(s);
    case StmtKind::kLet:
      return RunLet(s);
    case StmtKind::kAllocate:
      return RunAllocate(s);
    case StmtKind::kEvaluate:
      return AsInt(s.As<EvaluateNode>()->value) ? s : Serial(s);
    case StmtKind::kBlockRealize:
      return Serial(s);
  }
  return Serial(s);
}

class Vectorizer {
 public:
  Vectorizer(Function* f, int least_masked_bits)
      : f_(f), least_masked_bits_(least_masked_bits) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt RunVectorized(const ForNode& loop);
  Stmt Lanes(const ForNode& loop, const Expr& min, int64_t lanes);
  Stmt Chunks(const ForNode& loop, int64_t extent);
  static bool HoldsVectorized(const Stmt& s);

  Function* f_;
  const int least_masked_bits_;
};

bool Vectorizer::HoldsVectorized(const Stmt& s) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    found |=
        loop && loop->for_kind == ForKind::kVectorized && !IsOne(loop->extent);
    return !found;
  });
  return found;
}

Stmt WithKind(const ForNode& loop, ForKind kind) {
  ForFields fields = loop.fields();
  fields.for_kind = kind;
  return MakeFor(std::move(fields));
}

bool HoldsBf16(const Stmt& s) {
  bool found = false;
  VisitExprs(s, [&](const Expr& e) {
    found = found || e.dtype().code() == TypeCode::kBFloat;
    return !found;
  });
  return found;
}

// LLVM 19 ends the process over vectors of bfloat16 of 9, 17, ... lanes ("Do
// not know how to soft promote this operator's operand!"): those that are no
// power of two are made of several that are.
Stmt Vectorizer::Lanes(const ForNode& loop, const Expr& min, int64_t lanes) {
  if (lanes == 1) return Substitute(loop.body, {{loop.var.get(), min}});
  if ((lanes & (lanes - 1)) != 0 && HoldsBf16(loop.body)) {
    int64_t first = 1;
    while (first * 2 <= lanes) first *= 2;
    return MakeSeq({Lanes(loop, min, first),
                    Lanes(loop, Add(min, Int(first)), lanes - first)});
  }
  LaneMapper mapper(loop.var, min, static_cast<int>(lanes), least_masked_bits_);
  return StmtVectorizer(std::move(mapper), f_).RunInside(loop.body);
}

// A loop of long vectors, unrolled, and a vector of the remaining lanes.
Stmt Vectorizer::Chunks(const ForNode& loop, int64_t extent) {
  const int64_t chunks = extent / kMaxLanes, rest = extent % kMaxLanes;
  const Var chunk(loop.var.name() + "_chunk");
  const Expr first = Add(loop.min, Mul(chunk, Int(kMaxLanes)));
  std::vector<Stmt> parts;
  parts.push_back(MakeFor(f_->NewId(), chunk, Int(chunks),
                          Lanes(loop, first, kMaxLanes), ForKind::kUnrolled));
  if (rest > 0) {
    const Expr start = Add(loop.min, Int(chunks * kMaxLanes));
    parts.push_back(Lanes(loop, start, rest));
  }
  return MakeSeq(std::move(parts));
}

Stmt Vectorizer::RunVectorized(const ForNode& loop) {
  const int64_t* extent = AsInt(loop.extent);
  if (!extent) return WithKind(loop, ForKind::kSerial);
  if (*extent <= 0) return MakeEvaluate(Int(0));
  if (*extent == 1) return Lanes(loop, loop.min, 1);
  if (!lower::IterationsAreIndependent(loop)) {
    return WithKind(loop, ForKind::kSerial);
  }
  if (*extent > kMaxLanes) return Chunks(loop, *extent);
  return Lanes(loop, loop.min, *extent);
}

Stmt Vectorizer::Run(const Stmt& s) {
  const auto* loop = s.As<ForNode>();
  if (!loop || loop->for_kind != ForKind::kVectorized) {
    return MapChildren(s, [&](const Stmt& child) { return Run(child); });
  }
  if (!HoldsVectorized(loop->body)) return RunVectorized(*loop);
  ForFields fields = loop->fields();
  fields.body = Run(loop->body);
  const bool is_constant = AsInt(loop->extent) != nullptr;
  fields.for_kind = is_constant ? ForKind::kUnrolled : ForKind::kSerial;
  return MakeFor(std::move(fields));
}

}  // namespace

absl::StatusOr<Function> VectorizeLoops(Function f, const Machine& machine) {
  const int least =
      std::min(lower::kLeastMaskedBits, machine.vectors.least_masked_bits);
  Stmt body = Vectorizer(&f, least).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
