// A pattern is a tree of nodes that are compared by identity; each node is a
// test of a value. What a node matched is noted, and taken back where an
// alternative fails:
//
//   (exp(a) | log(a)) on log(x): exp fails, log matches, a is x
#include "kiln/ir/pattern/pattern.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"
#include "re2/re2.h"

namespace kiln {

struct PatternNode {
  // Tests the value and the patterns below it by the matcher.
  std::function<bool(const graph::Expr&, Matcher&)> test;
  bool looks_inside = false;  // of what a variable is bound to
};

class Matcher {
 public:
  explicit Matcher(const BoundValues& bound) : bound_(bound) {}

  bool Run(const Pattern& pattern, const graph::Expr& value) {
    const auto known = match_.found_.find(pattern.get());
    if (known != match_.found_.end()) return Same(known->second, value);
    const auto before = match_.found_;
    if (pattern.get()->test(value, *this)) {
      match_.found_.emplace(pattern.get(), value);
      return true;
    }
    match_.found_ = before;
    return false;
  }

  // The value of a variable that is bound; else `e`.
  graph::Expr ValueOf(const graph::Expr& e) const {
    graph::Expr value = e;
    auto found = bound_.find(value.As<graph::VarNode>());
    while (found != bound_.end()) {
      value = found->second;
      found = bound_.find(value.As<graph::VarNode>());
    }
    return value;
  }

  Match Take() { return std::move(match_); }

 private:
  static bool Same(const graph::Expr& a, const graph::Expr& b) {
    return a.get() == b.get();
  }

  const BoundValues& bound_;
  Match match_;
};

BoundValues BoundValuesOf(const graph::Expr& e) {
  BoundValues bound;
  graph::Visit(e, [&](const graph::Expr& below) {
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return true;
    for (const graph::BindingBlock& block : seq->blocks) {
      for (const graph::Binding& binding : block.bindings) {
        bound[binding.var.get()] = binding.value;
      }
    }
    return true;
  });
  return bound;
}

const graph::Expr& Match::at(const Pattern& pattern) const {
  static const graph::Expr& none = *new graph::Expr();
  const auto found = found_.find(pattern.get());
  return found == found_.end() ? none : found->second;
}

bool Match::Has(const Pattern& pattern) const {
  return found_.count(pattern.get()) > 0;
}

std::vector<graph::Expr> Match::Inner() const {
  std::vector<graph::Expr> inner;
  for (const auto& [pattern, value] : found_) {
    if (pattern->looks_inside) inner.push_back(value);
  }
  return inner;
}

std::optional<Match> Pattern::Match(const graph::Expr& value,
                                    const BoundValues& bound) const {
  Matcher matcher(bound);
  if (!matcher.Run(*this, value)) return std::nullopt;
  return matcher.Take();
}

namespace {

using Test = std::function<bool(const graph::Expr&, Matcher&)>;

Pattern Make(Test test, bool looks_inside = false) {
  return Pattern(std::make_shared<const PatternNode>(
      PatternNode{std::move(test), looks_inside}));
}

// A test of what a value is bound to.
Pattern MakeInner(Test test) { return Make(std::move(test), true); }

using Regex = std::shared_ptr<const RE2>;
absl::StatusOr<Regex> Compile(const std::string& regex) {
  auto compiled = std::make_shared<const RE2>(regex, RE2::Quiet);
  if (compiled->ok()) return compiled;
  return absl::InvalidArgumentError(
      absl::StrCat(regex, " is no regular expression: ", compiled->error()));
}

bool MatchAll(const std::vector<Pattern>& patterns,
              const std::vector<graph::Expr>& values, Matcher& matcher) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!matcher.Run(patterns[i], values[i])) return false;
  }
  return true;
}

// Whether `e` is a tensor of which `test` holds.
bool IsTensor(const graph::Expr& e,
              const std::function<bool(const graph::TensorInfo&)>& test) {
  const graph::StructInfo info = graph::InfoOf(e);
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && test(*tensor);
}

// The pattern, and a test besides.
Pattern Narrowed(const Pattern& pattern, Test test) {
  return Make([pattern, test](const graph::Expr& e, Matcher& matcher) {
    return matcher.Run(pattern, e) && test(e, matcher);
  });
}

}  // namespace

Pattern Pattern::HasDType(DType dtype) const {
  return Narrowed(*this, [dtype](const graph::Expr& e, Matcher&) {
    return IsTensor(e, [&](const auto& t) { return t.dtype == dtype; });
  });
}

Pattern Pattern::HasRank(int rank) const {
  return Narrowed(*this, [rank](const graph::Expr& e, Matcher&) {
    return IsTensor(e, [&](const auto& t) { return t.rank == rank; });
  });
}

Pattern Pattern::HasShape(std::vector<int64_t> shape) const {
  const auto fits = [shape](const graph::TensorInfo& tensor) {
    const auto* extents = tensor.extents();
    if (!extents || extents->size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!IsConst((*extents)[i], shape[i])) return false;
    }
    return true;
  };
  return Narrowed(*this, [fits](const graph::Expr& e, Matcher&) {
    return IsTensor(e, fits);
  });
}

Pattern Pattern::HasAttr(std::string name, Attr value) const {
  return Narrowed(*this, [name, value](const graph::Expr& e, Matcher& matcher) {
    const graph::Expr bound = matcher.ValueOf(e);
    const auto* call = bound.As<graph::CallNode>();
    if (!call) return false;
    const auto found = call->attrs.find(name);
    if (found == call->attrs.end()) return false;
    const auto with = [&](const Attr& attr) {
      return PrintGraphExpr(graph::CallOp("x", {}, {{name, attr}}));
    };
    return with(found->second) == with(value);
  });
}

Pattern Pattern::operator|(const Pattern& other) const {
  return Make([a = *this, b = other](const graph::Expr& e, Matcher& matcher) {
    return matcher.Run(a, e) || matcher.Run(b, e);
  });
}

Pattern Pattern::operator&(const Pattern& other) const {
  return Make([a = *this, b = other](const graph::Expr& e, Matcher& matcher) {
    return matcher.Run(a, e) && matcher.Run(b, e);
  });
}

Pattern Wildcard() {
  return Make([](const graph::Expr&, Matcher&) { return true; });
}

Pattern IsVar(std::string name) {
  return Make([name](const graph::Expr& e, Matcher&) {
    const auto* var = e.As<graph::VarNode>();
    return var && (name.empty() || var->name == name);
  });
}

Pattern IsConstant() {
  return Make([](const graph::Expr& e, Matcher& matcher) {
    return matcher.ValueOf(e).kind() == graph::GraphKind::kConstant;
  });
}

Pattern IsTuple(std::vector<Pattern> fields) {
  return MakeInner([fields](const graph::Expr& e, Matcher& matcher) {
    const graph::Expr value = matcher.ValueOf(e);
    const auto* tuple = value.As<graph::TupleNode>();
    return tuple && tuple->fields.size() == fields.size() &&
           MatchAll(fields, tuple->fields, matcher);
  });
}

Pattern IsItem(Pattern tuple, int index) {
  return MakeInner([tuple, index](const graph::Expr& e, Matcher& matcher) {
    const graph::Expr value = matcher.ValueOf(e);
    const auto* item = value.As<graph::TupleItemNode>();
    return item && item->index == index && matcher.Run(tuple, item->tuple);
  });
}

Pattern IsOp(std::string op, std::vector<Pattern> args) {
  return MakeInner([op, args](const graph::Expr& e, Matcher& matcher) {
    const graph::Expr value = matcher.ValueOf(e);
    const auto* call = value.As<graph::CallNode>();
    return call && call->IsOp(op) && call->args.size() >= args.size() &&
           MatchAll(args, call->args, matcher);
  });
}

absl::StatusOr<Pattern> IsOpLike(const std::string& regex,
                                 std::vector<Pattern> args) {
  KILN_ASSIGN_OR_RETURN(const Regex names, Compile(regex));
  return MakeInner([names, args](const graph::Expr& e, Matcher& matcher) {
    const graph::Expr value = matcher.ValueOf(e);
    const auto* call = value.As<graph::CallNode>();
    const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
    return op && RE2::FullMatch(op->name, *names) &&
           call->args.size() >= args.size() &&
           MatchAll(args, call->args, matcher);
  });
}

absl::StatusOr<Pattern> IsFunctionLike(const std::string& regex) {
  KILN_ASSIGN_OR_RETURN(const Regex names, Compile(regex));
  return Make([names](const graph::Expr& e, Matcher&) {
    if (const auto* global = e.As<graph::GlobalVarNode>()) {
      return RE2::FullMatch(global->name, *names);
    }
    const auto* packed = e.As<graph::ExternNode>();
    return packed && RE2::FullMatch(packed->name, *names);
  });
}

Pattern IsNot(Pattern pattern) {
  return Make([pattern](const graph::Expr& e, Matcher& matcher) {
    return !matcher.Run(pattern, e);
  });
}

}  // namespace kiln
