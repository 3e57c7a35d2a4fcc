"""The libraries of repositories.bzl as a module extension, for MODULE.bazel."""

load("//third_party:repositories.bzl", "library_repositories")

def _system_libraries_impl(_module_ctx):
    library_repositories(keep_existing = False)

system_libraries = module_extension(implementation = _system_libraries_impl)
