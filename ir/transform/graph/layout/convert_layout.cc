// A block is gone through once, in order. For each variable whose tensor does
// not stand as the program has it, it is known what variable has it now, and
// how it stands there; a tuple has a layout for each field:
//
//   gv   -> gv (new), 0 2 3 1
//   t    -> t (new), [0 2 3 1, 0 1 2 3]      of t = (gv, x)
//
// A call of an op with a rule gets its tensors as the rule says. Everything
// else gets them as the program has them.
#include "kiln/ir/transform/graph/layout/convert_layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/layout.h"

namespace kiln {
namespace {

using graph::Binding;
using Layouts = std::vector<TensorLayout>;
using Tensors = std::vector<const graph::TensorInfo*>;

// The tensor, or the fields of a tuple of tensors; nothing for anything else.
Tensors TensorsOf(const graph::StructInfo& info) {
  if (const auto* tensor = info.As<graph::TensorInfo>()) return {tensor};
  const auto* tuple = info.As<graph::TupleInfo>();
  if (!tuple) return {};
  Tensors tensors;
  for (const graph::StructInfo& field : tuple->fields) {
    const auto* tensor = field.As<graph::TensorInfo>();
    if (!tensor) return {};
    tensors.push_back(tensor);
  }
  return tensors;
}

Layouts PlainLayouts(const Tensors& tensors) {
  Layouts layouts;
  for (const auto* tensor : tensors) {
    layouts.push_back(TensorLayout::Plain(tensor->rank));
  }
  return layouts;
}

bool ArePlain(const Layouts& layouts) {
  return std::all_of(layouts.begin(), layouts.end(),
                     [](const TensorLayout& l) { return l.IsPlain(); });
}

class BlockConverter {
 public:
  BlockConverter(const Module& module, const DesiredLayouts& desired)
      : module_(module), desired_(desired) {}

  graph::BindingBlock Run(const graph::BindingBlock& block) {
    for (const Binding& binding : block.bindings) Convert(binding);
    return {true, std::move(out_)};
  }

 private:
  struct Standing {
    graph::Expr value;
    Layouts layouts;
  };

  void Convert(const Binding& binding) {
    const bool is_done =
        ConvertCall(binding) || ConvertCast(binding) || ConvertData(binding);
    if (!is_done) out_.push_back({binding.var, WithPlainVars(binding.value)});
  }

  // --- How values stand.

  Layouts LayoutsOf(const graph::Expr& e) const {
    const auto found = standing_.find(e.As<graph::VarNode>());
    if (found != standing_.end()) return found->second.layouts;
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      Layouts layouts;
      for (const graph::Expr& field : tuple->fields) {
        const Layouts of_field = LayoutsOf(field);
        if (of_field.size() != 1 || IsTuple(field)) return {};
        layouts.push_back(of_field[0]);
      }
      return layouts;
    }
    return PlainLayouts(TensorsOf(graph::InfoOf(e)));
  }

  static bool IsTuple(const graph::Expr& e) {
    return graph::InfoOf(e).As<graph::TupleInfo>() != nullptr;
  }

  // Whether it is certain what of it are tensors.
  static bool IsKnown(const graph::Expr& e) {
    const graph::StructInfo info = graph::InfoOf(e);
    return info && info.kind() != graph::InfoKind::kObject;
  }

  graph::Var Emit(graph::Expr value, const std::string& name = "lv") {
    out_.push_back({graph::Var(name, {}, true), std::move(value)});
    return out_.back().var;
  }

  // `value`, which stands as `from`, as an expression that stands as `to`.
  graph::Expr Bring(const graph::Expr& value, const Layouts& from,
                    const Layouts& to, bool is_tuple) {
    if (from == to) return value;
    if (!is_tuple) return Brought(value, from[0], to[0]);
    std::vector<graph::Expr> fields;
    for (size_t i = 0; i < from.size(); ++i) {
      graph::Expr field = Emit(graph::Item(value, static_cast<int>(i)));
      if (!(from[i] == to[i])) field = Emit(Brought(field, from[i], to[i]));
      fields.push_back(std::move(field));
    }
    return graph::TupleOf(std::move(fields));
  }

  // An operand of the program, as an operand that stands as `wanted`.
  graph::Expr In(const graph::Expr& e, const Layouts& wanted) {
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      std::vector<graph::Expr> fields;
      for (size_t i = 0; i < tuple->fields.size(); ++i) {
        fields.push_back(In(tuple->fields[i], {wanted[i]}));
      }
      return graph::TupleOf(std::move(fields));
    }
    const auto found = standing_.find(e.As<graph::VarNode>());
    const graph::Expr value =
        found == standing_.end() ? e : found->second.value;
    const Layouts from = LayoutsOf(e);
    if (from == wanted) return value;
    const graph::Expr brought = Bring(value, from, wanted, IsTuple(e));
    return brought.As<graph::CallNode>() ? Emit(brought) : brought;
  }

  // Binds what the program calls `var`.
  void Define(const graph::Var& var, graph::Expr value,
              const Layouts& layouts) {
    if (ArePlain(layouts)) {
      out_.push_back({var, std::move(value)});
      return;
    }
    // What is given out under another name needs none that is moved.
    const bool is_name = value.As<graph::VarNode>() && !var->is_dataflow;
    const std::string name = var->is_dataflow ? var->name : "lv";
    const graph::Expr now =
        is_name ? value : graph::Expr(Emit(std::move(value), name));
    standing_[var.get()] = {now, layouts};
    if (var->is_dataflow) return;
    const Layouts plain = PlainLayouts(TensorsOf(var->info));
    out_.push_back({var, Bring(now, layouts, plain, IsTuple(var))});
  }

  // --- Kinds of bindings; false where one is of another kind or does not
  // follow.

  bool ConvertCall(const Binding& binding) {
    const auto* node = binding.value.As<graph::CallNode>();
    const auto* op = node ? node->callee.As<graph::OpNode>() : nullptr;
    const LayoutRule rule = op ? FindLayoutRule(op->name) : nullptr;
    if (!rule) return false;
    const OpCall call(*node, {&module_, &analyzer_});
    LayoutCall asked{call, desired_, {}, {}, TensorsOf(binding.var->info)};
    for (const graph::Expr& arg : node->args) {
      const Tensors tensors = TensorsOf(graph::InfoOf(arg));
      const Layouts layouts = LayoutsOf(arg);
      const bool is_known = tensors.size() == layouts.size() && IsKnown(arg);
      if (!is_known) return false;
      asked.tensors.insert(asked.tensors.end(), tensors.begin(), tensors.end());
      asked.layouts.insert(asked.layouts.end(), layouts.begin(), layouts.end());
    }
    const bool is_desired =
        desired_.count(absl::StrCat("relax.", op->name)) > 0;
    const bool is_asked = is_desired || !ArePlain(asked.layouts);
    if (asked.tensors.empty() || asked.results.empty() || !is_asked) {
      return false;
    }
    const std::optional<LayoutPlan> plan = rule(asked);
    if (plan) Follow(binding, *node, *plan);
    return plan.has_value();
  }

  void Follow(const Binding& binding, const graph::CallNode& node,
              const LayoutPlan& plan) {
    std::vector<graph::Expr> args;
    auto next = plan.args.begin();
    for (size_t i = 0; i < node.args.size(); ++i) {
      const auto count = TensorsOf(graph::InfoOf(node.args[i])).size();
      const Layouts wanted(next, next + count);
      next += count;
      const auto replaced = plan.replaced.find(i);
      if (replaced != plan.replaced.end()) {
        args.push_back(replaced->second);
      } else {
        args.push_back(count == 0 ? WithPlainVars(node.args[i])
                                  : In(node.args[i], wanted));
      }
    }
    Define(binding.var,
           graph::Expr(new graph::CallNode(node.callee, std::move(args),
                                           plan.attrs, node.infos)),
           plan.results);
  }

  // A cast of a tensor to extents that stand in the same order.
  bool ConvertCast(const Binding& binding) {
    const auto* cast = binding.value.As<graph::MatchCastNode>();
    const auto* info = cast ? cast->info.As<graph::TensorInfo>() : nullptr;
    const Layouts layouts = cast ? LayoutsOf(cast->value) : Layouts();
    const bool follows = info && layouts.size() == 1 && !ArePlain(layouts) &&
                         !layouts[0].HasParts() && !IsTuple(cast->value) &&
                         layouts[0].Fits(*info, analyzer_) &&
                         (info->extents() || !info->shape);
    if (!follows) return false;
    graph::Expr shape = info->shape;
    if (const auto* extents = info->extents()) {
      std::vector<graph::Scalar> moved;
      for (const int axis : layouts[0].Axes())
        moved.push_back((*extents)[axis]);
      shape = graph::ShapeOf(std::move(moved));
    }
    const graph::StructInfo now(new graph::TensorInfo(
        std::move(shape), info->rank, info->dtype, info->device));
    Define(binding.var,
           graph::Expr(new graph::MatchCastNode(In(cast->value, layouts), now)),
           layouts);
    return true;
  }

  // Another name, a tuple, a field.
  bool ConvertData(const Binding& binding) {
    const auto* item = binding.value.As<graph::TupleItemNode>();
    const bool is_data = item || binding.value.As<graph::VarNode>() ||
                         binding.value.As<graph::TupleNode>();
    if (!is_data) return false;
    const graph::Expr& source = item ? item->tuple : binding.value;
    const Layouts layouts = LayoutsOf(source);
    if (ArePlain(layouts)) return false;
    const graph::Expr now = In(source, layouts);
    if (item) {
      Define(binding.var, graph::Item(now, item->index),
             {layouts[item->index]});
    } else {
      Define(binding.var, now, layouts);
    }
    return true;
  }

  graph::Expr WithPlainVars(const graph::Expr& value) {
    std::vector<graph::Expr> used;
    graph::Visit(value, [&](const graph::Expr& e) {
      if (standing_.count(e.As<graph::VarNode>()) > 0) used.push_back(e);
      return true;
    });
    graph::Substitution plain;
    for (const graph::Expr& var : used) {
      graph::Expr& now = plain.vars[var.As<graph::VarNode>()];
      if (now) continue;
      now = In(var, PlainLayouts(TensorsOf(graph::InfoOf(var))));
      if (now.As<graph::TupleNode>()) now = Emit(now);
    }
    return used.empty() ? value : graph::Substitute(value, plain);
  }

  const Module& module_;
  const DesiredLayouts& desired_;
  Analyzer analyzer_;
  std::vector<Binding> out_;
  std::unordered_map<const graph::VarNode*, Standing> standing_;
};

// --- What may be asked for.

struct ConvolutionKind {
  std::string_view op, data, kernel;
};
constexpr ConvolutionKind kConvolutions[] = {
    {"relax.nn.conv1d", "NCW", "OIW"},
    {"relax.nn.conv1d_transpose", "NCW", "IOW"},
    {"relax.nn.conv2d", "NCHW", "OIHW"},
    {"relax.nn.conv2d_transpose", "NCHW", "IOHW"},
    {"relax.nn.conv3d", "NCDHW", "OIDHW"},
    {"relax.nn.conv3d_transpose", "NCDHW", "IODHW"},
};

absl::Status CheckDesired(const std::string& op,
                          const std::vector<std::string>& layouts) {
  const auto* kind =
      std::find_if(std::begin(kConvolutions), std::end(kConvolutions),
                   [&](const ConvolutionKind& k) { return k.op == op; });
  if (kind == std::end(kConvolutions)) {
    std::vector<std::string> ops;
    for (const ConvolutionKind& k : kConvolutions) ops.emplace_back(k.op);
    return absl::InvalidArgumentError(
        absl::StrCat("no layouts can be asked for `", op, "`; they can for ",
                     absl::StrJoin(ops, ", ")));
  }
  if (layouts.size() != 2 && layouts.size() != 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`", op, "` is given ", layouts.size(),
        " layouts; it takes that of the data, that of the kernel, and perhaps "
        "that of the result"));
  }
  for (size_t i = 0; i < layouts.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const Layout layout, Layout::Parse(layouts[i]));
    const std::string_view axes = i == 1 ? kind->kernel : kind->data;
    if (layout.HasAxes(axes)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the layout \"", layouts[i], "\" asked for `", op,
                     "` is not of the axes ", std::string(axes)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Module> ConvertLayout(const Module& module,
                                     const DesiredLayouts& desired) {
  for (const auto& [op, layouts] : desired) {
    KILN_RETURN_IF_ERROR(CheckDesired(op, layouts));
  }
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const auto* seq = f->body ? f->body.As<graph::SeqNode>() : nullptr;
    if (!seq) continue;
    std::vector<graph::BindingBlock> blocks = seq->blocks;
    for (graph::BindingBlock& block : blocks) {
      if (block.is_dataflow) block = BlockConverter(module, desired).Run(block);
    }
    f = graph::WithBody(*f, graph::Seq(std::move(blocks), seq->result));
  }
  return InferModule(out);
}

absl::StatusOr<Module> ConvertLayoutToNhwc(const Module& module) {
  return ConvertLayout(module, {{"relax.nn.conv2d", {"NHWC", "OHWI"}}});
}

}  // namespace kiln
