#include "kiln/search/space/knob_names.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

namespace py = python;

constexpr int kMaxDepth = 16;       // of calls
constexpr size_t kMaxNames = 1000;  // more are no template that people read

class Reader {
 public:
  explicit Reader(const std::vector<py::Stmt>& file) {
    for (const py::Stmt& s : file) {
      if (IsPrivateFunction(s)) functions_[s.name] = &s;
    }
  }

  void Read(const std::vector<py::Stmt>& body, int depth) {
    for (const py::Stmt& s : body) {
      if (!s.value || names_.size() > kMaxNames) continue;
      std::string target;
      for (const py::Expr& t : s.targets) target = TargetName(t);
      Walk(*s.value, target, depth);
    }
  }

  std::vector<std::string> Take() && { return std::move(names_); }

 private:
  static std::string TargetName(const py::Expr& target) {
    if (target.kind == py::ExprKind::kName) return target.text;
    std::string names;
    for (const py::Expr& item : target.items) {
      const std::string name = TargetName(item);
      if (name.empty()) continue;
      absl::StrAppend(&names, names.empty() ? "" : ",", name);
    }
    return names;
  }

  // Arguments are evaluated before the call.
  void Walk(const py::Expr& e, const std::string& target, int depth) {
    for (const py::Expr& item : e.items) Walk(item, target, depth);
    if (e.kind != py::ExprKind::kCall || e.items.empty()) return;
    const std::string callee = py::DottedName(e.items[0]);
    if (callee.find(".sample_") != callee.npos) {
      names_.push_back(target.empty() ? absl::StrCat("knob", names_.size())
                                      : target);
      return;
    }
    const auto function = functions_.find(callee);
    if (function == functions_.end() || depth >= kMaxDepth) return;
    Read(function->second->body, depth + 1);
  }

  std::map<std::string, const py::Stmt*> functions_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> KnobNames(const python::Source& source,
                                   std::string_view function) {
  const auto file = py::ParseFile(source);
  if (!file.ok()) return {};
  Reader reader(*file);
  bool is_file = true;  // statements without a function
  for (const py::Stmt& s : *file) {
    if (s.kind != py::StmtKind::kFunction || IsPrivateFunction(s)) continue;
    is_file = false;
    if (function.empty() || s.name == function) reader.Read(s.body, 0);
  }
  if (is_file) reader.Read(*file, 0);
  return std::move(reader).Take();
}

}  // namespace kiln
