#include "kiln/ir/tensor/numerics.h"

#include <string>

namespace kiln {

bool AllowsNormwise(const Function& f) {
  const auto found = f.attrs.find(kNumerics);
  const std::string* text =
      found == f.attrs.end() ? nullptr : found->second.string();
  return text && *text == kNormwise;
}

void AllowNormwise(Function* f) {
  f->attrs[kNumerics] = Attr(std::string(kNormwise));
}

}  // namespace kiln
