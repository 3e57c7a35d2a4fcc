// Both programs in the form that all programs like them have, compared to the
// byte; where they differ, both as text, up to the first line that does:
//
//   function f differs, with names by position: line 7 of the first:
//   >             B1[v2] = B0[v2] + T.float32(1)
#include "kiln/ir/compare/compare.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

// Lines that are shown before and after the one that differs.
constexpr size_t kBefore = 3;
constexpr size_t kAfter = 2;

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

std::string Excerpt(const std::vector<std::string>& lines, size_t at) {
  std::string text;
  const size_t first = at > kBefore ? at - kBefore : 0;
  for (size_t i = first; i <= at + kAfter && i < lines.size(); ++i) {
    absl::StrAppend(&text, i == at ? "> " : "  ", lines[i], "\n");
  }
  if (at >= lines.size()) absl::StrAppend(&text, "> (the program ends here)\n");
  return text;
}

std::string FirstLine(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = Lines(a);
  const std::vector<std::string> right = Lines(b);
  size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  if (at == left.size() && at == right.size()) {
    return "they print alike, but constants or buffers differ in type, scope "
           "or alignment\n";
  }
  return absl::StrCat("line ", at + 1, " of the first:\n", Excerpt(left, at),
                      "and of the second:\n", Excerpt(right, at));
}

// Names of blocks are no difference: they are left out of what is shown.
Stmt WithoutBlockNames(const Stmt& s) {
  const auto* realize = s.As<BlockRealizeNode>();
  if (!realize) {
    return MapChildren(s, [](const Stmt& e) { return WithoutBlockNames(e); });
  }
  BlockFields block = realize->block->fields();
  if (block.name != "root") block.name = "";
  if (block.init) block.init = WithoutBlockNames(block.init);
  block.body = WithoutBlockNames(block.body);
  return MakeRealize(realize->values, realize->predicate,
                     MakeBlock(std::move(block)));
}

std::string Describe(Function a, Function b) {
  PrintOptions options;
  options.header = false;
  a.body = WithoutBlockNames(a.body);
  b.body = WithoutBlockNames(b.body);
  return FirstLine(PrintFunction(a, options), PrintFunction(b, options));
}

std::vector<std::string> Names(const Module& m) {
  std::vector<std::string> names;
  for (const Function& f : m.functions) names.push_back(f.name);
  for (const auto& f : m.graph_functions) names.push_back(f->name);
  return names;
}

bool SameNames(const Module& a, const Module& b) {
  const std::vector<std::string> left = Names(a), right = Names(b);
  return std::set<std::string>(left.begin(), left.end()) ==
         std::set<std::string>(right.begin(), right.end());
}

std::string NameList(const Module& m) {
  const std::vector<std::string> names = Names(m);
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

// `f` where functions of its module go by the names of the other module.
graph::GraphFunction Renamed(const graph::FunctionNode& f,
                             const std::map<std::string, std::string>& names) {
  const graph::Expr renamed =
      graph::Rewrite(graph::Expr(&f), [&](const graph::Expr& e) {
        const auto* global = e.As<graph::GlobalVarNode>();
        const auto found = global ? names.find(global->name) : names.end();
        return found == names.end() ? graph::Expr()
                                    : graph::Global(found->second);
      });
  return graph::GraphFunction(renamed.As<graph::FunctionNode>());
}

// `f` with dimensions in their simplest form.
graph::GraphFunction Simplified(const graph::GraphFunction& f) {
  Analyzer analyzer;
  const graph::Expr simple =
      graph::RewriteScalars(graph::Expr(f.get()), [&](const Expr& e) {
        return e.dtype() == DType::Index() ? analyzer.Simplify(e) : e;
      });
  return graph::GraphFunction(simple.As<graph::FunctionNode>());
}

std::string GraphForm(const graph::GraphFunction& f) {
  Module module;
  module.graph_functions.push_back(f);
  return CanonicalForm(module);
}

std::optional<std::string> FirstGraphDifference(const Module& a,
                                                const Module& b, bool by_name) {
  std::map<std::string, std::string> names;
  const std::vector<std::string> left = Names(a), right = Names(b);
  for (size_t i = 0; i < left.size() && !by_name; ++i) {
    names[right[i]] = left[i];
  }
  for (size_t i = 0; i < a.graph_functions.size(); ++i) {
    const graph::GraphFunction f = Simplified(a.graph_functions[i]);
    const graph::FunctionNode* other =
        by_name ? b.FindGraph(f->name) : b.graph_functions[i].get();
    if (!other) return absl::StrCat("function ", f->name, " is of two kinds\n");
    const graph::GraphFunction g = Simplified(Renamed(*other, names));
    if (GraphForm(f) == GraphForm(g)) continue;
    return absl::StrCat(
        "function ", f->name, " differs: ",
        FirstLine(PrintGraphFunction(*f), PrintGraphFunction(*g)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FirstDifference(const Function& a,
                                           const Function& b) {
  Function left = Normalize(a);
  Function right = Normalize(b);
  if (StructurallyEqual(left, right)) return std::nullopt;
  left.name = right.name = a.name;
  return absl::StrCat("function ", a.name, " differs, with names by position: ",
                      Describe(left, right));
}

std::optional<std::string> FirstDifference(const Module& a, const Module& b) {
  if (a.functions.size() != b.functions.size() ||
      a.graph_functions.size() != b.graph_functions.size()) {
    return absl::StrCat("one module has the functions ", NameList(a),
                        ", the other ", NameList(b), "\n");
  }
  const bool by_name = SameNames(a, b);
  for (size_t i = 0; i < a.functions.size(); ++i) {
    const Function& f = a.functions[i];
    const Function* g = by_name ? b.Find(f.name) : &b.functions[i];
    if (!g) return absl::StrCat("function ", f.name, " is of two kinds\n");
    if (auto difference = FirstDifference(f, *g)) return difference;
  }
  return FirstGraphDifference(a, b, by_name);
}

}  // namespace kiln
