#include "kiln/ir/tensor/numerics.h"

#include <string>
#include <string_view>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool Says(const AttrMap& attrs, std::string_view mode) {
  const auto found = attrs.find(kNumerics);
  const std::string* text =
      found == attrs.end() ? nullptr : found->second.string();
  return text && *text == mode;
}

void Say(Function* f, const char* mode) {
  f->attrs[kNumerics] = Attr(std::string(mode));
}

// Not so are sqrt, fma, fmod and what rounds to whole numbers.
bool IsRoundedMath(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (!call || !call->dtype.is_float()) return false;
  return call->op >= Intrinsic::kExp && call->op <= Intrinsic::kPow &&
         call->op != Intrinsic::kSqrt;
}

}  // namespace

bool AllowsNormwise(const AttrMap& attrs) { return Says(attrs, kNormwise); }
bool AllowsNormwise(const Function& f) { return AllowsNormwise(f.attrs); }
bool IsStrict(const Function& f) { return Says(f.attrs, kStrict); }

bool CallsRoundedMath(const Function& f) {
  bool calls = false;
  VisitExprs(f.body, [&](const Expr& e) {
    calls = calls || IsRoundedMath(e);
    return !calls;
  });
  return calls;
}

void AllowNormwise(Function* f) { Say(f, kNormwise); }
void MakeStrict(Function* f) { Say(f, kStrict); }

}  // namespace kiln
