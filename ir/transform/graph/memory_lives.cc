// A variable stands for the tensors that its value may be a part of: a tuple
// field by field, everything else all in one. Of
//
//   a = alloc_tensor(...)    {a}
//   t = (a, x)               ({a}, {})
//   b = t[0]                 {a}
//   cls.exp(x, b)            used here
//
// A call may give any of its arguments back, unless it is known not to.
#include "kiln/ir/transform/graph/memory_lives.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/memory_call.h"
#include "kiln/ir/tensor/in_place.h"

namespace kiln {
namespace {

using graph::GraphKind;
using Places = std::set<size_t>;

struct Holding {
  Places all;
  std::vector<Holding> fields;  // of a tuple that is known
};

Holding Joined(const std::vector<Holding>& parts, bool is_tuple) {
  Holding joined;
  for (const Holding& part : parts) {
    joined.all.insert(part.all.begin(), part.all.end());
  }
  if (is_tuple) joined.fields = parts;
  return joined;
}

class Lives {
 public:
  explicit Lives(const Module& module) : module_(module) {}

  std::map<size_t, AllocatedLife> Run(const graph::SeqNode& seq) {
    for (const graph::BindingBlock& block : seq.blocks) {
      for (const graph::Binding& binding : block.bindings) Add(binding);
    }
    for (const size_t place : Of(seq.result).all) {
      lives_[place].is_result = true;
    }
    for (const InPlaceCall& call : in_place_) {
      const AllocatedLife& read = lives_[call.read];
      if (read.last_use == call.at && !read.is_result && !read.is_captured) {
        lives_[call.written].in_place_of = call.read;
      }
    }
    return std::move(lives_);
  }

 private:
  // A call that may write one allocation in place of another.
  struct InPlaceCall {
    size_t at, read, written;
  };

  void Add(const graph::Binding& binding) {
    AddInPlace(binding.value);
    Use(binding.value);
    Holding& held = held_[binding.var.get()];
    if (IsTensorAllocation(binding.value)) {
      lives_[at_].last_use = at_;
      held.all.insert(at_);
    } else {
      held = Of(binding.value);
    }
    ++at_;
  }

  // Before its operands count as used.
  void AddInPlace(const graph::Expr& value) {
    const auto* call = value.As<graph::CallNode>();
    const auto* callee =
        call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
    const Function* f = callee ? module_.Find(callee->name) : nullptr;
    if (!f || f->params.size() != call->args.size()) return;
    const auto pairs = InPlacePairs(*f);
    if (!pairs.ok()) return;
    for (const InPlacePair& pair : *pairs) {
      const auto read = OnlyPlaceOf(*call, pair.read);
      const auto written = OnlyPlaceOf(*call, pair.written);
      if (read && written && used_.count(*written) == 0) {
        in_place_.push_back({at_, *read, *written});
      }
    }
  }

  // The allocation that is argument `i` and no other one of the call.
  std::optional<size_t> OnlyPlaceOf(const graph::CallNode& call, int i) const {
    const Places places = Of(call.args[i]).all;
    if (places.size() != 1) return std::nullopt;
    for (size_t j = 0; j < call.args.size(); ++j) {
      const bool is_other = j != static_cast<size_t>(i);
      if (is_other && Of(call.args[j]).all.count(*places.begin()) > 0) {
        return std::nullopt;
      }
    }
    return *places.begin();
  }

  void Use(const graph::Expr& value) {
    size_t position = 0;
    graph::Visit(value, [&](const graph::Expr& e) {
      const bool is_inside = e.kind() == GraphKind::kSeq;
      if (is_inside) Capture(e);
      if (e.kind() != GraphKind::kVar) return !is_inside;
      ++position;
      for (const size_t place : Of(e).all) {
        AllocatedLife& life = lives_[place];
        // An operand that stands twice ends where it stands last.
        life.last_use = at_;
        life.position = position;
        used_.insert(place);
      }
      return false;
    });
  }

  void Capture(const graph::Expr& body) {
    graph::Visit(body, [&](const graph::Expr& e) {
      if (e.kind() != GraphKind::kVar) return true;
      for (const size_t place : Of(e).all) lives_[place].is_captured = true;
      return false;
    });
  }

  // What a value, used already, may be a part of.
  Holding Of(const graph::Expr& e) const {
    if (const auto* var = e.As<graph::VarNode>()) {
      const auto found = held_.find(var);
      return found == held_.end() ? Holding() : found->second;
    }
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      return Joined(OfAll(tuple->fields), /*is_tuple=*/true);
    }
    if (const auto* item = e.As<graph::TupleItemNode>()) {
      const Holding whole = Of(item->tuple);
      const auto index = static_cast<size_t>(item->index);
      return index < whole.fields.size() ? whole.fields[index] : whole;
    }
    if (const auto* cast = e.As<graph::MatchCastNode>()) {
      return Of(cast->value);
    }
    const auto* call = e.As<graph::CallNode>();
    if (!call || IsFresh(*call)) return Holding();
    std::vector<Holding> parts = OfAll(call->args);
    parts.push_back(Of(call->callee));
    return Joined(parts, /*is_tuple=*/false);
  }

  std::vector<Holding> OfAll(const std::vector<graph::Expr>& es) const {
    std::vector<Holding> all;
    for (const graph::Expr& e : es) all.push_back(Of(e));
    return all;
  }

  // Whether the call gives no part of an argument.
  bool IsFresh(const graph::CallNode& call) const {
    if (const auto* global = call.callee.As<graph::GlobalVarNode>()) {
      return module_.Find(global->name) != nullptr;
    }
    return call.IsOp("call_tir") || call.IsOp("call_tir_with_grad") ||
           call.IsOp("call_dps_packed") || call.IsOp("vm.call_tir_dyn");
  }

  const Module& module_;
  size_t at_ = 0;
  std::map<size_t, AllocatedLife> lives_;
  Places used_;  // so far
  std::vector<InPlaceCall> in_place_;
  std::unordered_map<const graph::VarNode*, Holding> held_;
};

}  // namespace

std::map<size_t, AllocatedLife> LivesOf(const graph::SeqNode& seq,
                                        const Module& module) {
  return Lives(module).Run(seq);
}

}  // namespace kiln
