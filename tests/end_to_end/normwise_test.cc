// A model that allows normwise errors is computed by tiles, whose errors are
// small beside the largest result only, and `run` judges it by that.
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/file.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"
#include "kiln/tests/end_to_end/tuning.h"
#include "kiln/tests/support/subprocess.h"
#include "kiln/vm/ndarray/npz.h"

namespace kiln {
namespace {

using testing::ProcessResult;
using testing::RunProcess;
using testing::WorkFolder;

constexpr char kConvolution[] = R"(
@R.function
def main(x: R.Tensor((1, 64, 24, 24), "float32"), w: R.Tensor((64, 64, 3, 3), "float32")):
    with R.dataflow():
        y = R.nn.conv2d(x, w, padding=1)
        R.output(y)
    return y
)";

TEST(NormwiseTest, TilesAreJudgedByTheLargestElement) {
  const WorkFolder folder;
  const std::string model = folder.path() + "/model.py";
  const std::string params = folder.path() + "/params.npz";
  KILN_ASSERT_OK(WriteFileAtomically(model, kConvolution));
  Random random(3);
  KILN_ASSERT_OK_AND_ASSIGN(const NDArray taps,
                            NDArray::Empty({64, 64, 3, 3}, DType::Float(32)));
  for (float& tap : taps.elements<float>()) {
    tap = static_cast<float>(random.Below(2001)) / 1000 - 1;
  }
  KILN_ASSERT_OK(WriteNpz({{"w", taps}}, params));
  const auto run = [&](const std::string& numerics, const std::string& rtol) {
    return RunProcess({"tools/run", "--module", model, "--bind-params", params,
                       "--schedule", "default", "--check", "--numerics",
                       numerics, "--rtol", rtol});
  };
  const ProcessResult tiled = run("normwise", "-1");
  EXPECT_EQ(tiled.status, 0) << tiled.out << tiled.err;
  // Such errors are none of sums in another order.
  EXPECT_EQ(run("normwise", "1e-8").status, 2);
  EXPECT_EQ(run("componentwise", "1e-6").status, 0);
}

}  // namespace
}  // namespace kiln
