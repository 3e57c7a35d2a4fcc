"""Bazel's own rule repositories without a network.

Bazel 4 takes these from the internet unless a workspace defines them. Debian
ships most of them; the others are small stubs over native rules. Newer Bazel
does not come here: it reads MODULE.bazel.
"""

load("//third_party:system_library.bzl", "missing")

_RULES_CC_DEFS = """\
cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_proto_library = native.cc_proto_library
objc_library = native.objc_library
objc_import = native.objc_import
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_profile = native.fdo_profile
fdo_prefetch_hints = native.fdo_prefetch_hints
"""

def _rules_cc_impl(repository_ctx):
    repository_ctx.file("WORKSPACE", "workspace(name = \"rules_cc\")\n")
    repository_ctx.file("BUILD", "")
    repository_ctx.file("cc/BUILD", "toolchain_type(name = \"toolchain_type\", visibility = [\"//visibility:public\"])\n")
    repository_ctx.file("cc/defs.bzl", _RULES_CC_DEFS)

rules_cc_stub = repository_rule(
    implementation = _rules_cc_impl,
    doc = "@rules_cc as names for the native rules.",
    local = True,
)

def _remote_coverage_tools_impl(repository_ctx):
    repository_ctx.file("BUILD", """
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
""")

remote_coverage_tools_stub = repository_rule(
    implementation = _remote_coverage_tools_impl,
    doc = "@remote_coverage_tools without tools.",
    local = True,
)

def _installed_rules_impl(repository_ctx):
    root = repository_ctx.path(repository_ctx.attr.path)
    if not root.exists:
        missing(repository_ctx.attr.path, repository_ctx.attr.package)
    for entry in root.readdir():
        repository_ctx.symlink(entry, entry.basename)

installed_rules = repository_rule(
    implementation = _installed_rules_impl,
    doc = "A rule repository that Debian installed as a folder.",
    attrs = {
        "package": attr.string(mandatory = True),
        "path": attr.string(mandatory = True),
    },
    local = True,
)
