#include "kiln/codegen/host/signature.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// def f(A: float32[n, 8], k: int64, B: float32[n, 8]): B[0, 0] = A[0, 0]
Function Example(Expr extent) {
  Function f;
  f.name = "f";
  Buffer a = MakeBuffer("A", DType::Float(32), {extent, Int(8)});
  Buffer b = MakeBuffer("B", DType::Float(32), {extent, Int(8)});
  f.params = {{Var("a", DType::Handle()), a},
              {Var("k"), nullptr},
              {Var("b", DType::Handle()), b}};
  Stmt store = MakeStore(b, Load(a, {Int(0), Int(0)}), {Int(0), Int(0)});
  f.body = MakeRoot(f.NewId(), {}, store);
  return f;
}

TEST(SignatureTest, NamesBuffersScalarsAndSymbolicExtents) {
  KILN_ASSERT_OK_AND_ASSIGN(KernelSignature signature,
                            MakeSignature(Example(Var("n"))));
  EXPECT_EQ(ToString(signature),
            "f(A: float32[n, 8], k: int64, B: out float32[n, 8])");
}

TEST(SignatureTest, RefusesComputedExtents) {
  EXPECT_THAT(MakeSignature(Example(Add(Var("n"), Int(1)))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameter A has an extent")));
}

}  // namespace
}  // namespace kiln
