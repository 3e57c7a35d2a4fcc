#include "kiln/codegen/lower/auto/epilogue.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::lower {
namespace {

Function Parse(const std::string& body) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), R: T.Buffer((4096,), "float32"), C: T.Buffer((4096,), "float32"), X: T.Buffer((64,), "int64"), n: T.int64):
)" + body);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? *f : Function();
}

// "R[i * 8] reads 32 bytes", for what follows the first nest of the loop.
std::string After(const std::string& body) {
  const Function f = Parse(body);
  const SeqNode* seq = nullptr;
  Visit(f.body, [&](const Stmt& s) {
    if (!seq) seq = s.As<SeqNode>();
    return !seq;
  });
  std::string text;
  if (!seq) return "no sequence";
  for (const LateAccess& access : AccessesAfter(*seq, 0)) {
    absl::StrAppend(&text, access.buffer->name, "[", PrintExpr(access.first),
                    "] ", access.writes ? "writes " : "reads ", access.bytes,
                    "\n");
  }
  return text;
}

TEST(AccessesAfterTest, ReadsAndWritesOfStoresInOrder) {
  EXPECT_EQ(After(R"(
    for i in range(8):
        for k in range(64):
            A[0:8] = A[0:8] + A[k * 8:k * 8 + 8]
        C[i * 8:i * 8 + 8] = A[0:8] + R[i * 8:i * 8 + 8]
        C[i] = R[i + 1]
)"),
            "R[i * 8] reads 32\nC[i * 8] writes 32\n"
            "R[i + 1] reads 4\nC[i] writes 4\n");
}

TEST(AccessesAfterTest, NotOfBuffersInUseNorOfLanesApartNorBehindAnotherLoop) {
  EXPECT_EQ(After(R"(
    for i in range(8):
        for k in range(64):
            C[i] = C[i] + A[k]
        C[i] = C[i] * A[i]
        R[T.Ramp(i, 2, 4)] = T.Broadcast(T.float32(0), 4)
        for k in range(64):
            A[k] = A[k] + T.float32(1)
        R[i] = T.float32(0)
)"),
            "");
}

TEST(BytesStoredTest, OfAllIterations) {
  EXPECT_EQ(BytesStored(Parse(R"(
    for i in range(8):
        for k in range(64):
            C[0:8] = A[0:8]
            C[k] = A[k]
        R[i] = A[i]
)")
                            .body),
            8 * (64 * 36 + 4));
  EXPECT_EQ(BytesStored(Parse(R"(
    for k in range(n):
        C[0:8] = A[0:8]
)")
                            .body),
            32)
      << "of an extent that is not known";
}

}  // namespace
}  // namespace kiln::lower
