// Names in the bodies of graph functions are edges of a graph, as many as there
// are calls. Of
//
//   main:  y = cls.layer(x); z = cls.layer(y); R.call_tir(cls.relu, (z,))
//   layer: R.call_tir(cls.dense, (x,))
//
// main has two edges to layer and one to relu, layer one to dense. A walk in
// depth puts callers before those they call, apart from calls that lead back;
// in this order runs are handed on along the edges: main 1, layer 2, relu 1,
// dense 2. The walk keeps a stack of its own, since chains of functions may be
// long.
#include "kiln/tools/tuning/call_counts.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kiln/ir/graph/visit.h"

namespace kiln {
namespace {

using Edges = std::map<std::string, double>;  // calls by name

Edges CallsIn(const graph::FunctionNode& f) {
  Edges calls;
  if (!f.body) return calls;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    const auto* global = e.As<graph::GlobalVarNode>();
    const auto* packed = e.As<graph::ExternNode>();
    if (global || packed) ++calls[global ? global->name : packed->name];
    return true;
  });
  return calls;
}

class CallGraph {
 public:
  explicit CallGraph(const Module& module) : module_(module) {
    for (const graph::GraphFunction& f : module.graph_functions) {
      edges_.emplace(f->name, CallsIn(*f));
    }
  }

  void EnterAll() {
    std::set<std::string> called;  // by others
    for (const auto& [name, calls] : edges_) {
      for (const auto& [callee, count] : calls) {
        if (callee != name) called.insert(callee);
      }
    }
    for (bool any : {false, true}) {  // any: where all call each other
      for (const graph::GraphFunction& f : module_.graph_functions) {
        if (f->is_private || (!any && called.count(f->name))) continue;
        Enter(f->name);
      }
    }
  }

  // Adds a run of the function, unless one that was entered reaches it.
  void Enter(const std::string& name) {
    if (!edges_.count(name) || seen_.count(name)) return;
    runs_[name] = 1;
    Walk(name);
  }

  Edges Counts() {
    Edges counts;
    std::set<std::string> before;
    for (auto name = finished_.rbegin(); name != finished_.rend(); ++name) {
      before.insert(*name);
      for (const auto& [callee, count] : edges_[*name]) {
        if (before.count(callee)) continue;
        double& sum = module_.Find(callee) ? counts[callee] : runs_[callee];
        sum = std::min(sum + runs_[*name] * count, kMostCalls);
      }
    }
    return counts;
  }

 private:
  struct Stop {
    std::string name;
    Edges::const_iterator next;
  };

  void Walk(const std::string& root) {
    std::vector<Stop> way;
    const auto go_to = [&](const std::string& name) {
      const auto it = edges_.find(name);
      if (it == edges_.end() || !seen_.insert(name).second) return;
      way.push_back({name, it->second.begin()});
    };
    go_to(root);
    while (!way.empty()) {
      Stop& stop = way.back();
      if (stop.next != edges_[stop.name].end()) {
        go_to((stop.next++)->first);
        continue;
      }
      finished_.push_back(stop.name);
      way.pop_back();
    }
  }

  const Module& module_;
  std::map<std::string, Edges> edges_;  // of graph functions
  std::set<std::string> seen_;
  std::vector<std::string> finished_;  // those that they call come before
  Edges runs_;
};

}  // namespace

std::map<std::string, double> CallCounts(const Module& module,
                                         const std::string& entry) {
  CallGraph graph(module);
  if (entry.empty()) {
    graph.EnterAll();
  } else {
    graph.Enter(entry);
  }
  return graph.Counts();
}

}  // namespace kiln
