// What tensors are like: inference, refusals, and the numbers that calls
// become:
//
//   R.inspect.tensor_ndim(x)     y: R.Prim("int32"), then R.prim_value(3)
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<Module> Inferred(const std::string& params,
                                const std::string& call) {
  const absl::StatusOr<Module> read =
      ParseModule("g.py", "@R.function(pure=False)\ndef main(" + params +
                              "):\n    y = R." + call + "\n    return y\n");
  if (!read.ok()) return read.status();
  return InferModule(*read);
}

std::string InfoOf(const std::string& params, const std::string& call) {
  const absl::StatusOr<Module> module = Inferred(params, call);
  return module.ok() ? PrintModule(*module)
                     : std::string(module.status().message());
}

std::string Legal(const std::string& params, const std::string& call) {
  absl::StatusOr<Module> module = Inferred(params, call);
  if (module.ok()) module = LegalizeOps(*module);
  return module.ok() ? PrintModule(*module)
                     : std::string(module.status().message());
}

constexpr char kX[] = "x: R.Tensor((\"n\", 4, \"m\"), \"float16\")";

struct Case {
  std::string call, info, params, number;
};

TEST(InspectTest, CallsHaveTheTypesOfTheFieldsAndBecomeNumbers) {
  const std::vector<Case> cases = {
      {"tensor_shape_i(x, 0)", "int64", kX, "n"},
      {"tensor_shape_i(x, 1)", "int64", kX, "4"},
      {"tensor_stride_i(x, R.prim_value(0))", "int64", kX, "m * 4"},
      {"tensor_stride_i(x, 1)", "int64", kX, "m"},
      {"tensor_stride_i(x, 2)", "int64", kX, "1"},
      {"tensor_stride_i(x, 0)", "int64", "x: R.Tensor((2, 0, 3), \"bool\")",
       "0"},
      {"tensor_stride_i(x, 1)", "int64", "x: R.Tensor((2, 0, 3), \"bool\")",
       "3"},
      {"tensor_byte_offset(x)", "uint64", kX, "T.uint64(0)"},
      {"tensor_elem_offset(x)", "uint64", "x: R.Tensor", "T.uint64(0)"},
      {"tensor_ndim(x)", "int32", kX, "T.int32(3)"},
      {"tensor_ndim(x)", "int32", "x: R.Tensor((), \"int8\")", "T.int32(0)"},
      {"tensor_ndim(x)", "int32", "x: R.Tensor(ndim=2)", "T.int32(2)"},
      {"tensor_dtype_code(x)", "uint8", kX, "T.uint8(2)"},
      {"tensor_dtype_code(x)", "uint8", "x: R.Tensor((3,), \"int8\")",
       "T.uint8(0)"},
      {"tensor_dtype_code(x)", "uint8", "x: R.Tensor(dtype=\"uint32\")",
       "T.uint8(1)"},
      {"tensor_dtype_code(x)", "uint8", "x: R.Tensor((3,), \"bfloat16\")",
       "T.uint8(4)"},
      {"tensor_dtype_code(x)", "uint8", "x: R.Tensor((3,), \"bool\")",
       "T.uint8(6)"},
      {"tensor_dtype_bits(x)", "uint8", kX, "T.uint8(16)"},
      {"tensor_dtype_bits(x)", "uint8", "x: R.Tensor((3,), \"bool\")",
       "T.uint8(8)"},
      {"tensor_dtype_lanes(x)", "uint16", kX, "T.uint16(1)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.params + " " + c.call);
    EXPECT_THAT(InfoOf(c.params, "inspect." + c.call),
                HasSubstr("y: R.Prim(\"" + c.info + "\") = R.inspect."));
    EXPECT_THAT(Legal(c.params, "inspect." + c.call),
                AllOf(HasSubstr("R.prim_value(" + c.number + ")"),
                      Not(HasSubstr("inspect"))));
  }
}

// The extents are read off where only the rank is known.
TEST(InspectTest, ExtentsAreReadOffATensorOfKnownRank) {
  const std::string params = "x: R.Tensor(ndim=3, dtype=\"int8\")";
  EXPECT_THAT(Legal(params, "inspect.tensor_shape_i(x, 1)"),
              AllOf(HasSubstr("R.shape_of(x)"), HasSubstr("R.match_cast("),
                    HasSubstr("R.prim_value(d1)"), Not(HasSubstr("inspect"))));
  EXPECT_THAT(Legal(params, "inspect.tensor_stride_i(x, 0)"),
              HasSubstr("R.prim_value(d1 * d2)"));
}

// They stay, for what runs them to know or to refuse.
TEST(InspectTest, CallsStayWhereNothingIsKnown) {
  for (const std::string& call : {"tensor_shape_i(x, R.prim_value(0))",
                                  "tensor_stride_i(x, R.prim_value(7))",
                                  "tensor_ndim(x)", "tensor_dtype_bits(x)"}) {
    EXPECT_THAT(Legal("x: R.Tensor", "inspect." + call),
                HasSubstr("R.inspect." + call));
  }
  EXPECT_THAT(Legal(std::string(kX) + ", i: R.Prim(\"int64\")",
                    "inspect.tensor_shape_i(x, i)"),
              HasSubstr("y: R.Prim(\"int64\") = R.inspect.tensor_shape_i(x"));
}

TEST(InspectTest, RefusesAxesOutsideAndWhatIsNoTensor) {
  for (const std::string& op : {"tensor_shape_i", "tensor_stride_i"}) {
    const auto info = [&](const std::string& params, const std::string& axis) {
      return InfoOf(params, "inspect." + op + "(x, " + axis + ")");
    };
    EXPECT_THAT(info(kX, "3"), HasSubstr("axis 3 is outside of the 3 dim"));
    EXPECT_THAT(info(kX, "-1"), HasSubstr("not negative"));
    EXPECT_THAT(info("x: R.Tensor", "-1"), HasSubstr("not negative"));
    EXPECT_THAT(info("x: R.Tensor((), \"int8\")", "0"),
                HasSubstr("axis 0 is outside of the 0 dim"));
    EXPECT_THAT(info("x: R.Tensor(ndim=2)", "2"),
                HasSubstr("outside of the 2"));
    EXPECT_THAT(info("x: R.Tensor", "99999999999"), HasSubstr("outside"));
    EXPECT_THAT(info(kX, "R.prim_value(1.0)"), HasSubstr("integer"));
    EXPECT_THAT(info("x: R.Shape([3])", "0"), HasSubstr("R.Shape([3])"));
    EXPECT_THAT(InfoOf(kX, "inspect." + op + "(x)"), HasSubstr("axis"));
  }
  for (const std::string& op :
       {"tensor_byte_offset", "tensor_elem_offset", "tensor_ndim",
        "tensor_dtype_code", "tensor_dtype_bits", "tensor_dtype_lanes"}) {
    EXPECT_THAT(InfoOf("x: R.Shape([3])", "inspect." + op + "(x)"),
                AllOf(HasSubstr("tensor"), HasSubstr("R.Shape([3])")))
        << op;
  }
}

TEST(InspectTest, AWrappedParameterHasItsTypeAndIsCast) {
  EXPECT_THAT(InfoOf(kX, "wrap_param(x, dtype=\"float32\")"),
              HasSubstr("y: R.Tensor((n, 4, m), dtype=\"float32\")"));
  EXPECT_THAT(InfoOf("x: R.Tensor(ndim=2)", "wrap_param(x)"),
              HasSubstr("y: R.Tensor(dtype=\"float32\", ndim=2)"));
  EXPECT_THAT(Legal(kX, "wrap_param(x, dtype=\"float32\")"),
              AllOf(HasSubstr("R.call_tir("), Not(HasSubstr("wrap_param"))));
  EXPECT_THAT(InfoOf("x: R.Shape([3])", "wrap_param(x)"),
              HasSubstr("R.Shape([3])"));
}

TEST(InspectTest, CallsOfForeignFunctionsGiveWhatTheyState) {
  EXPECT_THAT(InfoOf(kX,
                     "call_py_func(R.str(\"f\"), (x,), "
                     "sinfo_args=(R.Tensor((3,), \"int8\"),))"),
              HasSubstr("y: R.Tensor((3,), dtype=\"int8\")"));
  const std::string context =
      InfoOf(kX,
             "call_builtin_with_ctx(\"vm.f\", (x,), "
             "sinfo_args=(R.Tensor((n,), \"int8\"), R.Object))");
  EXPECT_THAT(context, HasSubstr("y: R.Tuple(R.Tensor((n,), dtype=\"int8\"), "
                                 "R.Object) = R.call_builtin_with_ctx("
                                 "\"vm.f\", (x,), "));
  KILN_ASSERT_OK_AND_ASSIGN(const Module again, ParseModule("g.py", context));
  EXPECT_EQ(PrintModule(again), context);
}

}  // namespace
}  // namespace kiln
