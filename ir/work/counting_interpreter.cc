// Runs every iteration and counts what happens, so that it can judge CountWork,
// which reasons instead. Each value carries whether it is an inserted zero:
//
//   P[h] = T.if_then_else(1 <= h, A[h - 1], 0)    h = 0: the 0, inserted
//   C[h] = C[h] + P[h] * W[0]                     h = 0: 2 FLOP, none needed
//
// The product with an inserted zero is inserted again; an addition of one need
// not run, and is inserted only if both of its operands are. Integers are
// computed, as indices and conditions need them; floats stay 0, for no count
// depends on them. Of an argument, the first read of each element that nothing
// wrote before counts as bytes read, and its first write as bytes written.
#include "kiln/ir/work/counting_interpreter.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

struct Value {
  int64_t integer = 0;
  bool inserted = false;  // an inserted zero
};

bool IsZeroConstant(const Expr& e) {
  const auto* real = e.As<FloatImmNode>();
  return real ? real->value == 0 : IsZero(e);
}

class Runner {
 public:
  explicit Runner(const Function& f) {
    for (const Param& param : f.params) {
      if (param.buffer) arguments_.insert(param.buffer.get());
    }
  }
  const Work& work() const { return work_; }

  void Run(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      const int64_t min = Eval(loop->min).integer;
      const int64_t extent = Eval(loop->extent).integer;
      for (int64_t i = min; i < min + extent; ++i) {
        vars_[loop->var.get()] = {i};
        Run(loop->body);
      }
    } else if (const auto* realize = s.As<BlockRealizeNode>()) {
      RunBlock(*realize);
    } else if (const auto* seq = s.As<SeqNode>()) {
      for (const Stmt& part : seq->stmts) Run(part);
    } else if (const auto* branch = s.As<IfNode>()) {
      RunIf(*branch);
    } else if (const auto* store = s.As<StoreNode>()) {
      Put(*store, Eval(store->value));
    } else if (const auto* let = s.As<LetStmtNode>()) {
      vars_[let->var.get()] = Eval(let->value);
      Run(let->body);
    } else if (const auto* allocate = s.As<AllocateNode>()) {
      Run(allocate->body);
    } else {
      Eval(s.As<EvaluateNode>()->value);
    }
  }

 private:
  using Element = std::pair<const BufferNode*, std::vector<int64_t>>;

  void RunBlock(const BlockRealizeNode& realize) {
    if (!Eval(realize.predicate).integer) return;
    bool is_first = true;
    const BlockNode& block = *realize.block;
    std::vector<Value> values;
    for (const Expr& e : realize.values) values.push_back(Eval(e));
    for (size_t i = 0; i < values.size(); ++i) {
      const IterVar& iter = block.iters[i];
      vars_[iter.var.get()] = values[i];
      is_first =
          is_first && (iter.type != IterType::kReduce ||
                       values[i].integer == Eval(iter.domain.min).integer);
    }
    if (block.init && is_first) Run(block.init);
    Run(block.body);
  }

  void RunIf(const IfNode& node) {
    const bool holds = Eval(node.condition).integer != 0;
    const Stmt& chosen = holds ? node.then_case : node.else_case;
    if (!chosen) return;
    const auto* store = chosen.As<StoreNode>();
    const bool inserts = store && node.else_case && node.then_case &&
                         !node.condition->has_loads &&
                         IsZeroConstant(store->value);
    if (inserts) {
      Put(*store, {0, true});
    } else {
      Run(chosen);
    }
  }

  Element At(const Buffer& buffer, const std::vector<Expr>& indices) {
    Element element{buffer.get(), {}};
    for (const Expr& index : indices) {
      element.second.push_back(Eval(index).integer);
    }
    return element;
  }

  void Put(const StoreNode& store, Value value) {
    const Element element = At(store.buffer, store.indices);
    const bool is_new = memory_.insert_or_assign(element, value).second;
    if (is_new && arguments_.count(element.first)) {
      work_.bytes_written.value += store.buffer->dtype.bytes();
    }
  }

  Value Get(const LoadNode& load) {
    const Element element = At(load.buffer, load.indices);
    if (const auto found = memory_.find(element); found != memory_.end()) {
      return found->second;
    }
    if (arguments_.count(element.first) && read_.insert(element).second) {
      work_.bytes_read.value += load.buffer->dtype.bytes();
    }
    return {};
  }

  Value Choose(const Expr& condition, const Expr& yes, const Expr& no) {
    const Expr& chosen = Index(condition).integer ? yes : no;
    if (!condition->has_loads && IsZeroConstant(chosen)) return {0, true};
    return Eval(chosen);
  }

  // The value of an index or a condition, whose operations do not count.
  Value Index(const Expr& e) {
    const Work before = work_;
    const Value value = Eval(e);
    work_.flop = before.flop;
    work_.needed_flop = before.needed_flop;
    return value;
  }

  void Did(bool is_needed) {
    work_.flop.value += 1;
    work_.needed_flop.value += is_needed;
  }

  Value Eval(const Expr& e) {
    if (const int64_t* value = AsInt(e)) return {*value};
    if (const auto* var = e.As<VarNode>()) return vars_[var];
    if (const auto* load = e.As<LoadNode>()) return Get(*load);
    if (const auto* cast = e.As<CastNode>()) return Eval(cast->value);
    if (const auto* no = e.As<NotNode>()) return {!Eval(no->value).integer};
    if (const auto* binary = e.As<BinaryNode>()) return OfBinary(*binary);
    if (const auto* call = e.As<CallNode>()) return OfCall(*call);
    if (const auto* select = e.As<SelectNode>()) {
      return Choose(select->condition, select->true_value, select->false_value);
    }
    if (const auto* let = e.As<LetNode>()) {
      vars_[let->var.get()] = Eval(let->value);
      return Eval(let->body);
    }
    return {};
  }

  Value OfBinary(const BinaryNode& e) {
    if (e.dtype.is_bool()) return OfCondition(e);
    const Value a = Eval(e.a), b = Eval(e.b);
    Value result;
    if (e.dtype.is_integral())
      FoldInt(e.kind, a.integer, b.integer, &result.integer);
    const bool counts = e.has_loads || !e.dtype.is_integral();
    bool needed = !a.inserted;
    result.inserted = a.inserted;
    if (e.kind == ExprKind::kMul) {
      result.inserted = a.inserted || b.inserted;
      needed = !result.inserted;
    } else if (e.kind == ExprKind::kAdd || e.kind == ExprKind::kSub ||
               e.kind == ExprKind::kMin || e.kind == ExprKind::kMax) {
      result.inserted = a.inserted && b.inserted;
      if (e.kind == ExprKind::kAdd) needed = !a.inserted && !b.inserted;
      if (e.kind == ExprKind::kSub) needed = !b.inserted;
      if (e.kind >= ExprKind::kMin) needed = !result.inserted;
    }
    if (counts) Did(needed);
    return result;
  }

  Value OfCondition(const BinaryNode& e) {
    const int64_t a = Index(e.a).integer;
    if (e.kind == ExprKind::kAnd) return {a && Index(e.b).integer};
    if (e.kind == ExprKind::kOr) return {a || Index(e.b).integer};
    Value result;
    FoldInt(e.kind, a, Index(e.b).integer, &result.integer);
    return result;
  }

  Value OfCall(const CallNode& call) {
    if (call.op == Intrinsic::kIfThenElse) {
      return Choose(call.args[0], call.args[1], call.args[2]);
    }
    if (call.op == Intrinsic::kLikely) return Eval(call.args[0]);
    std::vector<Value> args;
    for (const Expr& arg : call.args) args.push_back(Eval(arg));
    if (call.op == Intrinsic::kReinterpret) return args[0];
    if (call.op == Intrinsic::kFma) {
      const bool product = args[0].inserted || args[1].inserted;
      Did(!product);
      Did(!product && !args[2].inserted);
      return {0, product && args[2].inserted};
    }
    if (!args.empty() && !call.dtype.is_bool()) Did(true);
    return {};
  }

  Work work_;
  std::set<const BufferNode*> arguments_;
  std::map<const VarNode*, Value> vars_;
  std::map<Element, Value> memory_;
  std::set<Element> read_;
};

}  // namespace

Work CountByRunning(const Function& f) {
  Runner runner(f);
  runner.Run(f.body);
  return runner.work();
}

}  // namespace kiln
