#include "kiln/tests/conformance/recorded_patterns.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/transform/graph/composite.h"
#include "kiln/ir/transform/graph/fuse_ops_by_pattern.h"

namespace kiln {
namespace {

// The pattern of the value of a function.
class PatternReader {
 public:
  explicit PatternReader(const graph::FunctionNode& f)
      : bound_(BoundValuesOf(f.body)) {}

  Pattern Of(const graph::Expr& e) {
    const auto* var = e.As<graph::VarNode>();
    if (!var) return OfValue(e);
    const auto known = patterns_.find(var);
    if (known != patterns_.end()) return known->second;
    const auto bound = bound_.find(var);
    const Pattern made = bound == bound_.end() ? Wildcard() : Of(bound->second);
    patterns_.emplace(var, made);
    return made;
  }

  size_t size() const { return size_; }

 private:
  Pattern OfValue(const graph::Expr& e) {
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      return IsTuple(OfAll(tuple->fields));
    }
    if (const auto* item = e.As<graph::TupleItemNode>()) {
      return IsItem(Of(item->tuple), item->index);
    }
    const auto* call = e.As<graph::CallNode>();
    const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
    if (!op) return Wildcard();
    ++size_;
    return IsOp(op->name, OfAll(call->args));
  }

  std::vector<Pattern> OfAll(const std::vector<graph::Expr>& es) {
    std::vector<Pattern> patterns;
    for (const graph::Expr& e : es) patterns.push_back(Of(e));
    return patterns;
  }

  const BoundValues bound_;
  std::unordered_map<const graph::VarNode*, Pattern> patterns_;
  size_t size_ = 0;
};

// By size, the larger ones first.
using Patterns = std::multimap<size_t, FusionPattern, std::greater<>>;

Patterns PatternsOf(const Module& after) {
  Patterns found;
  for (const graph::GraphFunction& f : after.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* composite = e.As<graph::FunctionNode>();
      const std::string name =
          composite ? StringAttr(*composite, kCompositeAttr) : "";
      const auto* seq =
          name.empty() ? nullptr : composite->body.As<graph::SeqNode>();
      if (!seq) return true;
      PatternReader reader(*composite);
      const Pattern pattern = reader.Of(seq->result);
      found.emplace(reader.size(), FusionPattern{name, pattern, nullptr});
      return true;
    });
  }
  return found;
}

}  // namespace

absl::StatusOr<Module> FuseAsIn(const Module& before, const Module& after) {
  std::vector<FusionPattern> patterns;
  for (auto& [size, pattern] : PatternsOf(after)) patterns.push_back(pattern);
  PatternFusionOptions options;
  for (const graph::GraphFunction& f : after.graph_functions) {
    if (f->attrs.count(kCodegenAttr)) options.annotates_codegen = true;
  }
  return FuseOpsByPattern(before, patterns, options);
}

}  // namespace kiln
