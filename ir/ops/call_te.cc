// A tensor function gets variables of its own for the dimensions of the graph
// function that it is called from:
//
//   def main(A: R.Tensor((n, 16)), B: R.Shape([i])):
//       R.call_tir(cls.row, (A, i), out_sinfo=R.Tensor((1, 16)))
//   def row(A: T.Buffer((n, 16)), i: T.int64, out: T.Buffer((1, 16))): ...
#include "kiln/ir/ops/call_te.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/interp/fold.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::StructInfo;

bool Has(const std::vector<Var>& vars, const Var& var) {
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

// Variables that an extent of an input or an output is.
std::vector<Var> ToldByTensors(const Function& f) {
  std::vector<Var> told;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    for (const Expr& extent : param.buffer->shape) {
      const auto* var = extent.As<VarNode>();
      if (var && !Has(told, Var(var))) told.emplace_back(var);
    }
  }
  return told;
}

// Variables that `f` uses and does not define, in order of appearance.
std::vector<Var> UsedVars(const Function& f) {
  std::vector<Var> defined, used;
  const auto add = [&](const Expr& e) {
    for (const Var& var : FreeVars(e)) {
      if (!Has(used, var)) used.push_back(var);
    }
  };
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    for (const Expr& extent : param.buffer->shape) add(extent);
  }
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) defined.push_back(loop->var);
    if (const auto* let = s.As<LetStmtNode>()) defined.push_back(let->var);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const IterVar& iter : realize->block->iters) {
        defined.push_back(iter.var);
      }
    }
    ForEachExpr(s, add);
    return true;
  });
  VisitExprs(f.body, [&](const Expr& e) {
    if (const auto* let = e.As<LetNode>()) defined.push_back(let->var);
    return true;
  });
  std::vector<Var> free;
  for (const Var& var : used) {
    const bool is_handle = var.dtype().is_handle();
    if (!is_handle && !Has(defined, var)) free.push_back(var);
  }
  return free;
}

// Makes the function, with the numbers that it needs behind `inputs` inputs,
// its own; gives those numbers.
std::vector<Var> CloseOver(Function& f, size_t inputs) {
  std::vector<Var> numbers;
  VarMap own;
  const std::vector<Var> told = ToldByTensors(f);
  for (const Param& param : f.params) {
    if (!param.buffer) numbers.push_back(param.var);
  }
  for (const Var& var : UsedVars(f)) {
    own[var.get()] = Var(var.name(), var.dtype());
    if (!Has(told, var) && !Has(numbers, var)) numbers.push_back(var);
  }
  for (const Var& var : numbers) {
    if (!own.count(var.get())) own[var.get()] = Var(var.name(), var.dtype());
  }
  f = SubstituteDims(std::move(f), own);
  std::vector<Param> params;
  for (const Var& var : numbers) {
    params.push_back({Var(own.at(var.get()).As<VarNode>()), nullptr});
  }
  f.params.insert(f.params.begin() + static_cast<int64_t>(inputs),
                  params.begin(), params.end());
  return numbers;
}

using BufferSet = std::set<const BufferNode*>;

// The constant of no dimensions that this is, or nullptr.
const graph::ConstantNode* NumberIn(const graph::Expr& operand) {
  const auto* constant = operand.As<graph::ConstantNode>();
  const bool is_number =
      constant && constant->is_known() && constant->shape.empty();
  return is_number ? constant : nullptr;
}

// Puts the numbers that constants of no dimensions hold where they are read.
void InsertNumbers(Function& f, const std::vector<graph::Expr>& operands) {
  std::map<const BufferNode*, Expr> numbers;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (const graph::ConstantNode* constant = NumberIn(operands[i])) {
      numbers[f.params[i].buffer.get()] = graph::ElementOf(*constant, 0);
    }
  }
  if (numbers.empty()) return;
  f.body = RewriteExprs(f.body, [&](const Expr& e) -> Expr {
    const auto* load = e.As<LoadNode>();
    const auto number = load ? numbers.find(load->buffer.get()) : numbers.end();
    return number == numbers.end() ? Expr() : number->second;
  });
  f.body = RewriteExprs(f.body, [](const Expr& e) { return FoldNumbers(e); });
}

BufferSet BuffersRead(const Stmt& body) {
  BufferSet read;
  VisitExprs(body, [&](const Expr& e) {
    if (const auto* load = e.As<LoadNode>()) read.insert(load->buffer.get());
    return true;
  });
  return read;
}

// `s`, whose blocks state that they read nothing but these.
Stmt WithReadsOf(const Stmt& s, const BufferSet& read) {
  return Rewrite(s, [&](const Stmt& at) -> Stmt {
    const auto* realize = at.As<BlockRealizeNode>();
    if (!realize) return nullptr;
    BlockFields block = realize->block->fields();
    std::vector<BufferRegion> reads;
    for (const BufferRegion& region : block.reads) {
      if (read.count(region.buffer.get())) reads.push_back(region);
    }
    block.reads = std::move(reads);
    block.body = WithReadsOf(block.body, read);
    return MakeRealize(realize->values, realize->predicate,
                       MakeBlock(std::move(block)));
  });
}

// Drops the inputs that no formula reads, such as a tensor of which only the
// shape counts; or, with `keeps_tensors`, only the numbers among them.
void DropUnread(Function& f, std::vector<graph::Expr>& operands,
                bool keeps_tensors) {
  const BufferSet read = BuffersRead(f.body);
  const size_t inputs = operands.size();
  for (size_t i = inputs; i-- > 0;) {
    if (read.count(f.params[i].buffer.get())) continue;
    if (keeps_tensors && !NumberIn(operands[i])) continue;
    f.params.erase(f.params.begin() + static_cast<int64_t>(i));
    operands.erase(operands.begin() + static_cast<int64_t>(i));
  }
  if (operands.size() < inputs) f.body = WithReadsOf(f.body, read);
}

std::vector<Buffer> LayoutFreeBuffers(const Function& f) {
  std::vector<Buffer> buffers;
  for (int param : LayoutFreeParams(f)) {
    buffers.push_back(f.params[static_cast<size_t>(param)].buffer);
  }
  return buffers;
}

// Marks those of `buffers` that are still parameters.
void MarkLayoutFree(Function& f, const std::vector<Buffer>& buffers) {
  std::vector<int> positions;
  for (const Buffer& buffer : buffers) {
    for (size_t i = 0; i < f.params.size(); ++i) {
      if (f.params[i].buffer != buffer) continue;
      positions.push_back(static_cast<int>(i));
    }
  }
  f.attrs.erase(kLayoutFreeBuffers);
  if (!positions.empty()) SetLayoutFree(&f, positions);
}

// The function of formulas, without what it does not read of `operands`.
absl::StatusOr<Function> FromFormulas(
    std::string name, const std::vector<te::Tensor>& inputs,
    const Lowered& lowered, const std::vector<te::Tensor>& layout_free,
    std::vector<graph::Expr>& operands) {
  std::vector<te::Tensor> params = inputs;
  params.insert(params.end(), lowered.outputs.begin(), lowered.outputs.end());
  KILN_ASSIGN_OR_RETURN(
      Function f, te::CreatePrimFunc(params, std::move(name), layout_free));
  const std::vector<Buffer> marked = LayoutFreeBuffers(f);
  InsertNumbers(f, operands);
  DropUnread(f, operands, lowered.keeps_unread);
  MarkLayoutFree(f, marked);
  return f;
}

// Calls `f`, which becomes a private function of the module.
graph::Expr CallPrivate(Function f, std::vector<graph::Expr> operands,
                        const std::vector<StructInfo>& outputs,
                        Module& module) {
  f.is_private = true;
  f.attrs["tir.noalias"] = Attr(Bool(true));
  for (const Var& number : CloseOver(f, operands.size())) {
    operands.push_back(graph::Number(number));
  }
  const std::string callee = AddTensorFunction(std::move(f), module);
  return graph::CallOp(
      "call_tir", {graph::Global(callee), graph::TupleOf(std::move(operands))},
      {}, outputs);
}

StructInfo InfoOfTensor(const te::Tensor& tensor) {
  return graph::Tensor(tensor.shape(), tensor.dtype());
}

}  // namespace

absl::StatusOr<te::Tensor> PlaceholderFor(const StructInfo& info,
                                          std::string name) {
  const auto* tensor = info.As<graph::TensorInfo>();
  if (tensor && tensor->extents() && !tensor->dtype.is_void()) {
    return te::Placeholder(*tensor->extents(), tensor->dtype, std::move(name));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is ", PrintStructInfo(info ? info : graph::Object()),
      "; a formula needs a tensor whose extents and type are known"));
}

std::string UniqueFunctionName(const Module& module, std::string_view hint) {
  const std::string base(hint);
  std::string name = base;
  for (int i = 1; module.Find(name) || module.FindGraph(name); ++i) {
    name = absl::StrCat(base, i);
  }
  return name;
}

std::string AddTensorFunction(Function f, Module& module) {
  for (const Function& known : module.functions) {
    if (known.is_private == f.is_private && StructurallyEqual(known, f)) {
      return known.name;
    }
  }
  f.name = UniqueFunctionName(module, f.name);
  module.functions.push_back(std::move(f));
  return module.functions.back().name;
}

absl::StatusOr<graph::Expr> CallLowered(std::string name,
                                        const std::vector<graph::Expr>& args,
                                        const std::vector<te::Tensor>& inputs,
                                        Lowered lowered,
                                        const std::vector<StructInfo>& outputs,
                                        Module& module) {
  std::vector<graph::Expr> operands = args;
  if (lowered.function) {
    Function f = *std::move(lowered.function);
    f.name = std::move(name);
    return CallPrivate(std::move(f), std::move(operands), outputs, module);
  }
  KILN_ASSIGN_OR_RETURN(
      Function f, FromFormulas(std::move(name), inputs, lowered, {}, operands));
  return CallPrivate(std::move(f), std::move(operands), outputs, module);
}

absl::StatusOr<graph::Expr> CallTensors(
    std::string name, const std::vector<graph::Expr>& args,
    const std::vector<te::Tensor>& inputs,
    const std::vector<te::Tensor>& outputs, Module& module,
    const std::vector<te::Tensor>& layout_free) {
  std::vector<StructInfo> infos;
  for (const te::Tensor& output : outputs) {
    infos.push_back(InfoOfTensor(output));
  }
  std::vector<graph::Expr> operands = args;
  KILN_ASSIGN_OR_RETURN(
      Function f,
      FromFormulas(std::move(name), inputs, outputs, layout_free, operands));
  return CallPrivate(std::move(f), std::move(operands), infos, module);
}

}  // namespace kiln
