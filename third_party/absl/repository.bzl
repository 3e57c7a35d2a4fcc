"""@com_google_absl over the system's Abseil: one package per folder, as upstream has it."""

load("//third_party:system_library.bzl", "copy_headers", "run")
load("//third_party/absl:targets.bzl", "ABSL_TARGETS")

_PACKAGE = "libabsl-dev"

_TARGET = """
cc_library(
    name = "{name}",
    hdrs = {hdrs},
    linkopts = {linkopts},
    deps = ["//:headers"],
)
"""

_BUILD_HEAD = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

exports_files(glob(["*.h"]))
"""

_ROOT_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

# Abseil's headers include each other; all are inputs of every compilation
# that sees one, and only a target's own are open to those who depend on it.
cc_library(
    name = "headers",
    textual_hdrs = {hdrs},
    visibility = ["//absl:__subpackages__"],
)
"""

def _link_options(repository_ctx, modules):
    """pkg-config module -> its link options."""
    result = {}
    for module in modules:
        libs = run(repository_ctx, ["pkg-config", "--libs", module], "Abseil", _PACKAGE)
        result[module] = [option for option in libs.split(" ") if option]
    return result

def _absl_repository_impl(repository_ctx):
    modules = {module: True for _, module in ABSL_TARGETS.values()}
    linkopts = _link_options(repository_ctx, modules.keys())
    builds = {}
    labels = []
    headers = []
    for label, (hdrs, module) in ABSL_TARGETS.items():
        folder, _, name = label.partition(":")
        builds[folder] = builds.get(folder, _BUILD_HEAD) + _TARGET.format(
            name = name,
            hdrs = repr(hdrs),
            linkopts = repr(linkopts[module]),
        )
        labels.extend(["//absl/{}:{}".format(folder, header) for header in hdrs])
        headers.extend(["absl/{}/{}".format(folder, header) for header in hdrs])
    copy_headers(repository_ctx, "/usr/include", headers, ".", _PACKAGE)
    for folder, text in builds.items():
        repository_ctx.file("absl/{}/BUILD".format(folder), text)
    repository_ctx.file("BUILD", _ROOT_BUILD.format(hdrs = repr(labels)))

absl_repository = repository_rule(
    implementation = _absl_repository_impl,
    doc = "@com_google_absl from the system's headers and pkg-config modules.",
    local = True,
)
