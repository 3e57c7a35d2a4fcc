#include "kiln/codegen/host/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

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

TEST(SignatureTest, SaysWhatIsDeclaredOfMemory) {
  Function f = Example(Int(8));
  EXPECT_FALSE(MakeSignature(f)->noalias);
  EXPECT_EQ(MakeSignature(f)->buffers[0].alignment, 64);
  f.attrs["tir.noalias"] = Attr(Bool(true));
  EXPECT_TRUE(MakeSignature(f)->noalias);
  f.attrs["tir.noalias"] = Attr(Bool(false));
  EXPECT_FALSE(MakeSignature(f)->noalias);
  f.params[0].buffer =
      EditBuffer(f.params[0].buffer, [](BufferNode& b) { b.alignment = 1; });
  EXPECT_EQ(MakeSignature(f)->buffers[0].alignment, 4);
}

TEST(SignatureTest, WhatAViewWritesIsWritten) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f", R"py(
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((64,), "float32")):
    flat = T.decl_buffer((64,), "float32", data=A.data)
    for i in range(64):
        flat[i] = B[i]
)py"));
  KILN_ASSERT_OK_AND_ASSIGN(const KernelSignature signature, MakeSignature(f));
  EXPECT_TRUE(signature.buffers[0].written);
  EXPECT_FALSE(signature.buffers[1].written);
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A function of tensors with these arguments of match_buffer.
absl::StatusOr<KernelSignature> SignatureOf(const std::string& a,
                                            const std::string& b) {
  KILN_ASSIGN_OR_RETURN(
      const Function f,
      ParseFunction("f",
                    absl::StrCat(R"py(
@T.prim_func
def f(a: T.handle, b: T.handle):
    n, m, s = T.int64(), T.int64(), T.int32()
    A = T.match_buffer(a, )py",
                                 a, ")\n    B = T.match_buffer(b, ", b, R"py()
    T.evaluate(0)
)py")));
  return MakeSignature(f);
}

TEST(SignatureTest, ExtentsMayBeComputed) {
  EXPECT_EQ(ToString(*SignatureOf("(n, m)", "(n + m, (n + 1) // 2)")),
            "f(A: float32[n, m], B: float32[n + m, (n + 1) // 2])");
  EXPECT_EQ(ToString(*SignatureOf("(n * 2 - 1,)", "(T.min(n, 8), n % 4)")),
            "f(A: float32[n * 2 - 1], B: float32[T.min(n, 8), n % 4])");
  EXPECT_EQ(ToString(*SignatureOf("(s + s // 2,)", "(4 * 4, s)")),
            "f(A: float32[s + s // 2], B: float32[16, s])");
}

TEST(SignatureTest, StridesAndOffsetsAreStated) {
  EXPECT_EQ(ToString(*SignatureOf("(8, n), strides=(s, 1), elem_offset=m",
                                  "(4, 4), strides=(4, 1)")),
            "f(A: float32[8, n] strides [s, 1] offset m, "
            "B: float32[4, 4] strides [4, 1])");
  EXPECT_THAT(SignatureOf("(8,), elem_offset=4", "(4, 4)"),
              StatusIs(kInvalid, HasSubstr("buffer A of kernel f has the "
                                           "offset 4")));
}

TEST(SignatureTest, RefusesVariablesThatNoCallTells) {
  EXPECT_THAT(SignatureOf("(n // 2,)", "(n % 2,)"),
              StatusIs(kInvalid,
                       HasSubstr("scalar n of kernel f is neither a parameter "
                                 "nor told by the shape of a buffer (it stands "
                                 "in n // 2, n % 2)")));
  EXPECT_THAT(SignatureOf("(n + m,)", "(8,)"),
              StatusIs(kInvalid, HasSubstr("(it stands in n + m)")));
  EXPECT_THAT(SignatureOf("(n * n,)", "(8,)"),
              StatusIs(kInvalid, HasSubstr("(it stands in n * n)")));
}

TEST(SignatureTest, RefusesWhatNoSignatureCanState) {
  EXPECT_THAT(
      SignatureOf("(n, T.truncdiv(n, 2))", "(8,)"),
      StatusIs(kInvalid, HasSubstr("parameter A has the extent T.truncdiv(n")));
}

}  // namespace
}  // namespace kiln
