"""@com_google_protobuf over the system's protobuf and protoc."""

load("//third_party:system_library.bzl", "copy_headers", "missing")

def _protobuf_repository_impl(repository_ctx):
    protoc = repository_ctx.which("protoc")
    if not protoc:
        missing("protoc", "protobuf-compiler")
    copy_headers(repository_ctx, "/usr/include", ["google/protobuf"], "include", "libprotobuf-dev")
    repository_ctx.file("protoc.sh", "#!/bin/sh\nexec {} \"$@\"\n".format(protoc))
    repository_ctx.symlink(Label("//third_party/protobuf:protobuf.BUILD"), "BUILD")

protobuf_repository = repository_rule(
    implementation = _protobuf_repository_impl,
    doc = "@com_google_protobuf: the runtime, protoc and the C++ toolchain of proto_library.",
    local = True,
)
