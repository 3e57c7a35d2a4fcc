// Calls are told apart by what is called, which is an operand like the rest,
// and then their arguments match one by one:
//
//   R.call_tir(cls.add, (x, y), out_sinfo=...)
//     op "call_tir", arguments cls.add and (x, y), which is a tuple pattern
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/pattern/make_pattern.h"
#include "kiln/ir/pattern/matcher.h"
#include "kiln/ir/pattern/pattern.h"
#include "re2/re2.h"

namespace kiln {
namespace {

using Regex = std::shared_ptr<const RE2>;
using Patterns = std::vector<Pattern>;

absl::StatusOr<Regex> Compile(const std::string& regex) {
  auto compiled = std::make_shared<const RE2>(regex, RE2::Quiet);
  if (compiled->ok()) return compiled;
  return absl::InvalidArgumentError(
      absl::StrCat(regex, " is no regular expression: ", compiled->error()));
}

// A test of the call that a value is.
Pattern OfCall(
    std::function<bool(const graph::CallNode&, Matcher&, Then)> test) {
  return MakeInnerPattern(
      [test](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr value = matcher.ValueOf(e);
        const auto* call = value.As<graph::CallNode>();
        return call && test(*call, matcher, then);
      });
}

// The name of a function, of the module or packed; nullptr of what is none.
const std::string* FunctionName(const graph::Expr& e) {
  if (const auto* global = e.As<graph::GlobalVarNode>()) return &global->name;
  const auto* packed = e.As<graph::ExternNode>();
  return packed ? &packed->name : nullptr;
}

}  // namespace

Pattern IsConstant() {
  return MakePattern([](const graph::Expr& e, Matcher& matcher, Then then) {
    return matcher.ValueOf(e).kind() == graph::GraphKind::kConstant && then();
  });
}

Pattern IsLeaf(graph::Expr leaf) {
  return MakePattern([leaf](const graph::Expr& e, Matcher& matcher, Then then) {
    const graph::Expr value = matcher.ValueOf(e);
    const auto* number = leaf.As<graph::PrimNode>();
    const auto* other = value.As<graph::PrimNode>();
    if (number && other) {
      return matcher.RunScalar(number->value, other->value, then);
    }
    const auto* shape = leaf.As<graph::ShapeNode>();
    const auto* known = value.As<graph::ShapeNode>();
    if (shape && known) {
      return matcher.RunScalars(shape->values, known->values, then);
    }
    return matcher.IsSame(leaf, e) && then();
  });
}

Pattern IsTuple(Patterns fields) {
  return MakeInnerPattern(
      [fields](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr value = matcher.ValueOf(e);
        const auto* tuple = value.As<graph::TupleNode>();
        return tuple && tuple->fields.size() == fields.size() &&
               matcher.RunAll(fields, tuple->fields, then);
      });
}

namespace {

// Whether the patterns match the values that are left, each another one.
bool RunInAnyOrder(const Patterns& patterns, size_t i,
                   const std::vector<graph::Expr>& left, Matcher& matcher,
                   Then then) {
  if (i == patterns.size()) return then();
  for (size_t k = 0; k < left.size(); ++k) {
    std::vector<graph::Expr> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
    const bool matches = matcher.Run(patterns[i], left[k], [&] {
      return RunInAnyOrder(patterns, i + 1, rest, matcher, then);
    });
    if (matches) return true;
  }
  return false;
}

}  // namespace

Pattern IsUnorderedTuple(Patterns fields) {
  return MakeInnerPattern(
      [fields](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr value = matcher.ValueOf(e);
        const auto* tuple = value.As<graph::TupleNode>();
        return tuple && tuple->fields.size() == fields.size() &&
               RunInAnyOrder(fields, 0, tuple->fields, matcher, then);
      });
}

Pattern IsItem(Pattern tuple, int index) {
  return MakeInnerPattern(
      [tuple, index](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr value = matcher.ValueOf(e);
        const auto* item = value.As<graph::TupleItemNode>();
        return item && item->index == index &&
               matcher.Run(tuple, item->tuple, then);
      });
}

Pattern IsItem(Pattern tuple) {
  return MakeInnerPattern(
      [tuple](const graph::Expr& e, Matcher& matcher, Then then) {
        const graph::Expr value = matcher.ValueOf(e);
        const auto* item = value.As<graph::TupleItemNode>();
        return item && matcher.Run(tuple, item->tuple, then);
      });
}

Pattern IsOp(std::string op, Patterns args) {
  return OfCall(
      [op, args](const graph::CallNode& call, Matcher& matcher, Then then) {
        return call.IsOp(op) && call.args.size() >= args.size() &&
               matcher.RunAll(args, call.args, then);
      });
}

absl::StatusOr<Pattern> IsOpLike(const std::string& regex, Patterns args) {
  KILN_ASSIGN_OR_RETURN(const Regex names, Compile(regex));
  return OfCall(
      [names, args](const graph::CallNode& call, Matcher& matcher, Then then) {
        const auto* op = call.callee.As<graph::OpNode>();
        return op && RE2::FullMatch(op->name, *names) &&
               call.args.size() >= args.size() &&
               matcher.RunAll(args, call.args, then);
      });
}

absl::StatusOr<Pattern> IsFunctionLike(const std::string& regex) {
  KILN_ASSIGN_OR_RETURN(const Regex names, Compile(regex));
  return MakePattern([names](const graph::Expr& e, Matcher&, Then then) {
    const std::string* name = FunctionName(e);
    return name && RE2::FullMatch(*name, *names) && then();
  });
}

Pattern IsExtern(std::string name) {
  return MakePattern([name](const graph::Expr& e, Matcher&, Then then) {
    const auto* packed = e.As<graph::ExternNode>();
    return packed && (name.empty() || packed->name == name) && then();
  });
}

Pattern IsCall(Pattern callee, Patterns args) {
  return OfCall([callee, args](const graph::CallNode& call, Matcher& matcher,
                               Then then) {
    return call.args.size() == args.size() &&
           matcher.Run(callee, call.callee,
                       [&] { return matcher.RunAll(args, call.args, then); });
  });
}

namespace {

// A number of infos matches those of a tuple of as many.
bool RunDeclared(const graph::CallNode& wanted, const graph::CallNode& call,
                 Matcher& matcher, Then then) {
  return matcher.RunInfo(graph::Tuple(wanted.infos), graph::Tuple(call.infos),
                         then);
}

}  // namespace

Pattern IsCallLike(const graph::CallNode& wanted, Pattern callee,
                   Patterns args) {
  const graph::Expr like(&wanted);
  return OfCall([like, callee, args](const graph::CallNode& call,
                                     Matcher& matcher, Then then) {
    const auto& wanted = *like.As<graph::CallNode>();
    if (call.args.size() != args.size()) return false;
    return matcher.Run(callee, call.callee, [&] {
      return AreSame(wanted.attrs, call.attrs) &&
             matcher.RunAll(args, call.args, [&] {
               return RunDeclared(wanted, call, matcher, then);
             });
    });
  });
}

Pattern IsCallTir(Patterns args) {
  return IsCallTir(Wildcard(), std::move(args));
}

Pattern IsCallTir(Pattern function, Patterns args) {
  return IsOp("call_tir", {std::move(function), IsTuple(std::move(args))});
}

Pattern IsCallDpsPacked(const std::string& function, Patterns args) {
  return IsOp("call_dps_packed",
              {IsExtern(function), IsTuple(std::move(args))});
}

Pattern IsCallPacked(const std::string& function, Patterns args) {
  const Pattern impure = IsCall(IsExtern(function), args);
  args.insert(args.begin(), IsExtern(function));
  return impure | IsCall(IsLeaf(graph::Op("call_pure_packed")), args);
}

std::vector<graph::Expr> ArgumentsOf(const graph::CallNode& call) {
  for (const char* op : {"call_tir", "call_dps_packed", "call_tir_inplace",
                         "call_tir_with_grad"}) {
    if (!call.IsOp(op) || call.args.size() < 2) continue;
    const auto* tuple = call.args[1].As<graph::TupleNode>();
    return tuple ? tuple->fields : std::vector<graph::Expr>{call.args[1]};
  }
  return call.args;
}

}  // namespace kiln
