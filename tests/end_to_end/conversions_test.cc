// Floats that become integers: inside of the range, at its ends and beyond
// them, infinite and no numbers at all; and what rounds to whole numbers. As
// machine code in vectors, and as the interpreter has it.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

// $0: of floats, $1: of results, $2: an expression of `x`, which is A[vi].
constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer(($3,), "$0"), B: T.Buffer(($3,), "$1")):
    for i in range($3):
        with T.block("B"):
            vi = T.axis.spatial($3, i)
            B[vi] = $2
)";

constexpr const char* kTypes[] = {"float32", "float64", "float16", "bfloat16"};

class ConversionsTest : public EveryTargetTest {
 protected:
  void Expect(const std::string& from, const std::string& to,
              const std::string& value) {
    for (const int n : {1, 37, 128}) {
      const std::string text = absl::Substitute(kProgram, from, to, value, n);
      const absl::Status same = CheckByDefault(text);
      EXPECT_TRUE(same.ok()) << text << same;
    }
  }
};

TEST_P(ConversionsTest, FloatsBecomeIntegersOfAnySize) {
  for (const std::string from : kTypes) {
    for (const std::string to : {"int8", "uint8", "int16", "uint16", "int32",
                                 "uint32", "int64", "uint64"}) {
      for (const std::string value :
           {"A[vi] * 3", "A[vi] * 60", "A[vi] * 20000", "A[vi] / 0",
            "A[vi] / 0 - A[vi] / 0"}) {
        Expect(from, to, absl::Substitute("T.Cast(\"$0\", $1)", to, value));
      }
      if (from == "float16") continue;
      for (const std::string value : {"A[vi] * 2e9", "A[vi] * 9e18"}) {
        Expect(from, to, absl::Substitute("T.Cast(\"$0\", $1)", to, value));
      }
    }
  }
}

// The next numbers to an end of a range, and that end.
TEST_P(ConversionsTest, EndsOfRangesAreExact) {
  for (const std::string from : {"float32", "float64"}) {
    for (const auto& [to, ends] :
         {std::pair("int8", "-129 127 255"), std::pair("uint16", "-1 65535"),
          std::pair("int32", "-2147483648 2147483647 2147483520 2147483648"),
          std::pair("uint32", "4294967295 4294967040 4294967296"),
          std::pair("int64", "9223372036854775807 -9223372036854775808")}) {
      for (const absl::string_view end : absl::StrSplit(ends, ' ')) {
        const std::string value = absl::Substitute(
            "T.Cast(\"$0\", T.Cast(\"$1\", (vi - 18)) / 16 + "
            "T.$1($2.0))",
            to, from, end);
        Expect(from, to, value);
      }
    }
  }
}

TEST_P(ConversionsTest, HalvesAreRoundedAsTheInterpreterDoes) {
  for (const std::string type : kTypes) {
    for (const char* op : {"round", "nearbyint", "trunc", "floor", "ceil"}) {
      for (const char* value :
           {"A[vi] * 7", "T.Cast(\"$0\", vi - 18) / 2",
            "T.Cast(\"$0\", vi - 18) * 0.49999997", "A[vi] / 0"}) {
        Expect(type, type,
               absl::Substitute("T.$0($1)", op, absl::Substitute(value, type)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, ConversionsTest,
                         ::testing::ValuesIn(kX86Targets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
