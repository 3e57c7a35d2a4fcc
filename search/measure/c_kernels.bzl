"""Hand-written kernels in C as object code inside a C++ library."""

load("//bazel:kiln.bzl", "kiln_cc_library")

def c_kernels(name, src, function, **kwargs):
    """Compiles `src` freestanding, and embeds the object.

    Args:
      name: of the kiln_cc_library, whose header is name.h.
      src: a C file that includes "kernel_abi.h".
      function: of the header, in namespace kiln; returns the object's bytes.
      **kwargs: for the kiln_cc_library.
    """
    native.genrule(
        name = name + "_gen",
        srcs = [
            src,
            "//vm/library:kernel_abi.h",
        ],
        outs = [
            name + ".h",
            name + ".cc",
        ],
        cmd = """
set -e
object=$(@D)/{name}.o
$(CC) -c -O1 -fPIC -ffreestanding -fno-stack-protector -fno-builtin \
    -fno-asynchronous-unwind-tables -mno-red-zone -Wno-infinite-recursion \
    -I$$(dirname $(location //vm/library:kernel_abi.h)) \
    $(location {src}) -o $$object
cat > $(location {name}.h) <<END
// The object code of {src}.
#pragma once
#include <string_view>
namespace kiln {{
std::string_view {function}();
}}  // namespace kiln
END
(
  echo '#include <string_view>'
  echo 'namespace {{ alignas(16) constexpr unsigned char kObject[] = {{'
  od -An -v -tx1 $$object | sed 's/ \\([0-9a-f][0-9a-f]\\)/0x\\1,/g'
  echo '}}; }}'
  echo 'namespace kiln {{'
  echo 'std::string_view {function}();'
  echo 'std::string_view {function}() {{'
  echo '  return {{reinterpret_cast<const char*>(kObject), sizeof kObject}};'
  echo '}}'
  echo '}}  // namespace kiln'
) > $(location {name}.cc)
rm $$object
""".format(name = name, src = src, function = function),
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        visibility = ["//visibility:private"],
    )
    kiln_cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        **kwargs
    )
