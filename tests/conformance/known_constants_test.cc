#include "kiln/tests/conformance/known_constants.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(
metadata = tvm.ir.load_json("""{
  \"root_index\": 4,
  \"nodes\": [
    {\"type\": \"ffi.String\", \"data\": \"ir.GenericConst\"},
    {\"type\": \"ffi.Tensor\", \"data\": \"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAADAPwAAAMA=\"},
    {\"type\": \"ir.GenericConst\", \"data\": {\"value\": 1}},
    {\"type\": \"ffi.Array\", \"data\": [2]},
    {\"type\": \"ffi.Map\", \"data\": [0, 3]}
  ]
}""")

@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.add(x, metadata["ir.GenericConst"][0])
    z = R.add(y, metadata["ir.GenericConst"][7])
    return z
)";

constexpr char kNear[] = R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.add(x, R.const([1.5000001, -2.0], "float32"))
    return y
)";

constexpr char kFar[] = R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.add(x, R.const([1.5, -2.5], "float32"))
    return y
)";

TEST(KnownConstantsTest, MetadataHasTheBytes) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("test", kText));
  const std::string text = PrintModule(WithKnownConstants(module, kText));
  EXPECT_THAT(text, HasSubstr("R.add(x, R.const([1.5, -2.0], \"float32\"))"));
  // One that is not there stays a place.
  EXPECT_THAT(text, HasSubstr("metadata[\"relax.expr.Constant\"][7]"));
}

TEST(KnownConstantsTest, RoundingIsForgiven) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module read, ParseModule("test", kText));
  const Module wanted = WithKnownConstants(read, kText);
  KILN_ASSERT_OK_AND_ASSIGN(const Module near, ParseModule("test", kNear));
  KILN_ASSERT_OK_AND_ASSIGN(const Module far, ParseModule("test", kFar));
  EXPECT_THAT(PrintModule(WithConstantsOf(wanted, near)),
              HasSubstr("[1.5, -2.0]"));
  EXPECT_THAT(PrintModule(WithConstantsOf(wanted, far)),
              HasSubstr("[1.5, -2.5]"));
}

}  // namespace
}  // namespace kiln
