// The program is written from pieces:
//
//   static void* Allocate(size_t bytes) ...
//   int main(void) {
//     const int64_t n = 16;
//     float* A = (float*)Allocate((size_t)n * (size_t)128 * sizeof(float));
//     ...
//     for (i = 0; i < ...; ++i) A[i] = (float)Whole(i, 0, 1, 11) / 8;
//     status = kiln_mm_call(host, A, B, C, n);
//     ...
//   }
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/tools/c_export/c_files.h"

namespace kiln {
namespace {

constexpr char kHead[] = R"C(#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>

static void* Allocate(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, KILN_KERNEL_ALIGNMENT, bytes + 1) != 0) {
    fprintf(stderr, "no memory for %lu bytes\n", (unsigned long)bytes);
    exit(1);
  }
  return memory;
}

/* Element i of the b-th argument: a whole number from low to high. */
static int64_t Whole(size_t i, size_t b, int64_t low, int64_t high) {
  const uint64_t mixed = ((uint64_t)i + 97 * b) * 2654435761u >> 7;
  return low + (int64_t)(mixed % (uint64_t)(high - low + 1));
}

)C";

constexpr char kToFloat16[] = R"C(/* Normal numbers of few digits. */
static uint16_t ToFloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffu) == 0) return 0;
  return (uint16_t)((bits >> 16 & 0x8000u) |
                    (((bits >> 13) - (112u << 10)) & 0x7fffu));
}

)C";

constexpr char kFromFloat16[] = R"C(static float FromFloat16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  float value = (float)(bits & 1023);
  int i;
  if (exponent == 31) {
    const uint32_t wide =
        (uint32_t)(bits & 0x8000) << 16 | 0x7f800000u | (bits & 1023u) << 13;
    memcpy(&value, &wide, sizeof(value));
    return value;
  }
  if (exponent > 0) value += 1024;
  value /= 16777216; /* 2^24 */
  for (i = 1; i < exponent; ++i) value *= 2;
  return bits & 0x8000 ? -value : value;
}

)C";

constexpr char kBFloat16[] = R"C(static uint16_t ToBFloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)(bits >> 16);
}

)C";

constexpr char kFromBFloat16[] = R"C(static float FromBFloat16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

)C";

bool IsHalf(DType dtype) { return dtype.is_float() && dtype.bits() == 16; }

std::string HalfName(DType dtype) {
  return dtype == DType::BFloat16() ? "BFloat16" : "Float16";
}

class Example {
 public:
  explicit Example(const CKernel& kernel) : kernel_(kernel) {}

  std::string Text() const {
    std::string text = absl::StrCat(HeadComment(), kHead, Conversions());
    absl::StrAppend(&text, "int main(void) {\n",
                    "  const KilnHost* host = KilnDefaultHost();\n",
                    "  int32_t status;\n  size_t i;\n");
    for (const CParam& param : kernel_.params) {
      if (!param.is_buffer) absl::StrAppend(&text, DeclareScalar(param));
    }
    for (const CParam& param : kernel_.params) {
      if (param.is_buffer) absl::StrAppend(&text, DeclareBuffer(param));
    }
    absl::StrAppend(&text, "  if (host == NULL) {\n",
                    "    fprintf(stderr, \"no threads\\n\");\n",
                    "    return 1;\n  }\n\n");
    for (size_t b = 0; b < kernel_.params.size(); ++b) {
      if (IsFilled(b)) absl::StrAppend(&text, Fill(b));
    }
    if (kernel_.prepare) absl::StrAppend(&text, Call(*kernel_.prepare));
    absl::StrAppend(&text, Call(kernel_.main), "\n");
    for (size_t i = 0; i < kernel_.main.params.size(); ++i) {
      if (kernel_.main.uses[i] == ArgumentUse::kRead) continue;
      absl::StrAppend(&text, Print(kernel_.params[kernel_.main.params[i]]));
    }
    for (const CParam& param : kernel_.params) {
      if (param.is_buffer)
        absl::StrAppend(&text, "  free(", param.name, ");\n");
    }
    return absl::StrCat(text, "  return 0;\n}\n");
  }

 private:
  std::string HeadComment() const {
    return absl::StrCat(
        "/* Calls the kernel once, on numbers made up here, and prints what it "
        "gave.\n *\n *   cc -O2 example.c kernel.o ",
        kernel_.prepare ? "prepare.o " : "",
        "kiln_host.c -o example -lm -lpthread\n *   ./example\n */\n");
  }

  // Functions that are not used would be warned of.
  std::string Conversions() const {
    bool to16 = false, from16 = false, to_bf = false, from_bf = false;
    for (size_t b = 0; b < kernel_.params.size(); ++b) {
      const CParam& param = kernel_.params[b];
      if (!param.is_buffer || !IsHalf(param.dtype)) continue;
      const bool brain = param.dtype == DType::BFloat16();
      if (IsFilled(b)) (brain ? to_bf : to16) = true;
      if (IsPrinted(b)) (brain ? from_bf : from16) = true;
    }
    return absl::StrCat(to16 ? kToFloat16 : "", from16 ? kFromFloat16 : "",
                        to_bf ? kBFloat16 : "", from_bf ? kFromBFloat16 : "");
  }

  // All but what is only written, and what is prepared.
  bool IsFilled(size_t b) const {
    if (!kernel_.params[b].is_buffer) return false;
    return UseIn(kernel_.main, b) == ArgumentUse::kUpdated || IsReadFirst(b);
  }

  bool IsPrinted(size_t b) const {
    const auto use = UseIn(kernel_.main, b);
    return use && *use != ArgumentUse::kRead;
  }

  bool IsReadFirst(size_t b) const {
    if (kernel_.prepare) {
      const auto use = UseIn(*kernel_.prepare, b);
      if (use) return *use == ArgumentUse::kRead;
    }
    return UseIn(kernel_.main, b) == ArgumentUse::kRead;
  }

  static std::optional<ArgumentUse> UseIn(const CFunction& function, size_t b) {
    for (size_t i = 0; i < function.params.size(); ++i) {
      if (function.params[i] == static_cast<int>(b)) return function.uses[i];
    }
    return std::nullopt;
  }

  static std::string DeclareScalar(const CParam& param) {
    const std::string value = param.is_extent ? absl::StrCat(kExampleExtent)
                              : param.dtype.is_float() ? "0.5"
                                                       : "1";
    return absl::StrCat(
        "  const ", param.type, " ", param.name, " = (", param.type, ")", value,
        ";", param.is_extent ? " /* any extent will do */" : "", "\n");
  }

  static std::string DeclareBuffer(const CParam& param) {
    return absl::StrCat("  ", param.type, "* ", param.name, " = (", param.type,
                        "*)Allocate(\n      ", param.Count(), " * sizeof(",
                        param.type, "));\n");
  }

  static ValueRange RangeOf(const CParam& param) {
    if (param.range) {
      constexpr int64_t kMost = 1 << 20;
      return {param.range->low,
              std::min(param.range->high, param.range->low + kMost)};
    }
    if (param.dtype.is_bool()) return {0, 1};
    return param.dtype.is_float() ? ValueRange{1, 11} : ValueRange{0, 5};
  }

  std::string Fill(size_t b) const {
    const CParam& param = kernel_.params[b];
    const ValueRange range = RangeOf(param);
    const std::string whole =
        absl::StrCat("Whole(i, ", b, ", ", range.low, ", ", range.high, ")");
    std::string value = absl::StrCat("(", param.type, ")", whole);
    if (param.dtype.is_float() && !param.range) value += " / 8";
    if (IsHalf(param.dtype)) {
      value = absl::StrCat("To", HalfName(param.dtype), "((float)", whole,
                           param.range ? "" : " / 8", ")");
    }
    return absl::StrCat("  for (i = 0; i < ", param.Count(), "; ++i) {\n    ",
                        param.name, "[i] = ", value, ";\n  }\n");
  }

  std::string Call(const CFunction& function) const {
    std::vector<std::string> args = {"host"};
    for (int param : function.params)
      args.push_back(kernel_.params[param].name);
    return absl::StrCat(
        "\n  status = ", function.name, "_call(", absl::StrJoin(args, ", "),
        ");\n  if (status != KILN_KERNEL_OK) {\n    fprintf(stderr, \"",
        function.name, "_call: status %d\\n\", (int)status);\n",
        "    return 1;\n  }\n");
  }

  static std::string Element(const CParam& param, const std::string& index) {
    const std::string element = absl::StrCat(param.name, "[", index, "]");
    if (!IsHalf(param.dtype)) return absl::StrCat("(double)", element);
    return absl::StrCat("(double)From", HalfName(param.dtype), "(", element,
                        ")");
  }

  static std::string Print(const CParam& param) {
    const std::string count = param.Count();
    return absl::StrCat(
        "  if (", count, " > 0) {\n    double sum = 0;\n    for (i = 0; i < ",
        count, "; ++i) sum += ", Element(param, "i"), ";\n    printf(\"",
        param.name, ": %lu elements, sum %.9g, first\",\n",
        "           (unsigned long)(", count, "), sum);\n",
        "    for (i = 0; i < ", count,
        " && i < 5; ++i) {\n      printf(\" %.9g\", ", Element(param, "i"),
        ");\n    }\n    printf(\", last %.9g\\n\", ",
        Element(param, absl::StrCat(count, " - 1")), ");\n  }\n");
  }

  const CKernel& kernel_;
};

}  // namespace

std::string CExample(const CKernel& kernel) { return Example(kernel).Text(); }

}  // namespace kiln
