"""Everything that Kiln needs from outside, for Kiln and for workspaces that use it.

    load("@kiln//third_party:repositories.bzl", "kiln_dependencies")
    kiln_dependencies()
"""

load("//third_party:system_library.bzl", "system_library")
load("//third_party/absl:repository.bzl", "absl_repository")
load("//third_party/bazel_rules:repository.bzl", "installed_rules", "remote_coverage_tools_stub", "rules_cc_stub")
load("//third_party/llvm:repository.bzl", "llvm_repository")
load("//third_party/protobuf:repository.bzl", "protobuf_repository")

def _maybe(rule, name, keep_existing = True, **kwargs):
    """A repository that the calling workspace defined first is kept."""
    if not keep_existing or not native.existing_rule(name):
        rule(name = name, **kwargs)

def bazel_rule_repositories():
    """What Bazel 4 itself would fetch from the internet."""
    _maybe(rules_cc_stub, "rules_cc")
    _maybe(remote_coverage_tools_stub, "remote_coverage_tools")
    for name, path, package in [
        ("rules_java", "/usr/share/bazel/rules/java", "bazel-rules-java"),
        ("rules_proto", "/usr/share/bazel/rules/proto", "bazel-rules-proto"),
        ("bazel_skylib", "/usr/share/bazel/tools/skylib", "bazel-skylib"),
        ("platforms", "/usr/share/bazel/platforms", "bazel-platforms"),
    ]:
        _maybe(installed_rules, name, path = path, package = package)

# Libraries of one target, all by system_library.
_SIMPLE_LIBRARIES = [
    struct(
        name = "com_google_googletest",
        build_file = Label("//third_party/googletest:googletest.BUILD"),
        headers = ["gtest", "gmock"],
        package = "libgmock-dev",
    ),
    struct(
        name = "com_github_google_benchmark",
        build_file = Label("//third_party/benchmark:benchmark.BUILD"),
        headers = ["benchmark"],
        package = "libbenchmark-dev",
    ),
    struct(
        name = "com_googlesource_code_re2",
        build_file = Label("//third_party/re2:re2.BUILD"),
        headers = ["re2"],
        package = "libre2-dev",
    ),
    struct(
        name = "sqlite3",
        build_file = Label("//third_party/sqlite3:sqlite3.BUILD"),
        headers = ["sqlite3.h"],
        package = "libsqlite3-dev",
    ),
    struct(
        name = "libzip",
        build_file = Label("//third_party/libzip:libzip.BUILD"),
        headers = ["zip.h", "zipconf.h"],
        package = "libzip-dev",
    ),
    struct(
        name = "openblas",
        build_file = Label("//third_party/openblas:openblas.BUILD"),
        headers = ["cblas.h", "openblas_config.h"],
        include_roots = [
            "/usr/include/x86_64-linux-gnu/openblas-pthread",
            "/usr/include/aarch64-linux-gnu/openblas-pthread",
        ],
        package = "libopenblas-dev",
    ),
    struct(
        name = "gperftools",
        build_file = Label("//third_party/gperftools:gperftools.BUILD"),
        headers = ["gperftools"],
        package = "libgoogle-perftools-dev",
    ),
    struct(
        name = "onednn",
        build_file = Label("//third_party/onednn:onednn.BUILD"),
        headers = ["oneapi/dnnl"],
        package = "libdnnl-dev",
    ),
    struct(
        name = "openssl",
        build_file = Label("//third_party/openssl:openssl.BUILD"),
        headers = ["openssl"],
        package = "libssl-dev",
    ),
    struct(
        name = "xgboost",
        build_file = Label("//third_party/xgboost:xgboost.BUILD"),
        headers = ["xgboost/c_api.h"],
        package = "libxgboost-dev",
    ),
]

def library_repositories(keep_existing = True):
    """Libraries of the system, under the names that upstream's projects use."""
    _maybe(absl_repository, "com_google_absl", keep_existing)
    _maybe(protobuf_repository, "com_google_protobuf", keep_existing)
    _maybe(llvm_repository, "llvm-project", keep_existing)
    for library in _SIMPLE_LIBRARIES:
        _maybe(
            system_library,
            library.name,
            keep_existing,
            build_file = library.build_file,
            headers = library.headers,
            include_roots = getattr(library, "include_roots", ["/usr/include"]),
            package = library.package,
        )

def kiln_dependencies():
    """All repositories that Kiln's targets name."""
    bazel_rule_repositories()
    library_repositories()
