#include "kiln/ir/transform/graph/pass_testing.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"

namespace kiln {

Module ReadModule(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("test.py", text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? *std::move(module) : Module();
}

std::string DifferenceAfter(const std::vector<std::string>& passes,
                            const std::string& text,
                            const std::string& wanted) {
  const absl::StatusOr<Module> after = RunGraphPasses(ReadModule(text), passes);
  if (!after.ok()) return std::string(after.status().message());
  const absl::StatusOr<Module> found = InferModule(*after);
  const absl::StatusOr<Module> inferred = InferModule(ReadModule(wanted));
  if (!found.ok()) return std::string(found.status().message());
  if (!inferred.ok()) return std::string(inferred.status().message());
  return FirstDifference(*inferred, *found).value_or("");
}

}  // namespace kiln
