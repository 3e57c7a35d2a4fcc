// A rule's pattern becomes patterns, one for each variable, and its results the
// context that is searched for. Of a match, parameters and dimensions get their
// values, and the replacement is written out with them:
//
//   pattern(x: (n, 4))      x is b, n is 2 * m     replacement: full((n,), x)
//   exp(reshape(x, (n,)))                          full((2 * m,), b)
#include "kiln/ir/transform/graph/rules/apply_rules.h"

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/make_pattern.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/pattern/pattern_context.h"
#include "kiln/ir/pattern/rewrite_bindings.h"
#include "kiln/ir/transform/graph/composite.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

// The patterns of a rule, for one module.
class RulePatterns {
 public:
  // Both outlive the patterns.
  RulePatterns(const Rule& rule, const Module& module)
      : rule_(rule), module_(module), body_(BodyOf(*rule.pattern)) {
    for (const graph::Binding& binding : body_.bindings) {
      values_[binding.var.get()] = binding.value;
    }
    for (const graph::Var& param : rule.pattern->params) {
      patterns_.emplace(param.get(), Wildcard().HasInfo(param->info));
    }
    for (const graph::Expr& result : body_.results) context_.Add(Of(result));
  }

  const PatternContext& context() const { return context_; }

  // What variables of the replacement stand for in a match, to begin with.
  graph::Substitution Known(const Match& match) const {
    graph::Substitution known;
    known.scalars = match.dims();
    for (size_t i = 0; i < rule_.pattern->params.size(); ++i) {
      const graph::Expr value =
          match.at(patterns_.at(rule_.pattern->params[i].get()));
      if (value) known.vars[rule_.replacement->params[i].get()] = value;
    }
    return known;
  }

  // The variables that the results matched.
  std::vector<graph::Expr> Results(const Match& match) const {
    std::vector<graph::Expr> results;
    for (const graph::Expr& result : body_.results) {
      results.push_back(match.at(patterns_.at(result.As<graph::VarNode>())));
    }
    return results;
  }

 private:
  Pattern Of(const graph::Expr& e) {
    if (const auto* var = e.As<graph::VarNode>()) {
      const auto known = patterns_.find(var);
      if (known != patterns_.end()) return known->second;
      const Pattern made = Of(values_.at(var));
      patterns_.emplace(var, made);
      return made;
    }
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      return IsTuple(OfAll(tuple->fields));
    }
    if (const auto* item = e.As<graph::TupleItemNode>()) {
      return IsItem(Of(item->tuple), item->index);
    }
    if (const auto* call = e.As<graph::CallNode>()) {
      return IsCallLike(*call, Of(call->callee), OfAll(call->args));
    }
    if (const auto* global = e.As<graph::GlobalVarNode>()) {
      return IsTensorFunction(*rule_.module.Find(global->name));
    }
    return IsLeaf(e);
  }

  std::vector<Pattern> OfAll(const std::vector<graph::Expr>& es) {
    std::vector<Pattern> patterns;
    for (const graph::Expr& e : es) patterns.push_back(Of(e));
    return patterns;
  }

  // A function of the module that is equal up to names.
  Pattern IsTensorFunction(const Function& wanted) const {
    return MakePattern([&wanted, &module = module_](const graph::Expr& e,
                                                    Matcher&, Then then) {
      const auto* global = e.As<graph::GlobalVarNode>();
      const Function* f = global ? module.Find(global->name) : nullptr;
      return f && !FirstDifference(*f, wanted) && then();
    });
  }

  const Rule& rule_;
  const Module& module_;
  const RuleBody body_;
  std::unordered_map<const graph::VarNode*, graph::Expr> values_;
  std::unordered_map<const graph::VarNode*, Pattern> patterns_;
  PatternContext context_;
};

// The replacement with the functions that it calls under the module's names.
graph::GraphFunction InModule(const Rule& rule, Module& module) {
  const graph::Expr e =
      graph::Rewrite(rule.replacement, [&](const graph::Expr& below) {
        const auto* global = below.As<graph::GlobalVarNode>();
        if (!global) return graph::Expr();
        Function f = *rule.module.Find(global->name);
        f.is_private = true;
        f.attrs.erase("global_symbol");
        return graph::Global(AddTensorFunction(std::move(f), module));
      });
  return graph::GraphFunction(e.As<graph::FunctionNode>());
}

class RuleApplier {
 public:
  RuleApplier(const Module& module, const std::vector<Rule>& rules)
      : module_(module), rules_(rules) {}

  absl::StatusOr<Module> Run() {
    // Functions are added behind, and are not rewritten.
    for (graph::GraphFunction& f : module_.graph_functions) {
      if (!f->body || IsPrimitive(*f)) continue;
      if (!StringAttr(*f, kCompositeAttr).empty()) continue;
      KILN_RETURN_IF_ERROR(Rewrite(f));
    }
    return std::move(module_);
  }

 private:
  absl::Status Rewrite(graph::GraphFunction& f) {
    std::set<std::string> applied;
    for (int64_t rounds = 0; rounds <= kMostRounds; ++rounds) {
      bool changed = false;
      for (const Rule& rule : rules_) {
        KILN_ASSIGN_OR_RETURN(const bool matched, Apply(rule, f));
        if (matched && rounds > 0) applied.insert(rule.name);
        changed = changed || matched;
      }
      if (!changed) return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "rules ", absl::StrJoin(applied, ", "), " went over ", f->name, " ",
        kMostRounds,
        " times and still match: one makes what another one takes; rules that "
        "all lead to smaller programs, or to one form, come to an end"));
  }

  // Whether the rule matched.
  absl::StatusOr<bool> Apply(const Rule& rule, graph::GraphFunction& f) {
    const RulePatterns patterns(rule, module_);
    BindingsOptions options;
    options.infer = [&](const graph::GraphFunction& g) {
      return InferFunction(*g, module_);
    };
    options.is_pure = [&](const graph::Expr& value) {
      return !value.As<graph::MatchCastNode>() && IsPure(value, module_);
    };
    const auto put = [&](const Match& match, graph::Emitter& emit) {
      return Written(rule, patterns, match, emit);
    };
    absl::StatusOr<graph::GraphFunction> after =
        RewriteBindings(f, patterns.context(), put, options);
    if (!after.ok()) {
      return absl::Status(
          after.status().code(),
          absl::StrCat("rule ", rule.name, ": ", after.status().message()));
    }
    const bool matched = after->get() != f.get();
    f = *std::move(after);
    return matched;
  }

  Replacements Written(const Rule& rule, const RulePatterns& patterns,
                       const Match& match, graph::Emitter& emit) {
    const RuleBody body = BodyOf(*InModule(rule, module_));
    graph::Substitution known = patterns.Known(match);
    for (const graph::Binding& binding : body.bindings) {
      const graph::Expr value = graph::Substitute(binding.value, known);
      known.vars[binding.var.get()] = value.As<graph::VarNode>()
                                          ? value
                                          : emit.Emit(value, binding.var->name);
    }
    Replacements replacements;
    const std::vector<graph::Expr> results = patterns.Results(match);
    for (size_t i = 0; i < results.size(); ++i) {
      replacements.emplace_back(results[i],
                                graph::Substitute(body.results[i], known));
    }
    return replacements;
  }

  static constexpr int64_t kMostRounds = 100;

  Module module_;
  const std::vector<Rule>& rules_;
};

}  // namespace

absl::StatusOr<Module> ApplyRules(const Module& module,
                                  const std::vector<Rule>& rules) {
  return RuleApplier(module, rules).Run();
}

}  // namespace kiln
