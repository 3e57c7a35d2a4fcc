// Models from tuning to results, with the tools that a user calls: `tune` finds
// the tensor functions of a model, `compile` puts the best back, and `run`
// shows that what is computed stays the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/tests/end_to_end/tuning.h"
#include "kiln/tests/support/subprocess.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using testing::Events;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::ProcessResult;
using testing::RunProcess;
using ::testing::UnorderedElementsAre;
using testing::WorkFolder;

constexpr char kTwoLayers[] = R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def layer(x: R.Tensor((8, 64), "float32"), w: R.Tensor((64, 64), "float32"), b: R.Tensor((64,), "float32")) -> R.Tensor((8, 64), "float32"):
        a = R.matmul(x, w)
        y = R.add(a, b)
        return y

    @R.function
    def main(x: R.Tensor((8, 64), "float32"), w: R.Tensor((64, 64), "float32"), b: R.Tensor((64,), "float32")):
        cls = Module
        a = cls.layer(x, w, b)
        r = R.nn.relu(a)
        y = cls.layer(r, w, b)
        return y
)";

constexpr char kOtherModel[] = R"(
@I.ir_module
class Module:
    @R.function
    def forward(inputs: R.Tensor((8, 64), "float32"), weight: R.Tensor((64, 64), "float32")):
        squares = R.square(inputs)
        product = R.matmul(squares, weight)
        return product
)";

class PutBackTest : public ::testing::Test {
 protected:
  std::string Write(const char* name, const char* text) {
    const std::string path = folder_.path() + "/" + name;
    KILN_EXPECT_OK(WriteFileAtomically(path, text));
    return path;
  }

  ProcessResult Compile(const std::string& model, const std::string& work_dir,
                        const std::string& fuse = "--fuse") {
    return RunProcess({"tools/compile", model, "-o", folder_.path() + "/m.kiln",
                       "--work-dir", work_dir, fuse});
  }

  Events Tune(const std::string& model, int trials,
              const std::string& fuse = "--fuse") {
    return testing::RunTuning({"tools/tune", "--json", "--module", model,
                               "--work-dir", folder_.path(), "--trials",
                               std::to_string(trials), fuse});
  }

  WorkFolder folder_;
};

TEST_F(PutBackTest, ATunedModelComputesTheSame) {
  const std::string model = Write("model.py", kTwoLayers);
  const Events events = Tune(model, 12);
  std::map<std::string, double> weights;
  ASSERT_TRUE(events.done.has_value());
  for (const auto& task : events.done->tasks()) {
    weights[task.name()] = task.weight();
    EXPECT_GT(task.latency_us(), 0) << task.name();
  }
  EXPECT_THAT(weights, UnorderedElementsAre(Pair("fused_matmul_add", 2),
                                            Pair("relu", 1)));
  const ProcessResult compiled = Compile(model, folder_.path());
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("2 of 2 functions are tuned"));
  // As the interpreter, with schedules put back and as it is written.
  const std::string expected = folder_.path() + "/y.npy";
  const ProcessResult checked =
      RunProcess({"tools/run", "--module", model, "--work-dir", folder_.path(),
                  "--check", "--output", "@" + expected});
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  const ProcessResult run = RunProcess(
      {"tools/run", folder_.path() + "/m.kiln", "--expect", "@" + expected});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_F(PutBackTest, CompileTunesAsLongAsItIsAskedTo) {
  const std::string model = Write("model.py", kTwoLayers);
  const std::string output = folder_.path() + "/m.kiln";
  const auto compile = [&](const std::string& minutes) {
    return RunProcess({"tools/compile", model, "-o", output, "--work-dir",
                       folder_.path(), "--minutes", minutes});
  };
  const ProcessResult refused = compile("-1");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("--minutes has to be a number"));
  const ProcessResult compiled = compile("0.05");
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("of 2 functions are tuned"));
  const size_t before = folder_.Records().size();
  EXPECT_GT(before, 0);
  EXPECT_EQ(compile("0.05").status, 0);
  EXPECT_GT(folder_.Records().size(), before);  // it goes on
  EXPECT_EQ(RunProcess({"tools/run", output}).status, 0);
}

TEST_F(PutBackTest, TwoModelsShareRecordsOfEqualFunctions) {
  Tune(Write("model.py", kTwoLayers), 6, "--nofuse");
  const std::string other = Write("other.py", kOtherModel);
  const ProcessResult compiled = Compile(other, folder_.path());
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(
      compiled.out,
      AllOf(HasSubstr("1 of 2 functions are tuned"),
            HasSubstr("without a record, scheduled by default: square")));
  const Events events = Tune(other, 12);
  ASSERT_TRUE(events.done.has_value());
  size_t trials = 0;
  for (const auto& task : events.done->tasks()) trials += task.trials();
  EXPECT_LT(events.trials.size(), trials);  // the product's go on
  const ProcessResult again = Compile(other, folder_.path());
  EXPECT_THAT(again.out, HasSubstr("2 of 2 functions are tuned"));
}

TEST_F(PutBackTest, WithoutRecordsTheWayOutIsNamed) {
  const std::string model = Write("model.py", kTwoLayers);
  for (const std::string& path : {folder_.path() + "/none", folder_.path()}) {
    const ProcessResult compiled = Compile(model, path);
    EXPECT_EQ(compiled.status, 1);
    EXPECT_THAT(
        compiled.err,
        HasSubstr("tune --module model.py --minutes 5 --work-dir " + path));
  }
}

}  // namespace
}  // namespace kiln
