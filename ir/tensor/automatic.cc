#include "kiln/ir/tensor/automatic.h"

namespace kiln {

bool IsAuto(const Function& f) {
  const auto found = f.attrs.find(kAuto);
  const Expr* value = found == f.attrs.end() ? nullptr : found->second.expr();
  return !value || !IsZero(*value);
}

void SetAuto(Function* f, bool is_auto) { f->attrs[kAuto] = Bool(is_auto); }

void SetAuto(Module* m, bool is_auto) {
  for (Function& f : m->functions) SetAuto(&f, is_auto);
}

}  // namespace kiln
