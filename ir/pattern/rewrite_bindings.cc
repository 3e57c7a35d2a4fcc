// One match at a time: the values of the variables that are replaced change in
// their places, new bindings stand behind, and the whole is ordered again.
//
//   q = matmul(x, a)         q = p[0]                w = concat(a, b)
//   k = matmul(x, b)         k = p[1]                p = split(matmul(x, w))
//                            w = concat(a, b)        q = p[0]
//                            p = split(...)          k = p[1]
#include "kiln/ir/pattern/rewrite_bindings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/pattern/order_bindings.h"
#include "kiln/ir/pattern/uses.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using Bindings = std::vector<Binding>;

// Pure bindings that follow each other.
struct Stretch {
  size_t begin, end;
};

std::vector<Stretch> StretchesOf(const BindingBlock& block,
                                 const BindingsOptions& options) {
  if (block.is_dataflow) return {{0, block.bindings.size()}};
  std::vector<Stretch> stretches;
  bool is_open = false;
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const bool is_pure =
        options.is_pure && options.is_pure(block.bindings[i].value);
    if (is_pure && !is_open) stretches.push_back({i, i});
    if (is_pure) stretches.back().end = i + 1;
    is_open = is_pure;
  }
  return stretches;
}

// What becomes of one stretch.
class StretchRewriter {
 public:
  StretchRewriter(const graph::GraphFunction& f, const Uses& uses,
                  const PatternContext& context, BindingsRule rule)
      : f_(f), uses_(uses), context_(context), rule_(rule) {}

  // The bindings after one match; nullopt where there is none.
  absl::StatusOr<std::optional<Bindings>> Run(const Bindings& bindings,
                                              bool is_dataflow) {
    std::optional<Bindings> rewritten;
    absl::Status error;
    KILN_ASSIGN_OR_RETURN(
        const bool found,
        context_.Find(bindings, uses_, [&](const Match& match) {
          absl::StatusOr<std::optional<Bindings>> after =
              Apply(bindings, is_dataflow, match);
          error = after.status();
          if (after.ok()) rewritten = *std::move(after);
          return !error.ok() || rewritten.has_value();
        }));
    KILN_RETURN_IF_ERROR(error);
    if (!found) return std::optional<Bindings>();
    return rewritten;
  }

 private:
  absl::StatusOr<std::optional<Bindings>> Apply(const Bindings& bindings,
                                                bool is_dataflow,
                                                const Match& match) {
    Bindings emitted;
    graph::Substitution replaced;
    graph::Emitter emit(is_dataflow, &emitted, &replaced);
    const Replacements replacements = rule_(match, emit);
    for (const auto& [var, value] : replacements) {
      replaced.vars[var.As<graph::VarNode>()] = value;
    }
    if (replaced.vars.empty()) return std::optional<Bindings>();
    Bindings after = bindings;
    KILN_RETURN_IF_ERROR(Replace(replaced, after));
    BindInPlace(emitted, after);
    after.insert(after.end(), emitted.begin(), emitted.end());
    std::optional<Bindings> ordered = OrderBindings(
        after, [&](const VarNode* dim) { return IsOfParameter(dim); });
    if (!ordered) return std::optional<Bindings>();
    if (is_dataflow) UseInPlace(*ordered, replaced);
    return WithoutUnused(std::move(*ordered), bindings, match);
  }

  static absl::Status Replace(const graph::Substitution& replaced,
                              Bindings& bindings) {
    size_t count = 0;
    for (Binding& binding : bindings) {
      const auto found = replaced.vars.find(binding.var.get());
      if (found == replaced.vars.end()) continue;
      ++count;
      binding.value = found->second;
      const auto used = UsedVars(binding.value);
      if (std::count(used.begin(), used.end(), binding.var.get()) == 0) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("what the rule gives for ", binding.var->name,
                       " uses it; let the pattern match what stands below it, "
                       "and use that"));
    }
    if (count == replaced.vars.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "the rule replaces what the block of the match does not bind; a "
        "replacement is for a variable that a pattern of the context matched, "
        "and no parameter or value of another block");
  }

  static void Rename(const graph::Substitution& names, Bindings& bindings) {
    if (names.is_empty()) return;
    for (Binding& binding : bindings) {
      const auto used = UsedVars(binding.value);
      const bool is_renamed = std::any_of(
          used.begin(), used.end(),
          [&](const auto* var) { return names.vars.count(var) > 0; });
      if (!is_renamed || names.vars.count(binding.var.get()) > 0) continue;
      binding.value = graph::Substitute(binding.value, names);
    }
  }

  // A new value that a replaced variable is another name of is bound to that
  // variable itself.
  static void BindInPlace(Bindings& emitted, Bindings& bindings) {
    graph::Substitution names;
    for (Binding& binding : bindings) {
      const auto value = std::find_if(
          emitted.begin(), emitted.end(), [&](const Binding& made) {
            return made.var.get() == binding.value.get();
          });
      if (value == emitted.end()) continue;
      names.vars[value->var.get()] = binding.var;
      binding.value = value->value;
      emitted.erase(value);
    }
    Rename(names, emitted);
    Rename(names, bindings);
  }

  // A replaced variable that only the block sees, and that is another name now,
  // goes.
  static void UseInPlace(Bindings& bindings,
                         const graph::Substitution& replaced) {
    graph::Substitution names;
    for (const Binding& binding : bindings) {
      const graph::VarNode* var = binding.var.get();
      const bool is_name = replaced.vars.count(var) > 0 && var->is_dataflow &&
                           binding.value.As<graph::VarNode>();
      if (is_name) names.vars[var] = binding.value;
    }
    Rename(names, bindings);
  }

  bool IsOfParameter(const VarNode* dim) const {
    for (const graph::Var& param : f_->params) {
      for (const Var& known : graph::DefinedScalars(param->info)) {
        if (known.get() == dim) return true;
      }
    }
    return false;
  }

  // Without the values of the match, and what only those needed.
  Bindings WithoutUnused(Bindings bindings, const Bindings& before,
                         const Match& match) const {
    std::set<const graph::VarNode*> candidates;
    for (const graph::Expr& matched : match.All()) {
      for (const graph::VarNode* var : UsedVars(matched)) {
        candidates.insert(var);
      }
    }
    std::unordered_map<const graph::VarNode*, int> counts = Counts(bindings);
    for (const auto& [var, count] : OutsideCounts(before)) {
      counts[var] += count;
    }
    // Users stand behind what they use.
    for (size_t i = bindings.size(); i-- > 0;) {
      const graph::VarNode* var = bindings[i].var.get();
      const bool is_unused = counts[var] == 0 && candidates.count(var) > 0 &&
                             !bindings[i].value.As<graph::MatchCastNode>();
      if (!is_unused) continue;
      for (const graph::VarNode* used : UsedIn(bindings[i])) {
        --counts[used];
        candidates.insert(used);
      }
      bindings.erase(bindings.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return bindings;
  }

  static std::vector<const graph::VarNode*> UsedIn(const Binding& binding) {
    std::vector<const graph::VarNode*> vars = UsedVars(binding.value);
    for (const auto* var : ShapeVars(binding.var->info)) vars.push_back(var);
    return vars;
  }

  static std::unordered_map<const graph::VarNode*, int> Counts(
      const Bindings& bindings) {
    std::unordered_map<const graph::VarNode*, int> counts;
    for (const Binding& binding : bindings) {
      for (const graph::VarNode* var : UsedIn(binding)) ++counts[var];
    }
    return counts;
  }

  // How often variables are used in the function, outside of the bindings.
  std::unordered_map<const graph::VarNode*, int> OutsideCounts(
      const Bindings& bindings) const {
    std::unordered_map<const graph::VarNode*, int> counts;
    for (const graph::VarNode* var : UsedVars(f_->body)) ++counts[var];
    for (const auto* var : ShapeVars(f_->result)) ++counts[var];
    for (const auto& [var, count] : Counts(bindings)) counts[var] -= count;
    return counts;
  }

  const graph::GraphFunction& f_;
  const Uses& uses_;
  const PatternContext& context_;
  const BindingsRule rule_;
};

// The blocks, those that follow each other without dataflow as one.
std::vector<BindingBlock> Joined(const std::vector<BindingBlock>& blocks) {
  std::vector<BindingBlock> joined;
  for (const BindingBlock& block : blocks) {
    if (joined.empty() || block.is_dataflow || joined.back().is_dataflow) {
      joined.push_back(block);
    } else {
      Bindings& bindings = joined.back().bindings;
      bindings.insert(bindings.end(), block.bindings.begin(),
                      block.bindings.end());
    }
  }
  return joined;
}

// The blocks with other bindings in the place of a stretch of one of them.
std::vector<BindingBlock> WithStretch(std::vector<BindingBlock> blocks,
                                      size_t block, Stretch stretch,
                                      const Bindings& bindings) {
  Bindings& all = blocks[block].bindings;
  const auto at = [&](size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(i);
  };
  all.erase(at(stretch.begin), at(stretch.end));
  all.insert(at(stretch.begin), bindings.begin(), bindings.end());
  if (all.empty()) {
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(block));
  }
  return blocks;
}

std::vector<graph::Expr> SequencesOf(const graph::Expr& e) {
  std::vector<graph::Expr> sequences;
  graph::Visit(e, [&](const graph::Expr& below) {
    if (below.As<graph::SeqNode>()) sequences.push_back(below);
    return true;
  });
  return sequences;
}

// The blocks after one match; nullopt where there is none.
absl::StatusOr<std::optional<std::vector<BindingBlock>>> RewriteBlocks(
    const std::vector<BindingBlock>& blocks, StretchRewriter& rewriter,
    const BindingsOptions& options) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const Stretch& stretch : StretchesOf(blocks[i], options)) {
      const auto begin = blocks[i].bindings.begin();
      const Bindings bindings(
          begin + static_cast<std::ptrdiff_t>(stretch.begin),
          begin + static_cast<std::ptrdiff_t>(stretch.end));
      KILN_ASSIGN_OR_RETURN(std::optional<Bindings> after,
                            rewriter.Run(bindings, blocks[i].is_dataflow));
      if (after) return WithStretch(blocks, i, stretch, *after);
    }
  }
  return std::optional<std::vector<BindingBlock>>();
}

// The function after one match; nullopt where there is none.
absl::StatusOr<std::optional<graph::GraphFunction>> RewriteOne(
    const graph::GraphFunction& f, const PatternContext& context,
    BindingsRule rule, const BindingsOptions& options) {
  const Uses uses(f->body);
  StretchRewriter rewriter(f, uses, context, rule);
  for (const graph::Expr& e : SequencesOf(f->body)) {
    const auto& seq = *e.As<graph::SeqNode>();
    KILN_ASSIGN_OR_RETURN(auto after,
                          RewriteBlocks(Joined(seq.blocks), rewriter, options));
    if (!after) continue;
    const graph::Expr made = graph::Seq(*std::move(after), seq.result);
    return graph::WithBody(
        *f, graph::Rewrite(f->body, [&](const graph::Expr& below) {
          return below.get() == e.get() ? made : graph::Expr();
        }));
  }
  return std::optional<graph::GraphFunction>();
}

int64_t CountBindings(const graph::Expr& e) {
  int64_t count = 0;
  for (const graph::Expr& seq : SequencesOf(e)) {
    for (const BindingBlock& block : seq.As<graph::SeqNode>()->blocks) {
      count += static_cast<int64_t>(block.bindings.size());
    }
  }
  return count;
}

}  // namespace

absl::StatusOr<graph::GraphFunction> RewriteBindings(
    const graph::GraphFunction& f, const PatternContext& context,
    BindingsRule rule, const BindingsOptions& options) {
  if (!f->body) return f;
  const int64_t limit = kMostRewrites + 16 * CountBindings(f->body);
  graph::GraphFunction rewritten = f;
  bool is_new = false;  // what infer has not seen yet
  for (int64_t rewrites = 0; rewrites <= limit;) {
    KILN_ASSIGN_OR_RETURN(const auto after,
                          RewriteOne(rewritten, context, rule, options));
    if (after) {
      rewritten = *after;
      is_new = true;
      ++rewrites;
    } else if (is_new && options.infer) {
      KILN_ASSIGN_OR_RETURN(rewritten, options.infer(rewritten));
      is_new = false;
    } else {
      return rewritten;
    }
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "a rule matched ", limit, " times in ", f->name,
      " and still does: it matches what it has put in place of a match; a "
      "pattern that says more, or a rule that gives nothing for its own "
      "results, comes to an end"));
}

}  // namespace kiln
