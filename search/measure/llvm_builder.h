// The Builder that compiles with codegen/ for a CPU.
#ifndef KILN_SEARCH_MEASURE_LLVM_BUILDER_H_
#define KILN_SEARCH_MEASURE_LLVM_BUILDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/search/measure/builder.h"

namespace kiln {

class LlvmBuilder : public Builder {
 public:
  explicit LlvmBuilder(Target target) : target_(std::move(target)) {}

  absl::StatusOr<BuildResult> Build(const Function& scheduled) override;
  // Without the passes of lowering that are not required.
  absl::StatusOr<BuildResult> BuildPlain(const Function& f) override;
  // "llvm " and its release.
  std::string CompilerVersion() const override;

 private:
  Target target_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_LLVM_BUILDER_H_
