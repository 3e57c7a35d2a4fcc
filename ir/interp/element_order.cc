// An element that is computed when it is asked for has its last value. That is
// the value that a reader sees in a whole run, too, where every write of the
// element comes before the read:
//
//   for i: B[i] = A[i]           # all of B, then C
//   for i: C[i] = B[i] + B[n-i]
//
//   for i:                       # B[i] in the same iteration as its read
//     B[i] = A[i]
//     C[i] = B[i]
//
// A store may read what it writes (C[i] = C[i] + A[k]): all stores into an
// element run in their order when it is asked for.
#include "kiln/ir/interp/element_order.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::interp_internal {

std::vector<Expr> Resolve(const std::vector<Expr>& list, const VarMap& bound) {
  std::vector<Expr> resolved;
  for (const Expr& e : list) resolved.push_back(Substitute(e, bound));
  return resolved;
}

void AddBindings(const BlockRealizeNode& realize, VarMap& bound) {
  const std::vector<Expr> values = Resolve(realize.values, bound);
  for (size_t i = 0; i < values.size(); ++i) {
    bound[realize.block->iters[i].var.get()] = values[i];
  }
}

namespace {

// A step from the root to a statement: into a loop, or to a place in a row of
// statements.
struct Step {
  const ForNode* loop;
  int place;
};

struct Access {
  Buffer buffer;
  std::vector<Expr> indices;  // over loop variables
  std::vector<Step> path;
  bool own = false;  // of a read: by a store into the very element
};

absl::Status Cannot(const std::string& why) {
  return absl::UnimplementedError(
      absl::StrCat("no element can be computed alone: ", why));
}

class Accesses {
 public:
  absl::Status Add(const Stmt& s) {
    KILN_RETURN_IF_ERROR(AddHere(s));
    switch (s.kind()) {
      case StmtKind::kFor: {
        const auto* loop = s.As<ForNode>();
        if (loop->for_kind == ForKind::kThreadBinding) {
          return Cannot("a loop is bound to " + loop->thread_tag);
        }
        return AddAt({loop, 0}, loop->body);
      }
      case StmtKind::kBlockRealize:
        return AddBlock(*s.As<BlockRealizeNode>());
      case StmtKind::kAllocate:
        return Cannot("buffer " + s.As<AllocateNode>()->buffer->name +
                      " is allocated in the body");
      case StmtKind::kSeq:
      case StmtKind::kIf:
      case StmtKind::kLet:
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        break;
    }
    int place = 0;
    absl::Status status;
    ForEachChild(s, [&](const Stmt& child) {
      if (status.ok()) status = AddAt({nullptr, ++place}, child);
    });
    return status;
  }

  const std::vector<Access>& reads() const { return reads_; }
  const std::vector<Access>& writes() const { return writes_; }

 private:
  absl::Status AddAt(Step step, const Stmt& s) {
    path_.push_back(step);
    const absl::Status status = Add(s);
    path_.pop_back();
    return status;
  }

  absl::Status AddBlock(const BlockRealizeNode& realize) {
    const BlockNode& block = *realize.block;
    if (!block.match_buffers.empty()) {
      return Cannot("block " + block.name + " matches buffers");
    }
    if (!block.alloc_buffers.empty() && !path_.empty()) {
      return Cannot("block " + block.name + " allocates buffers");
    }
    AddBindings(realize, bound_);
    if (block.init) KILN_RETURN_IF_ERROR(AddAt({nullptr, 1}, block.init));
    return AddAt({nullptr, 2}, block.body);
  }

  // The reads and the write of `s` itself.
  absl::Status AddHere(const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    std::vector<Expr> written;
    if (store) {
      written = Resolve(store->indices, bound_);
      if (store->value.dtype().lanes() > 1) return Cannot("vectors are stored");
      writes_.push_back({store->buffer, written, path_});
    }
    absl::Status status;
    ForEachValue(s, [&](const Expr& value) {
      Visit(value, [&](const Expr& e) {
        if (const auto* load = e.As<LoadNode>()) {
          AddRead(*load, store, written);
        } else if (const auto* call = e.As<CallNode>()) {
          if (GetIntrinsicInfo(call->op).purity != Purity::kPure) {
            status = Cannot("it calls " +
                            std::string(GetIntrinsicInfo(call->op).name));
          }
        }
        return true;
      });
    });
    return status;
  }

  // Regions of blocks say nothing that their bodies do not.
  void ForEachValue(const Stmt& s, FunctionRef<void(const Expr&)> use) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return ForEachExpr(s, use);
    for (const Expr& value : realize->values) use(value);
    use(realize->predicate);
  }

  void AddRead(const LoadNode& load, const StoreNode* store,
               const std::vector<Expr>& written) {
    Access read{load.buffer, Resolve(load.indices, bound_), path_};
    if (store && store->buffer == load.buffer) {
      Analyzer analyzer;
      read.own = true;
      for (size_t d = 0; d < written.size(); ++d) {
        read.own &= analyzer.CanProveEqual(written[d], read.indices[d]);
      }
    }
    reads_.push_back(std::move(read));
  }

  std::vector<Step> path_;
  VarMap bound_;
  std::vector<Access> reads_, writes_;
};

// Whether some dimension of both is the variable of `loop` itself.
bool BothFollow(const ForNode& loop, const Access& a, const Access& b) {
  if (IsOne(loop.extent)) return true;
  for (size_t d = 0; d < a.indices.size(); ++d) {
    if (a.indices[d] == loop.var && b.indices[d] == loop.var) return true;
  }
  return false;
}

bool ComesBefore(const Access& write, const Access& read) {
  const size_t common = std::min(write.path.size(), read.path.size());
  for (size_t i = 0; i < common; ++i) {
    const Step &a = write.path[i], &b = read.path[i];
    if (a.loop != b.loop || a.place != b.place) return a.place < b.place;
    if (a.loop && !BothFollow(*a.loop, write, read)) return false;
  }
  return false;
}

}  // namespace

absl::Status CheckElementsAlone(const Function& f) {
  for (const Param& param : f.params) {
    if (!param.buffer) return Cannot("it has the scalar " + param.var.name());
    if (param.buffer->data || param.buffer->elem_offset ||
        !param.buffer->strides.empty() || param.buffer->dtype.lanes() > 1) {
      return Cannot("parameter " + param.buffer->name + " is a view");
    }
  }
  if (!SymbolicDims(f).empty()) {
    return Cannot(SymbolicDims(f)[0].name() + " is known at the call only");
  }
  Accesses accesses;
  KILN_RETURN_IF_ERROR(accesses.Add(f.body));
  for (const Access& read : accesses.reads()) {
    for (const Access& write : accesses.writes()) {
      if (read.own || read.buffer != write.buffer) continue;
      if (!ComesBefore(write, read)) {
        return Cannot("buffer " + read.buffer->name +
                      " may be read before it is written for the last time");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln::interp_internal
