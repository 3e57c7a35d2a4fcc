"""Files as strings in C++."""

load("//bazel:kiln.bzl", "kiln_cc_library")

def kiln_embed(name, srcs, function, visibility = None):
    """A library NAME with `const char* function(std::string_view file)`.

    The function gives the contents of the source whose base name (without its
    suffix) is asked for, or nullptr. The header is NAME.h beside the BUILD
    file's package.

    Args:
      name: the library.
      srcs: text files without the sequence )EMBED".
      function: the C++ function in namespace kiln.
      visibility: as usual.
    """
    native.genrule(
        name = name + "_source",
        srcs = srcs,
        outs = [name + ".cc", name + ".h"],
        cmd = " ".join([
            "{ echo '#include <string_view>';",
            "echo 'namespace kiln {';",
            "echo '// The contents of the file of this name; nullptr: there is none.';",
            "echo 'const char* %s(std::string_view file);';" % function,
            "echo '}'; } > $(RULEDIR)/%s.h;" % name,
            "{ echo '#include <string_view>'; echo 'namespace kiln {';",
            "echo 'const char* %s(std::string_view file) {';" % function,
            "for f in $(SRCS); do base=$$(basename $$f); base=$${base%.*};",
            "printf 'if (file == \"%s\") return R\"EMBED(' $$base; cat $$f; echo ')EMBED\";'; done;",
            "echo 'return nullptr; } }'; } > $(RULEDIR)/%s.cc" % name,
        ]),
    )
    kiln_cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        visibility = visibility,
    )
