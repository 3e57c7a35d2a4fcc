// A clock counts statements in the order of the program, and the lifetime of a
// workspace goes from the first statement that uses it to the last one. Used
// inside of a loop that stands within its allocation, it lives as long as that
// loop, since the next iteration comes back to it. Workspaces are then given
// slots in the order in which their lives begin, each the first slot that is
// free:
//
//   T[1048576]: for j: T[j] = ...           T[1048576]:
//               for j: C[j] = ... T         for j: T[j] = ...
//   U[524288]:  for j: U[j] = ...     →     for j: C[j] = ... T
//               for j: D[j] = ... U         for j: T[j] = ...
//                                           for j: D[j] = ... T
//
// A slot is as large as its largest workspace. First fit in this order is not
// always least, but takes one pass. Iterations of a parallel loop run at the
// same time, so its body plans for itself.
#include "kiln/codegen/lower/storage/plan_storage.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// A workspace that moves to the start of its region.
struct Workspace {
  Buffer buffer;
  size_t loops;                   // around its allocation
  int64_t first = -1, last = -1;  // the lifetime, in statements
};

// The function, the body of a parallel loop, or a branch outside of the loops
// of a region: calls that do not take it need none of its workspaces.
struct Region {
  size_t loops;  // around it
  std::vector<Workspace> workspaces;
  std::unordered_set<const VarNode*> bound;  // variables bound inside
};

// A loop that is being walked, and the workspaces from outside that it uses.
struct OpenLoop {
  int64_t first;
  std::vector<std::pair<size_t, size_t>> uses;  // region, workspace
};

struct Slot {
  Buffer buffer;
  int64_t last;
};

// The bytes of a constant allocation; -1 for others.
int64_t BytesOf(const Buffer& buffer) {
  const int64_t* extent = AsInt(buffer->shape[0]);
  int64_t bytes;
  if (!extent ||
      __builtin_mul_overflow(*extent, buffer->dtype.bytes(), &bytes)) {
    return -1;
  }
  return bytes;
}

Buffer WithScope(const Buffer& buffer, std::string scope) {
  return EditBuffer(buffer, [&](BufferNode& b) { b.scope = std::move(scope); });
}

class StoragePlanner {
 public:
  Stmt Run(const Stmt& body) { return RunRegion(body); }

 private:
  Stmt RunRegion(const Stmt& body);
  Stmt Walk(const Stmt& s);
  Stmt WalkFor(const ForNode& loop);
  Stmt WalkBranches(const IfNode& s);
  Stmt WalkAllocate(const AllocateNode& node);
  Stmt WalkWorkspace(const AllocateNode& node);
  void Use(const BufferNode* buffer);
  bool TakeStack(const Buffer& buffer);
  static Stmt Share(const Region& region, Stmt body);

  std::vector<Region> regions_;
  std::vector<OpenLoop> loops_;
  std::unordered_map<const BufferNode*, std::pair<size_t, size_t>> open_;
  int64_t clock_ = 0;
  int64_t stack_ = 0;
};

// Whether `buffer` goes on the stack.
bool StoragePlanner::TakeStack(const Buffer& buffer) {
  const int64_t bytes = BytesOf(buffer);
  const int64_t limit =
      buffer->scope == "local" ? kMaxLocalBytes : kMaxStackBytes;
  if (bytes < 0 || bytes > limit || stack_ + bytes > kMaxStackBytesTogether) {
    return false;
  }
  stack_ += bytes;
  return true;
}

// Extends the lifetime of a workspace to now, and to the whole of the loop that
// reads it again in its next iteration.
void StoragePlanner::Use(const BufferNode* buffer) {
  auto found = open_.find(buffer);
  if (found == open_.end()) return;
  const auto [region, index] = found->second;
  Workspace& workspace = regions_[region].workspaces[index];
  int64_t first = clock_;
  if (loops_.size() > workspace.loops) {
    OpenLoop& loop = loops_[workspace.loops];
    first = loop.first;
    loop.uses.push_back(found->second);
  }
  if (workspace.first < 0) workspace.first = first;
  workspace.last = clock_;
}

Stmt StoragePlanner::WalkFor(const ForNode& loop) {
  loops_.push_back({clock_, {}});
  regions_.back().bound.insert(loop.var.get());
  ForFields fields = loop.fields();
  const bool is_region = loop.for_kind == ForKind::kParallel;
  fields.body = is_region ? RunRegion(loop.body) : Walk(loop.body);
  ++clock_;
  for (const auto& [region, index] : loops_.back().uses) {
    regions_[region].workspaces[index].last = clock_;
  }
  loops_.pop_back();
  return fields.body == loop.body ? Stmt(&loop) : MakeFor(std::move(fields));
}

Stmt StoragePlanner::WalkBranches(const IfNode& s) {
  Stmt then_case = RunRegion(s.then_case);
  return MakeIf(s.condition, std::move(then_case),
                s.else_case ? RunRegion(s.else_case) : nullptr);
}

Stmt StoragePlanner::WalkWorkspace(const AllocateNode& node) {
  Region& region = regions_.back();
  const bool is_fixed = UsesVar(node.buffer->shape[0], [&](const VarNode* v) {
    return region.bound.count(v) > 0;
  });
  const Buffer buffer = WithScope(node.buffer, "workspace");
  Stmt body = ReplaceBuffers(node.body, {{node.buffer.get(), buffer}});
  if (is_fixed || buffer->data) {
    return MakeAllocate(buffer, Walk(body), node.is_view, node.annotations);
  }
  open_[buffer.get()] = {regions_.size() - 1, region.workspaces.size()};
  region.workspaces.push_back({buffer, loops_.size()});
  body = Walk(body);
  open_.erase(buffer.get());
  return body;
}

Stmt StoragePlanner::WalkAllocate(const AllocateNode& node) {
  if (node.is_view) {
    return MakeAllocate(node.buffer, Walk(node.body), true, node.annotations);
  }
  if (!TakeStack(node.buffer)) return WalkWorkspace(node);
  if (node.buffer->scope == "local") {
    return MakeAllocate(node.buffer, Walk(node.body), false, node.annotations);
  }
  const Buffer local = WithScope(node.buffer, "local");
  Stmt body = ReplaceBuffers(node.body, {{node.buffer.get(), local}});
  return MakeAllocate(local, Walk(body), false, node.annotations);
}

Stmt StoragePlanner::Walk(const Stmt& s) {
  ++clock_;
  if (const auto* node = s.As<AllocateNode>()) return WalkAllocate(*node);
  if (const auto* let = s.As<LetStmtNode>()) {
    regions_.back().bound.insert(let->var.get());
  }
  if (!open_.empty()) {
    if (const auto* store = s.As<StoreNode>()) Use(store->buffer.get());
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& x) {
        if (const auto* load = x.As<LoadNode>()) Use(load->buffer.get());
        return true;
      });
    });
  }
  if (const auto* loop = s.As<ForNode>()) return WalkFor(*loop);
  const auto* branches = s.As<IfNode>();
  if (branches && regions_.back().loops == loops_.size()) {
    return WalkBranches(*branches);
  }
  return MapChildren(s, [&](const Stmt& child) { return Walk(child); });
}

// Whether `slot` can hold `workspace` as well.
bool Fits(const Slot& slot, const Workspace& workspace) {
  return slot.last < workspace.first && AsInt(slot.buffer->shape[0]) &&
         AsInt(workspace.buffer->shape[0]) &&
         slot.buffer->dtype == workspace.buffer->dtype;
}

Stmt StoragePlanner::Share(const Region& region, Stmt body) {
  std::vector<Workspace> order = region.workspaces;
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Slot> slots;
  std::vector<std::pair<const BufferNode*, size_t>> chosen;
  for (const Workspace& w : order) {
    auto fits = [&](const Slot& slot) { return Fits(slot, w); };
    auto slot = std::find_if(slots.begin(), slots.end(), fits);
    if (slot == slots.end()) {
      slot = slots.insert(slots.end(), {w.buffer, w.last});
    } else {
      slot->last = w.last;
      if (*AsInt(w.buffer->shape[0]) > *AsInt(slot->buffer->shape[0])) {
        slot->buffer = w.buffer;
      }
    }
    chosen.push_back({w.buffer.get(), slot - slots.begin()});
  }
  BufferMap shared;
  for (const auto& [buffer, slot] : chosen) {
    if (slots[slot].buffer.get() != buffer) shared[buffer] = slots[slot].buffer;
  }
  if (!shared.empty()) body = ReplaceBuffers(body, shared);
  for (size_t i = slots.size(); i-- > 0;) {
    body = MakeAllocate(slots[i].buffer, std::move(body));
  }
  return body;
}

Stmt StoragePlanner::RunRegion(const Stmt& body) {
  regions_.push_back({.loops = loops_.size()});
  Stmt walked = Walk(body);
  const Region region = std::move(regions_.back());
  regions_.pop_back();
  return Share(region, std::move(walked));
}

}  // namespace

absl::StatusOr<Function> PlanStorage(Function f) {
  f.body = StoragePlanner().Run(f.body);
  return f;
}

}  // namespace kiln
