// Accesses of tensors of several dimensions as text, and what they become in
// one: digits of a number are that number.
#include "kiln/codegen/lower/storage/flatten_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// C[v] = A[`indices`], flat, which means the same.
std::string Flat(const std::string& indices) {
  const absl::StatusOr<Function> f =
      ParseFunction("m.py", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((8, 5, 7), "float32"), C: T.Buffer((140,), "float32")):
    for v in range(140):
        C[v] = A[$0]
)",
                                             indices));
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return "";
  const absl::StatusOr<Function> flat = FlattenBuffers(*f);
  KILN_EXPECT_OK(flat.status());
  if (!flat.ok()) return "";
  KILN_EXPECT_OK(lower::CompareMeaning(*f, *flat, 2));
  return PrintFunction(*flat);
}

TEST(FlattenBuffersTest, DigitsOfANumberAreThatNumber) {
  EXPECT_THAT(Flat("v // 35, v % 35 // 7, v % 7"), HasSubstr("A[v]"));
  EXPECT_THAT(Flat("v // 35, v // 7 % 5, v % 7"), HasSubstr("A[v]"));
  EXPECT_THAT(Flat("v % 2 * 4 + v // 35, v % 35 // 7, v % 7"),
              Not(HasSubstr("//")));
}

TEST(FlattenBuffersTest, OtherIndicesStay) {
  EXPECT_THAT(Flat("v // 35, v // 7 % 5, v % 5"), HasSubstr("v // 35 * 35"));
  EXPECT_THAT(Flat("v // 35, v % 5, v % 7"), HasSubstr("v % 5 * 7"));
}

}  // namespace
}  // namespace kiln
