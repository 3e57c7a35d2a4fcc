// annotate, unannotate: notes for later stages on a loop or block.
//
//   for i in range(8): body
//   =>  annotate(i, "pragma_auto_unroll_max_step", 16)
//   for i in T.serial(8, annotations={"pragma_auto_unroll_max_step": 16}): body
//
// annotate refuses a key that is there with another value (the same value
// again changes nothing); unannotate refuses a key that is not there.
#ifndef KILN_SCHEDULE_PRIMITIVE_ANNOTATE_H_
#define KILN_SCHEDULE_PRIMITIVE_ANNOTATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> AnnotateLoop(const Function& f, LoopId loop,
                                      const std::string& key,
                                      const Attr& value);
absl::StatusOr<Function> AnnotateBlock(const Function& f, BlockId block,
                                       const std::string& key,
                                       const Attr& value);
absl::StatusOr<Function> UnannotateLoop(const Function& f, LoopId loop,
                                        const std::string& key);
absl::StatusOr<Function> UnannotateBlock(const Function& f, BlockId block,
                                         const std::string& key);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_ANNOTATE_H_
