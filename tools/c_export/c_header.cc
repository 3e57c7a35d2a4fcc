// The header is put together from texts, one function for each part. The typed
// function of a kernel mm(A, B, C) checks what the kernel relies on, fills the
// two lists of kernel_abi.h and calls the object's function:
//
//   static inline int32_t kiln_mm_call(const KilnHost* host,
//                                      const float* A, ..) {
//     void* data[4] = {0};
//     int64_t scalars[1] = {0};
//     if (A == NULL || (uintptr_t)A % 64 != 0) {
//       return KILN_KERNEL_BAD_ARGUMENT;
//     }
//     data[0] = (void*)(uintptr_t)A;
//     ..
//     if (KilnShareMemory(A, .., C, ..)) { return KILN_KERNEL_BAD_ARGUMENT; }
//     return kiln_mm(host, data, scalars);
//   }
//
// Names of the program reach the text only as identifiers (CIdentifier) or
// inside of comments that they cannot end (InComment).
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/version.h"
#include "kiln/tools/c_export/c_files.h"
#include "kiln/vm/c_host/header_text.h"
#include "kiln/vm/c_host/source_text.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {
namespace {

// Text that does not end a comment.
std::string InComment(const std::string& text) {
  return absl::StrReplaceAll(absl::CHexEscape(text), {{"*/", "*\\/"}});
}

std::string UseText(ArgumentUse use) {
  switch (use) {
    case ArgumentUse::kRead:
      return "in";
    case ArgumentUse::kWritten:
      return "out: every element is written, none is read before";
    case ArgumentUse::kUpdated:
      return "in and out: set it before the call";
  }
  return "";
}

std::string ElementText(const CParam& param) {
  if (param.dtype.is_bool()) return ", a byte each, 0 or 1";
  if (!param.dtype.is_float() || param.dtype.bits() != 16) return "";
  return ", the 16 bits of each as a uint16_t";
}

// "A: float32[128][64], row-major: ..."
std::string BufferText(const CParam& param) {
  std::string shape;
  for (const std::string& extent : param.shape) {
    absl::StrAppend(&shape, "[", extent, "]");
  }
  return absl::StrCat(
      param.dtype.ToString(), shape,
      param.extents.empty()      ? " (one element)"
      : param.extents.size() > 1 ? ", row-major, without gaps"
                                 : ", without gaps",
      ElementText(param),
      param.alignment == 64
          ? ""
          : absl::StrCat(", at a multiple of ", param.alignment, " bytes"));
}

std::string ParamText(const CParam& param, ArgumentUse use) {
  std::string text = absl::StrCat(" *   ", param.name);
  if (param.name != param.source) {
    absl::StrAppend(&text, " (", InComment(param.source), ")");
  }
  absl::StrAppend(&text, ": ");
  if (param.is_buffer) {
    absl::StrAppend(&text, BufferText(param), ";\n *     ", UseText(use));
    if (param.range) {
      absl::StrAppend(&text, "; an index: values outside of the tensor that ",
                      "it\n *     indexes are not checked");
    }
  } else {
    absl::StrAppend(&text, param.dtype.ToString(),
                    param.is_extent ? ", an extent of the shapes above or below"
                                    : ", a number");
  }
  return absl::StrCat(text, "\n");
}

std::string CParameter(const CParam& param, ArgumentUse use) {
  if (!param.is_buffer) return absl::StrCat(param.type, " ", param.name);
  return absl::StrCat(use == ArgumentUse::kRead ? "const " : "", param.type,
                      "* ", param.name);
}

// The 64 bits of kernel_abi.h.
std::string Encoded(const CParam& param, const std::string& target) {
  if (param.dtype.is_float()) {
    return absl::StrCat("  {\n    const double value = (double)", param.name,
                        ";\n    memcpy(&", target,
                        ", &value, sizeof(value));\n  }\n");
  }
  return absl::StrCat("  ", target, " = (int64_t)",
                      param.dtype.is_bool()
                          ? absl::StrCat("(", param.name, " != 0)")
                          : param.name,
                      ";\n");
}

// Refuses buffers that are written and share memory with another one.
std::string CheckApartText(const CKernel& kernel, const CFunction& function) {
  std::string text;
  const auto buffer = [&](size_t i) -> const CParam* {
    const CParam& param = kernel.params[function.params[i]];
    return param.is_buffer ? &param : nullptr;
  };
  for (size_t i = 0; i < function.params.size(); ++i) {
    for (size_t j = i + 1; j < function.params.size(); ++j) {
      const CParam *a = buffer(i), *b = buffer(j);
      const bool only_read = function.uses[i] == ArgumentUse::kRead &&
                             function.uses[j] == ArgumentUse::kRead;
      if (!a || !b || only_read) continue;
      absl::StrAppend(&text, "  if (KilnShareMemory(", a->name, ", ",
                      a->Bytes(), ",\n                      ", b->name, ", ",
                      b->Bytes(), ")) {\n",
                      "    return KILN_KERNEL_BAD_ARGUMENT;\n  }\n");
    }
  }
  return text;
}

// The body of the typed function: lists are never empty, as C wants it.
std::string CallBody(const CKernel& kernel, const CFunction& function) {
  std::string body = absl::StrCat("  void* data[", function.data.size() + 1,
                                  "] = {0};\n  int64_t scalars[",
                                  function.scalars.size() + 1, "] = {0};\n");
  for (size_t i = 0; i < function.data.size(); ++i) {
    const std::string& name = kernel.params[function.data[i]].name;
    absl::StrAppend(&body, "  if (", name, " == NULL || (uintptr_t)", name,
                    " % ", kernel.params[function.data[i]].alignment,
                    " != 0) {\n", "    return KILN_KERNEL_BAD_ARGUMENT;\n  }\n",
                    "  data[", i, "] = (void*)(uintptr_t)", name, ";\n");
  }
  absl::StrAppend(&body, CheckApartText(kernel, function));
  for (size_t i = 0; i < function.scalars.size(); ++i) {
    absl::StrAppend(&body, Encoded(kernel.params[function.scalars[i]],
                                   absl::StrCat("scalars[", i, "]")));
  }
  return absl::StrCat(body, "  return ", function.name,
                      "(host, data, scalars);\n");
}

std::string FunctionText(const CKernel& kernel, const CFunction& function,
                         const std::string& what) {
  std::string doc = absl::StrCat("/* ", what, "\n *\n");
  std::vector<std::string> params = {"const KilnHost* host"};
  for (size_t i = 0; i < function.params.size(); ++i) {
    const CParam& param = kernel.params[function.params[i]];
    absl::StrAppend(&doc, ParamText(param, function.uses[i]));
    params.push_back(CParameter(param, function.uses[i]));
  }
  const std::string label =
      function.name == function.symbol
          ? ""
          : absl::StrCat("\n    __asm__(\"", absl::CEscape(function.symbol),
                         "\")");
  return absl::StrCat(
      doc, " */\nstatic inline int32_t ", function.name, "_call(\n    ",
      absl::StrJoin(params, ",\n    "), ");\n\n",
      "/* The same as the object exports it; kiln_host.h tells what it takes. "
      "*/\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint32_t ",
      function.name,
      "(const KilnHost* host, void* const* data,\n    const int64_t* scalars)",
      label, ";\n\nstatic inline int32_t ", function.name, "_call(\n    ",
      absl::StrJoin(params, ",\n    "), ") {\n", CallBody(kernel, function),
      "}\n\n");
}

std::string HeadText(const CKernel& kernel) {
  const std::string objects =
      kernel.prepare ? "kernel.o prepare.o" : "kernel.o";
  return absl::StrCat(
      "/* The function ", InComment(kernel.name), ", compiled by Kiln ",
      kVersion, " for\n *   ", InComment(kernel.target),
      "\n * with the features of the machine at hand, where that is its CPU. "
      "Processors\n * without these instructions end it by SIGILL.\n *\n"
      " *   cc -O2 program.c ",
      objects, " kiln_host.c -lm -lpthread\n *\n * The object",
      kernel.prepare ? "s need" : " needs", " nothing of Kiln",
      kernel.needs.empty() ? " and no other function"
                           : absl::StrCat(", and the C functions ",
                                          absl::StrJoin(kernel.needs, ", ")),
      ".\n * Threads and workspaces come from the host that every call takes:\n"
      " * KilnDefaultHost() has a thread for each processor, KilnHostCreate(1) "
      "starts none;\n * or write another one (KilnHost).\n *\n"
      " * Every buffer begins at a multiple of 64 bytes (posix_memalign,\n"
      " * aligned_alloc) if nothing else is said of it, and what is written "
      "overlaps no\n * other buffer. Calls keep no state: several threads may "
      "call at a time, on different\n * outputs.\n *\n"
      " * Calls return 0, or a KilnKernelStatus: KILN_KERNEL_BAD_ARGUMENT for "
      "a buffer that is\n * NULL, not aligned or overlapped, "
      "KILN_KERNEL_OUT_OF_MEMORY "
      "where the host has no workspace,\n * KILN_KERNEL_NESTED_PARALLEL inside "
      "of a parallel loop of a host,\n * KILN_KERNEL_NO_TILES where the "
      "system refuses AMX to the process. Then outputs may be\n * written in "
      "part. */\n");
}

}  // namespace

std::string CHeader(const CKernel& kernel) {
  const std::string guard =
      absl::StrCat("KILN_KERNEL_", kernel.main.name, "_H_");
  std::string text = absl::StrCat(
      HeadText(kernel), "#ifndef ", guard, "\n#define ", guard,
      "\n\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
      "#include \"kiln_host.h\"\n\n#if KILN_KERNEL_ABI_VERSION != ",
      KILN_KERNEL_ABI_VERSION,
      "\n#error \"this kernel and kiln_host.h are of different versions\"\n"
      "#endif\n\n");
  if (kernel.prepare) {
    absl::StrAppend(
        &text, FunctionText(kernel, *kernel.prepare,
                            "Brings constant arguments into the layout that "
                            "the kernel reads: once, before\n * its calls, and "
                            "again where they change. In prepare.o."));
  }
  return absl::StrCat(text, FunctionText(kernel, kernel.main, "The kernel."),
                      "#endif /* ", guard, " */\n");
}

std::string CHostHeaderFile() {
  return absl::StrReplaceAll(CHostHeader("kiln_host"),
                             {{"#include \"kiln/vm/library/kernel_abi.h\"\n",
                               CHostHeader("kernel_abi")}});
}

std::string CHostSourceFile() {
  return absl::StrReplaceAll(
      CHostSource("kiln_host"),
      {{"\"kiln/vm/c_host/kiln_host.h\"", "\"kiln_host.h\""}});
}

}  // namespace kiln
