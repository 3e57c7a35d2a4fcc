// set_scope: a buffer moves to another storage scope.
//
//   B = T.alloc_buffer((128, 128))
//   =>  B = T.alloc_buffer((128, 128), scope="shared")
//
// `buffer_index` counts the regions that the block writes. Refuses: an unknown
// scope; an index out of range; a buffer that the function does not allocate.
#ifndef KILN_SCHEDULE_PRIMITIVE_SET_SCOPE_H_
#define KILN_SCHEDULE_PRIMITIVE_SET_SCOPE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> SetScope(const Function& f, BlockId block,
                                  int64_t buffer_index,
                                  std::string_view storage_scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_SET_SCOPE_H_
