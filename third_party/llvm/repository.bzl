"""@llvm-project over the system's LLVM 19: //llvm:* and //lld:*."""

load("//third_party:system_library.bzl", "missing", "run")

_CONFIG = "llvm-config-19"
_PACKAGE = "llvm-19-dev"

# Names of upstream's libraries; all are the one shared libLLVM.
_ALIASES = [
    "Analysis",
    "BitWriter",
    "CodeGen",
    "Core",
    "ExecutionEngine",
    "InstCombine",
    "JITLink",
    "MC",
    "ObjCARC",
    "Object",
    "OrcJIT",
    "Passes",
    "Scalar",
    "Support",
    "Target",
    "TargetParser",
    "TransformUtils",
    "Vectorize",
    "X86CodeGen",
    "AArch64CodeGen",
]

_HEAD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

_LLVM = _HEAD + """
cc_library(
    name = "LLVM",
    hdrs = glob(["include/**/*.h", "include/**/*.def", "include/**/*.inc"]),
    includes = ["include"],
    linkopts = {linkopts},
)

# The version, without the library.
cc_library(
    name = "config",
    hdrs = ["include/llvm/Config/llvm-config.h"],
    includes = ["include"],
)

[
    alias(
        name = name,
        actual = ":LLVM",
    )
    for name in {aliases}
]
"""

_LLD = _HEAD + """
cc_library(
    name = "ELF",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    linkopts = {linkopts},
    deps = ["//llvm:LLVM"],
)
"""

def _llvm_repository_impl(repository_ctx):
    include = run(repository_ctx, [_CONFIG, "--includedir"], "LLVM 19", _PACKAGE)
    lib = run(repository_ctx, [_CONFIG, "--libdir"], "LLVM 19", _PACKAGE)
    for folder in ["llvm", "llvm-c"]:
        repository_ctx.symlink("{}/{}".format(include, folder), "llvm/include/" + folder)
    linkopts = ["-L" + lib, "-lLLVM-19"]
    repository_ctx.file("llvm/BUILD", _LLVM.format(aliases = repr(_ALIASES), linkopts = repr(linkopts)))

    if not repository_ctx.path(include + "/lld").exists:
        missing("lld 19 as a library", "liblld-19-dev")
    repository_ctx.symlink(include + "/lld", "lld/include/lld")
    lld = ["-L" + lib, "-llldELF", "-llldCommon", "-lz", "-lzstd"]
    repository_ctx.file("lld/BUILD", _LLD.format(linkopts = repr(lld)))
    repository_ctx.file("BUILD", "")

llvm_repository = repository_rule(
    implementation = _llvm_repository_impl,
    doc = "@llvm-project from llvm-config-19.",
    local = True,
)
