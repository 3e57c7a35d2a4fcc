#include "kiln/codegen/host/signature.h"

#include <gtest/gtest.h>

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

TEST(SignatureTest, RefusesComputedExtents) {
  EXPECT_THAT(MakeSignature(Example(Add(Var("n"), Int(1)))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameter A has an extent")));
}

}  // namespace
}  // namespace kiln
