"""Presents libraries that the system's package manager installed as Bazel repositories.

Headers are copied, not linked, into the repository: the C++ toolchain's own
module map owns every file below /usr/include, so that `layering_check` could
not tell an undeclared dependency if the files were the same.
"""

def missing(what, package):
    """Stops the build with the way out when a library is not installed."""
    fail(("\n\n  Kiln needs {what}, which is not installed (Debian package {package}).\n" +
          "  Run ./bazelw in Kiln's root folder once: it installs what is missing.\n").format(
        what = what,
        package = package,
    ))

def run(repository_ctx, command, what, package):
    """The trimmed stdout of a command that must succeed."""
    if not repository_ctx.which(command[0]):
        missing(what + " (" + command[0] + ")", package)
    result = repository_ctx.execute(command)
    if result.return_code != 0:
        missing(what, package)
    return result.stdout.strip()

def copy_headers(repository_ctx, root, paths, to, package):
    """Copies the files and folders `paths` below `root` into the folder `to`."""
    for path in paths:
        source = "{}/{}".format(root, path)
        if not repository_ctx.path(source).exists:
            missing("the header " + source, package)
        parent = "{}/{}".format(to, path).rpartition("/")[0]
        script = 'mkdir -p "$2" && cp -RL "$1" "$2/"'
        result = repository_ctx.execute(["sh", "-c", script, "sh", source, parent])
        if result.return_code != 0:
            fail("Cannot copy {}: {}".format(source, result.stderr))

def _system_library_impl(repository_ctx):
    package = repository_ctx.attr.package
    roots = repository_ctx.attr.include_roots
    present = [root for root in roots if repository_ctx.path(root).exists]
    if not present:
        missing(" or ".join(roots), package)
    copy_headers(repository_ctx, present[0], repository_ctx.attr.headers, "include", package)
    repository_ctx.symlink(repository_ctx.attr.build_file, "BUILD")

system_library = repository_rule(
    implementation = _system_library_impl,
    doc = "A library with its headers in `include/` and a BUILD file of ours.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "headers": attr.string_list(mandatory = True, doc = "files and folders below the include root"),
        "include_roots": attr.string_list(mandatory = True, doc = "the first that exists is taken"),
        "package": attr.string(mandatory = True, doc = "the Debian package to name when it is missing"),
    },
    local = True,
)
