#include "kiln/schedule/trace/script.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/schedule/trace/script_call.h"
#include "kiln/schedule/trace/script_lambda.h"
#include "kiln/schedule/trace/script_values.h"

namespace kiln {
namespace {

namespace py = python;

using Names = std::map<std::string, Arg>;

class Runner {
 public:
  Runner(const py::Source& source, Schedule* schedule)
      : source_(source), schedule_(schedule) {}

  // Runs statements until one returns; gives what that returns.
  absl::StatusOr<Arg> Run(const std::vector<py::Stmt>& body) {
    for (const py::Stmt& s : body) {
      if (s.kind == py::StmtKind::kReturn) {
        if (&s == &body.back()) return Returned(s);
        return source_.Error((&s)[1].begin,
                             "what stands after `return` never runs");
      }
      KILN_RETURN_IF_ERROR(RunStmt(s));
    }
    return Arg();
  }

  void NameSchedule(std::string name) { schedule_name_ = std::move(name); }

  // Constants ahead of the function, what is no constant being left undefined,
  // and the functions that it may call.
  void ReadFile(const std::vector<py::Stmt>& file) {
    for (const py::Stmt& s : file) {
      if (IsPrivateFunction(s)) functions_[s.name] = &s;
      if (s.kind != py::StmtKind::kAssign || s.targets.size() != 1) continue;
      if (s.targets[0].kind != py::ExprKind::kName) continue;
      if (s.value->kind == py::ExprKind::kCall) continue;
      auto value = Eval(*s.value);
      if (value.ok()) names_[s.targets[0].text] = *std::move(value);
    }
    constants_ = names_;
  }

 private:
  // The schedule itself is returned as nothing.
  absl::StatusOr<Arg> Returned(const py::Stmt& s) {
    if (!s.value || s.value->IsName(schedule_name_)) return Arg();
    return Eval(*s.value);
  }

  absl::Status RunStmt(const py::Stmt& s) {
    switch (s.kind) {
      case py::StmtKind::kImport:
      case py::StmtKind::kPass:
        return absl::OkStatus();
      case py::StmtKind::kExpr:
        if (s.value->kind == py::ExprKind::kString) return absl::OkStatus();
        if (s.value->kind == py::ExprKind::kCall) {
          return Eval(*s.value).status();
        }
        return source_.Error(s.begin,
                             "this computes a value and drops it; a step is a "
                             "call of `" +
                                 schedule_name_ + "`");
      case py::StmtKind::kAssign:
        return Assign(s);
      case py::StmtKind::kClass:
      case py::StmtKind::kFunction:
      case py::StmtKind::kAnnotate:
      case py::StmtKind::kAugment:
      case py::StmtKind::kReturn:
      case py::StmtKind::kBreak:
      case py::StmtKind::kContinue:
      case py::StmtKind::kFor:
      case py::StmtKind::kWhile:
      case py::StmtKind::kIf:
      case py::StmtKind::kWith:
      case py::StmtKind::kAssert:
      case py::StmtKind::kOther:
      case py::StmtKind::kTry:
        break;
    }
    return source_.Error(s.begin,
                         "a schedule function is a straight line of calls and "
                         "assignments; this is neither");
  }

  // `sch = tvm.tir.Schedule(...)` in a file without a function.
  bool MakesSchedule(const py::Stmt& s) const {
    if (s.value->kind != py::ExprKind::kCall) return false;
    const std::string callee = py::DottedName(s.value->items[0]);
    const size_t dot = callee.rfind('.');
    return (dot == std::string::npos ? callee : callee.substr(dot + 1)) ==
               "Schedule" &&
           s.targets.size() == 1 && s.targets[0].kind == py::ExprKind::kName;
  }

  absl::Status Assign(const py::Stmt& s) {
    if (MakesSchedule(s)) {
      NameSchedule(s.targets[0].text);
      return absl::OkStatus();
    }
    KILN_ASSIGN_OR_RETURN(const Arg value, Eval(*s.value));
    for (const py::Expr& target : s.targets) {
      KILN_RETURN_IF_ERROR(Store(target, value));
    }
    return absl::OkStatus();
  }

  absl::Status Store(const py::Expr& target, const Arg& value) {
    if (target.kind == py::ExprKind::kName) {
      if (target.text == schedule_name_) {
        return source_.Error(target.begin, "`" + target.text +
                                               "` is the schedule here and "
                                               "cannot be something else");
      }
      names_[target.text] = value;
      return absl::OkStatus();
    }
    if (target.kind != py::ExprKind::kTuple &&
        target.kind != py::ExprKind::kList) {
      return source_.Error(target.begin, "only names can be assigned to");
    }
    if (!value.list()) {
      return source_.Error(target.begin,
                           "the value is one thing and cannot be unpacked");
    }
    return Unpack(target, *value.list());
  }

  absl::Status Unpack(const py::Expr& target, const ArgList& values) {
    const size_t count = target.items.size();
    size_t starred = count;
    for (size_t i = 0; i < count; ++i) {
      if (target.items[i].kind == py::ExprKind::kStarred) starred = i;
    }
    const bool has_star = starred < count;
    if (has_star ? values.size() + 1 < count : values.size() != count) {
      return source_.Error(target.begin,
                           absl::StrCat("there are ", values.size(),
                                        " values for ", count, " names"));
    }
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i != starred) {
        KILN_RETURN_IF_ERROR(Store(target.items[i], values[next++]));
        continue;
      }
      const size_t take = values.size() + 1 - count;
      KILN_RETURN_IF_ERROR(Store(
          target.items[i].items[0],
          Arg(ArgList(values.begin() + next, values.begin() + next + take))));
      next += take;
    }
    return absl::OkStatus();
  }

  static std::optional<Arg> Constant(const py::Expr& e) {
    if (e.kind == py::ExprKind::kString) return Arg(e.text);
    if (e.kind == py::ExprKind::kTrue) return Arg(true);
    if (e.kind == py::ExprKind::kFalse) return Arg(false);
    if (e.kind == py::ExprKind::kNone) return Arg();
    return std::nullopt;
  }

  absl::StatusOr<Arg> Eval(const py::Expr& e) {
    if (py::IsIntegerLiteral(e)) {
      KILN_ASSIGN_OR_RETURN(const int64_t value, py::IntegerValue(source_, e));
      return Arg(value);
    }
    if (std::optional<Arg> constant = Constant(e)) return *std::move(constant);
    KILN_ASSIGN_OR_RETURN(Arg value, Compute(e));
    if (IsSmall(value)) return value;
    return source_.Error(e.begin,
                         "this value has more than 10000 parts, or some more "
                         "than 200 levels deep; build it in fewer steps");
  }

  absl::StatusOr<Arg> Compute(const py::Expr& e) {
    switch (e.kind) {
      case py::ExprKind::kName:
        return Name(e);
      case py::ExprKind::kFloat:
        return Real(e);
      case py::ExprKind::kTuple:
      case py::ExprKind::kList:
        return Items(e, 0);
      case py::ExprKind::kDict:
        return Dict(e);
      case py::ExprKind::kSubscript:
        return Subscript(e);
      case py::ExprKind::kUnary:
      case py::ExprKind::kBinary:
        return e.kind == py::ExprKind::kUnary ? Unary(e) : Binary(e);
      case py::ExprKind::kLambda:
        return ReadIndexMap(source_, e, names_);
      case py::ExprKind::kCall:
        return Call(e);
      case py::ExprKind::kInt:
      case py::ExprKind::kString:
      case py::ExprKind::kTrue:
      case py::ExprKind::kFalse:
      case py::ExprKind::kNone:
      case py::ExprKind::kEllipsis:
      case py::ExprKind::kAttribute:
      case py::ExprKind::kKeyword:
      case py::ExprKind::kStarred:
      case py::ExprKind::kSlice:
      case py::ExprKind::kOmitted:
      case py::ExprKind::kSet:
      case py::ExprKind::kCompare:
      case py::ExprKind::kBoolean:
      case py::ExprKind::kConditional:
      case py::ExprKind::kComprehension:
        break;
    }
    return CannotHold(e);
  }

  absl::Status CannotHold(const py::Expr& e) const {
    return source_.Error(e.begin,
                         absl::StrCat("a schedule function cannot hold ",
                                      std::string(py::DescribeKind(e.kind))));
  }

  absl::StatusOr<Arg> Name(const py::Expr& e) {
    const auto found = names_.find(e.text);
    if (found != names_.end()) return found->second;
    return source_.Error(e.begin, "`" + e.text + "` is not defined");
  }

  absl::StatusOr<Arg> Real(const py::Expr& e) {
    KILN_ASSIGN_OR_RETURN(const double value, py::FloatValue(source_, e));
    return Arg(value);
  }

  // The values of e.items from `first` on, with starred lists in place.
  absl::StatusOr<Arg> Items(const py::Expr& e, size_t first) {
    ArgList list;
    for (size_t i = first; i < e.items.size(); ++i) {
      const bool starred = e.items[i].kind == py::ExprKind::kStarred;
      KILN_ASSIGN_OR_RETURN(Arg value,
                            Eval(starred ? e.items[i].items[0] : e.items[i]));
      if (!starred) {
        list.push_back(std::move(value));
      } else if (value.list()) {
        list.insert(list.end(), value.list()->begin(), value.list()->end());
      } else {
        return source_.Error(e.items[i].begin, "only a list can be starred");
      }
    }
    return Arg(std::move(list));
  }

  absl::StatusOr<Arg> Dict(const py::Expr& e) {
    ArgDict dict;
    for (size_t i = 0; i + 1 < e.items.size(); i += 2) {
      if (e.items[i].kind != py::ExprKind::kString) {
        return source_.Error(e.items[i].begin, "keys have to be strings");
      }
      KILN_ASSIGN_OR_RETURN(Arg value, Eval(e.items[i + 1]));
      dict.emplace_back(e.items[i].text, std::move(value));
    }
    return Arg(std::move(dict));
  }

  absl::StatusOr<std::optional<int64_t>> Position(const py::Expr& e) {
    if (e.kind == py::ExprKind::kOmitted) return std::optional<int64_t>();
    KILN_ASSIGN_OR_RETURN(const Arg value, Eval(e));
    if (value.integer()) return std::optional<int64_t>(*value.integer());
    return source_.Error(e.begin, "a position has to be a plain integer");
  }

  absl::StatusOr<Arg> Subscript(const py::Expr& e) {
    KILN_ASSIGN_OR_RETURN(const Arg list, Eval(e.items[0]));
    std::optional<Arg> result;
    if (e.items.size() == 2 && e.items[1].kind == py::ExprKind::kSlice) {
      const auto& slice = e.items[1].items;
      KILN_ASSIGN_OR_RETURN(const auto begin, Position(slice[0]));
      KILN_ASSIGN_OR_RETURN(const auto end, Position(slice[1]));
      const bool has_step =
          slice.size() > 2 && slice[2].kind != py::ExprKind::kOmitted;
      if (!has_step) result = ArgSlice(list, begin, end);
    } else if (e.items.size() == 2) {
      KILN_ASSIGN_OR_RETURN(const auto index, Position(e.items[1]));
      result = ArgItem(list, index.value_or(0));
    }
    if (result) return *std::move(result);
    return source_.Error(e.begin, "there is no such element");
  }

  absl::StatusOr<Arg> Unary(const py::Expr& e) {
    KILN_ASSIGN_OR_RETURN(const Arg value, Eval(e.items[0]));
    if (value.real() && e.text == "-") return Arg(-*value.real());
    if (value.real() && e.text == "+") return value;
    if (auto result = ArgBinary(e.text, Arg(0), value)) {
      return *std::move(result);
    }
    return source_.Error(e.begin, "the operator does not fit its operand");
  }

  absl::StatusOr<Arg> Binary(const py::Expr& e) {
    KILN_ASSIGN_OR_RETURN(const Arg a, Eval(e.items[0]));
    KILN_ASSIGN_OR_RETURN(const Arg b, Eval(e.items[1]));
    if (auto result = ArgBinary(e.text, a, b)) return *std::move(result);
    return source_.Error(e.begin,
                         "the operator does not fit its operands, or the "
                         "result does not fit 64 bits");
  }

  absl::StatusOr<Arg> Call(const py::Expr& e) {
    const py::Expr& callee = e.items[0];
    if (callee.kind == py::ExprKind::kAttribute &&
        callee.items[0].IsName(schedule_name_)) {
      return CallPrimitive(e);
    }
    const std::string name = py::DottedName(callee);
    const auto function = functions_.find(name);
    if (function != functions_.end()) return CallPrivate(e, *function->second);
    const bool one_argument =
        e.items.size() == 2 && e.items[1].kind != py::ExprKind::kKeyword;
    if (one_argument && IsConversion(name)) return Eval(e.items[1]);
    if (one_argument && (name == "list" || name == "tuple")) {
      return Eval(e.items[1]);
    }
    if (one_argument && name == "len") {
      KILN_ASSIGN_OR_RETURN(const Arg list, Eval(e.items[1]));
      if (list.list()) return Arg(static_cast<int64_t>(list.list()->size()));
    }
    return source_.Error(e.begin,
                         absl::StrCat("a schedule function cannot call this; "
                                      "it calls primitives of `",
                                      schedule_name_, "`"));
  }

  // `_tile(sch, i, factor=4)`: the body in a scope of its own.
  absl::StatusOr<Arg> CallPrivate(const py::Expr& e, const py::Stmt& function) {
    if (depth_ == kMaxDepth) {
      return source_.Error(e.begin, "functions call each other too deeply");
    }
    KILN_ASSIGN_OR_RETURN(Names scope, BindParameters(e, function));
    std::swap(scope, names_);
    std::string caller = std::exchange(schedule_name_, ScheduleOf(function));
    ++depth_;
    absl::StatusOr<Arg> result = Run(function.body);
    --depth_;
    schedule_name_ = std::move(caller);
    names_ = std::move(scope);
    return result;
  }

  static std::string ScheduleOf(const py::Stmt& function) {
    return function.parameters.empty() ? "" : function.parameters[0].name;
  }

  absl::StatusOr<Names> BindParameters(const py::Expr& e,
                                       const py::Stmt& function) {
    const auto& parameters = function.parameters;
    if (e.items.size() < 2 || !e.items[1].IsName(schedule_name_)) {
      return source_.Error(
          e.begin, absl::StrCat("the first argument has to be the schedule `",
                                schedule_name_, "`"));
    }
    if (e.items.size() - 1 != parameters.size()) {
      return source_.Error(e.begin,
                           absl::StrCat("`", function.name, "` takes ",
                                        parameters.size(), " arguments"));
    }
    Names scope = constants_;
    std::set<std::string> bound;
    for (size_t i = 2; i < e.items.size(); ++i) {
      const py::Expr& item = e.items[i];
      const bool named = item.kind == py::ExprKind::kKeyword;
      const std::string name = named ? item.text : parameters[i - 1].name;
      if (!HasParameter(function, name) || !bound.insert(name).second) {
        return source_.Error(item.begin, "no parameter is left for this");
      }
      KILN_ASSIGN_OR_RETURN(scope[name], Eval(named ? item.items[0] : item));
    }
    return scope;
  }

  static bool HasParameter(const py::Stmt& function, const std::string& name) {
    return std::any_of(function.parameters.begin() + 1,
                       function.parameters.end(),
                       [&](const auto& p) { return p.name == name; });
  }

  static bool IsConversion(const std::string& name) {
    return name == "int" || name == "T.index_map" || name == "T.int32" ||
           name == "T.int64" || name == "T.float32" || name == "T.float64" ||
           name == "T.bool";
  }

  absl::StatusOr<Arg> CallPrimitive(const py::Expr& e) {
    ScriptCall call{source_, e, {}, {}};
    for (size_t i = 1; i < e.items.size(); ++i) {
      const py::Expr& item = e.items[i];
      if (item.kind == py::ExprKind::kKeyword) {
        if (call.named.count(item.text)) {
          return source_.Error(item.begin,
                               "`" + item.text + "` is given twice");
        }
        KILN_ASSIGN_OR_RETURN(call.named[item.text], Eval(item.items[0]));
        continue;
      }
      const bool starred = item.kind == py::ExprKind::kStarred;
      KILN_ASSIGN_OR_RETURN(Arg value, Eval(starred ? item.items[0] : item));
      if (starred && value.list()) {
        for (const Arg& element : *value.list()) {
          call.positional.push_back(element);
        }
      } else {
        call.positional.push_back(std::move(value));
      }
    }
    return call.Run(schedule_);
  }

  static constexpr int kMaxDepth = 16;

  const py::Source& source_;
  Schedule* schedule_;
  std::string schedule_name_ = "sch";
  Names names_;
  Names constants_;
  std::map<std::string, const py::Stmt*> functions_;
  int depth_ = 0;
};

// Whether the statement may be a step. Anything but plain values, comments and
// private functions may; Run says what is wrong with it.
bool HasCall(const py::Stmt& s) {
  if (s.kind == py::StmtKind::kImport || s.kind == py::StmtKind::kPass ||
      IsPrivateFunction(s)) {
    return false;
  }
  const bool has_value =
      s.kind == py::StmtKind::kAssign || s.kind == py::StmtKind::kExpr;
  return !has_value || s.value->kind == py::ExprKind::kCall;
}

absl::StatusOr<const py::Stmt*> FindFunction(const py::Source& source,
                                             const std::vector<py::Stmt>& file,
                                             std::string_view name) {
  const py::Stmt* found = nullptr;
  for (const py::Stmt& s : file) {
    if (s.kind != py::StmtKind::kFunction) continue;
    if (name.empty() ? IsPrivateFunction(s) : s.name != name) continue;
    if (found) {
      return source.Error(s.begin,
                          "there are several functions; say which one");
    }
    found = &s;
  }
  if (found || name.empty()) return found;
  return source.Error(
      {}, absl::StrCat("there is no function `", std::string(name), "`"));
}

}  // namespace

bool IsPrivateFunction(const py::Stmt& s) {
  return s.kind == py::StmtKind::kFunction && s.name.rfind("_", 0) == 0;
}

absl::Status RunScript(const py::Source& source, Schedule* schedule,
                       std::string_view name) {
  KILN_ASSIGN_OR_RETURN(const std::vector<py::Stmt> file,
                        py::ParseFile(source));
  KILN_ASSIGN_OR_RETURN(const py::Stmt* function,
                        FindFunction(source, file, name));
  Runner runner(source, schedule);
  if (!function) {
    if (std::none_of(file.begin(), file.end(), HasCall)) {
      return source.Error({},
                          "there is no schedule here: a function of a "
                          "schedule, def f(sch):, or calls of sch");
    }
    return runner.Run(file).status();
  }
  if (function->parameters.empty()) {
    return source.Error(function->begin,
                        "a schedule function takes the schedule as its "
                        "parameter");
  }
  if (function->parameters.size() > 1) {
    return source.Error(function->parameters[1].begin,
                        "a schedule function takes the schedule alone; write "
                        "other values into it");
  }
  runner.ReadFile(file);
  runner.NameSchedule(function->parameters[0].name);
  return runner.Run(function->body).status();
}

}  // namespace kiln
