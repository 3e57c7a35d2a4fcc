"""cc_library and friends as Kiln's packages use them.

Headers are included as "kiln/<package>/<file>.h", by Kiln and by projects that
use it, so that a folder named `ir` or `tools` never meets one of theirs.

Layers hold inside Kiln through each package's default_visibility. In another
workspace, which no package_group of ours can name, the libraries are public.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_proto_library", "cc_test")
load("@rules_proto//proto:defs.bzl", "proto_library")

KILN_COPTS = [
    "-Wall",
    "-Werror=switch",
    "-Werror=return-type",
]

_TEST_DEPS = [
    "@com_google_googletest//:gtest",
    "@com_google_googletest//:gtest_main",
]

def _include_prefix():
    package = native.package_name()
    return "kiln/" + package if package else "kiln"

def _with_visibility(kwargs):
    """Opens what is not private to the workspace that loads Kiln as @kiln."""
    private = kwargs.get("visibility") == ["//visibility:private"]
    if native.repository_name() not in ["@", "@@"] and not private:
        kwargs["visibility"] = ["//visibility:public"]
    return kwargs

def kiln_cc_library(name, copts = [], **kwargs):
    """A cc_library whose headers are included as "kiln/<package>/<file>.h"."""
    if "include_prefix" not in kwargs:
        kwargs["include_prefix"] = _include_prefix()
        kwargs["strip_include_prefix"] = ""
    cc_library(
        name = name,
        copts = KILN_COPTS + copts,
        **_with_visibility(kwargs)
    )

def kiln_cc_binary(name, copts = [], **kwargs):
    """A cc_binary with Kiln's warnings."""
    cc_binary(
        name = name,
        copts = KILN_COPTS + copts,
        **_with_visibility(kwargs)
    )

def kiln_cc_test(name, copts = [], deps = [], size = "small", **kwargs):
    """A cc_test with GoogleTest, GoogleMock and a main function."""
    cc_test(
        name = name,
        size = size,
        copts = KILN_COPTS + copts,
        deps = deps + [dep for dep in _TEST_DEPS if dep not in deps],
        **kwargs
    )

def kiln_proto_library(name, srcs, deps = [], testonly = False, **kwargs):
    """A proto_library `x_proto`, and `x_cc_proto` for C++.

    The schema is imported as "kiln/<package>/<file>.proto", and its C++ header
    is included as "kiln/<package>/<file>.pb.h".
    """
    if not name.endswith("_proto"):
        fail("A kiln_proto_library is named *_proto, not " + name)
    kwargs = _with_visibility(kwargs)
    proto_library(
        name = name,
        srcs = srcs,
        deps = deps,
        import_prefix = _include_prefix(),
        strip_import_prefix = "",
        testonly = testonly,
        **kwargs
    )
    cc_proto_library(
        name = name[:-len("_proto")] + "_cc_proto",
        deps = [":" + name],
        testonly = testonly,
        **kwargs
    )
