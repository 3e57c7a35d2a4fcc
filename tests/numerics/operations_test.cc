// Single operations on every type, on numbers where machines differ.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tests/numerics/same_bits.h"

namespace kiln {
namespace {

constexpr int kSize = 512;
constexpr int kLanes = 16;

// C[i] = `value` over A, B of `dtype`; the result has `out_dtype`.
void ExpectSameBits(const std::string& dtype, const std::string& out_dtype,
                    const std::string& value, const std::string& numerics) {
  for (const char* loop : {"range", "T.vectorized"}) {
    const std::string buffer =
        absl::StrCat(": T.Buffer((", kSize, ",), \"", dtype, "\"), ");
    const std::string text = absl::StrCat(
        "@T.prim_func\ndef main(A", buffer, "B", buffer, "C: T.Buffer((", kSize,
        ",), \"", out_dtype, "\")):\n  T.func_attr({\"numerics\": \"", numerics,
        "\"})\n  for o in range(", kSize / kLanes, "):\n    for i in ", loop,
        "(", kLanes,
        "):\n      with T.block(\"C\"):\n        v = T.axis.spatial(", kSize,
        ", o * ", kLanes, " + i)\n        C[v] = ", value, "\n");
    KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("t.py", text));
    for (const uint64_t seed : {1}) {
      EXPECT_EQ(GivesTheSameBits(f, f, HardInputs(f, seed)), absl::OkStatus())
          << text << "seed " << seed;
    }
  }
}

const std::vector<std::string>& IntTypes() {
  static const auto* types = new std::vector<std::string>{
      "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
  return *types;
}

const std::vector<std::string>& FloatTypes() {
  static const auto* types =
      new std::vector<std::string>{"float16", "bfloat16", "float32", "float64"};
  return *types;
}

TEST(OperationsTest, IntegersWrapAndDivideByAnything) {
  for (const std::string& type : IntTypes()) {
    for (const char* value :
         {"A[v] + B[v]", "A[v] - B[v]", "A[v] * B[v]", "A[v] // B[v]",
          "A[v] % B[v]", "T.truncdiv(A[v], B[v])", "T.truncmod(A[v], B[v])",
          "T.abs(A[v])", "T.shift_left(A[v], B[v])",
          "T.shift_right(A[v], B[v])", "T.min(A[v], B[v])", "T.max(A[v], B[v])",
          "T.popcount(A[v])", "T.clz(A[v])", "T.floor(A[v])",
          "(A[v] * B[v] + A[v]) // B[v]"}) {
      ExpectSameBits(type, type, value, "componentwise");
    }
    for (const int constant : {1, 2, 3, 7}) {
      const std::string c = absl::StrCat("T.", type, "(", constant, ")");
      for (const std::string& value :
           {absl::StrCat("A[v] // ", c), absl::StrCat("A[v] % ", c),
            absl::StrCat("T.truncdiv(A[v], ", c, ")"),
            absl::StrCat("T.truncmod(A[v], ", c, ")"),
            absl::StrCat("T.shift_left(A[v], ", c, ")"),
            absl::StrCat("T.shift_right(A[v], ", c, ")")}) {
        ExpectSameBits(type, type, value, "componentwise");
      }
    }
  }
  for (const char* type : {"int8", "int16", "int32", "int64"}) {
    const std::string c = absl::StrCat("T.", type, "(-1)");
    for (const char* op : {" // ", " % "}) {
      ExpectSameBits(type, type, absl::StrCat("A[v]", op, c), "componentwise");
    }
  }
}

// Nothing of an integer may be simplified as if it did not wrap.
TEST(OperationsTest, DataIsNoIndex) {
  for (const char* type : {"int32", "int64"}) {
    const auto c = [&](int value) {
      return absl::StrCat("T.", type, "(", value, ")");
    };
    for (const std::string& value :
         {absl::StrCat("(A[v] * ", c(2), ") // ", c(2)),
          absl::StrCat("(A[v] * ", c(4), " + B[v] * ", c(8), ") // ", c(4)),
          absl::StrCat("(A[v] * ", c(6), ") % ", c(3)),
          absl::StrCat("T.min(A[v] + ", c(1), ", A[v])"),
          absl::StrCat("T.max(A[v] + ", c(1), ", A[v])"),
          absl::StrCat("T.truncdiv(A[v] * ", c(2), ", ", c(2), ")"),
          absl::StrCat("T.Select(A[v] + ", c(1), " > A[v], ", c(1), ", ", c(0),
                       ")"),
          absl::StrCat("T.if_then_else(A[v] - ", c(1), " < A[v], ", c(1), ", ",
                       c(0), ")"),
          absl::StrCat("T.Select(A[v] * ", c(2), " == B[v] * ", c(2), ", ",
                       c(1), ", ", c(0), ")")}) {
      ExpectSameBits(type, type, value, "componentwise");
    }
  }
}

// 7 * 37 and 9 * 29 lie halfway between two bfloat16.
TEST(OperationsTest, AFusedMultiplyAddIsRoundedOnce) {
  for (const std::string& type : FloatTypes()) {
    const auto either = [&](const char* yes, const char* no) {
      return absl::StrCat("T.Select(A[v] < B[v], T.", type, "(", yes, "), T.",
                          type, "(", no, "))");
    };
    for (const char* tiny : {"8.673617379884035e-19", "6.103515625e-05"}) {
      for (const char* sign : {"", "-"}) {
        ExpectSameBits(
            type, type,
            absl::StrCat("T.fma(", either("7", "-9"), ", ", either("37", "29"),
                         ", T.", type, "(", sign, tiny, "))"),
            "strict");
      }
    }
  }
}

TEST(OperationsTest, EachFloatOperationIsRoundedToItsType) {
  for (const std::string& type : FloatTypes()) {
    for (const char* value : {"A[v] + B[v]",
                              "A[v] - B[v]",
                              "A[v] * B[v]",
                              "A[v] / B[v]",
                              "A[v] * B[v] + A[v]",
                              "A[v] - B[v] * B[v]",
                              "A[v] * A[v] * B[v]",
                              "A[v] * B[v] + A[v] * A[v]",
                              "A[v] + B[v] + A[v] + B[v]",
                              "A[v] / B[v] * B[v]",
                              "T.sqrt(A[v])",
                              "T.sqrt(A[v]) * B[v]",
                              "T.min(A[v], B[v])",
                              "T.max(A[v], B[v])",
                              "T.abs(A[v])",
                              "T.fma(A[v], B[v], A[v])",
                              "T.floor(A[v])",
                              "T.ceil(A[v])",
                              "T.trunc(A[v])",
                              "T.round(A[v])",
                              "T.nearbyint(A[v])",
                              "T.Select(A[v] < B[v], A[v], B[v])",
                              "T.Select(A[v] != A[v], B[v], A[v])"}) {
      ExpectSameBits(type, type, value, "strict");
    }
    const std::string zero = absl::StrCat("T.", type, "(0)");
    for (const std::string& value :
         {absl::StrCat("A[v] * ", zero), absl::StrCat("A[v] + ", zero),
          absl::StrCat("A[v] - ", zero), absl::StrCat(zero, " - A[v]"),
          std::string("A[v] - A[v]"), std::string("A[v] / A[v]"),
          absl::StrCat("A[v] * T.", type, "(1)"),
          absl::StrCat("A[v] / T.", type, "(3)"),
          absl::StrCat("A[v] * T.", type, "(-1)"),
          absl::StrCat("T.max(A[v], ", zero, ")"),
          absl::StrCat("T.max(", zero, ", A[v])"),
          absl::StrCat("T.min(A[v], ", zero, ")"),
          absl::StrCat("A[v] + B[v] * ", zero)}) {
      ExpectSameBits(type, type, value, "strict");
    }
    for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
      ExpectSameBits(type, "bool", absl::StrCat("A[v] ", op, " B[v]"),
                     "strict");
      ExpectSameBits(type, "bool", absl::StrCat("not (A[v] ", op, " B[v])"),
                     "strict");
    }
  }
}

// Products and roots, rounded once.
TEST(OperationsTest, PowersThatAreConstants) {
  for (const char* type : {"float16", "bfloat16", "float32"}) {
    for (const char* power :
         {"0", "1", "2", "3", "8", "-1", "-2", "-7", "0.5", "-0.5"}) {
      ExpectSameBits(type, type,
                     absl::StrCat("T.pow(A[v], T.", type, "(", power, "))"),
                     "componentwise");
    }
  }
}

TEST(OperationsTest, CastsAreDefinedEverywhere) {
  std::vector<std::string> types = IntTypes();
  types.insert(types.end(), FloatTypes().begin(), FloatTypes().end());
  types.push_back("bool");
  for (const std::string& from : types) {
    if (from == "bool") continue;
    for (const std::string& to : types) {
      ExpectSameBits(from, to, absl::StrCat("T.Cast(\"", to, "\", A[v])"),
                     "strict");
    }
  }
}

// Lanes of a wide buffer become numbers one by one: LLVM saw through the way
// there and back, and called a conversion that nobody has.
TEST(OperationsTest, NarrowNumbersGoThroughAWideBuffer) {
  for (const char* narrow : {"bfloat16", "float16"}) {
    for (const char* wide : {"float32", "float64"}) {
      const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((2, 4), "$0"), X: T.Buffer((4,), "$0"), Y: T.Buffer((2,), "$0")):
    W = T.alloc_buffer((2, 4), "$1")
    for i, j in T.grid(2, 4):
        with T.block("W"):
            vi, vj = T.axis.remap("SS", [i, j])
            W[vi, vj] = T.Cast("$1", A[vi, vj])
    for j in range(4):
        with T.block("X"):
            vj = T.axis.spatial(4, j)
            X[vj] = T.Cast("$0", W[1, vj])
    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            Y[vi] = T.Cast("$0", W[vi, 0])
)",
                                                narrow, wide);
      KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("t.py", text));
      for (const uint64_t seed : {1, 2, 3}) {
        EXPECT_EQ(GivesTheSameBits(f, f, HardInputs(f, seed)), absl::OkStatus())
            << text << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace kiln
