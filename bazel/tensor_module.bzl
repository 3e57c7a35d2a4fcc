"""Models as libraries of C++."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def _kiln(label):
    """A label of Kiln's, whatever workspace it is loaded from."""
    return str(Label(label))

def tensor_module(
        name,
        src,
        params = None,
        database = None,
        target = None,
        visibility = None):
    """A library with a typed function for each public function of a model.

    Its header is "<package>/<name>.h" and declares the class <name>::Module
    (vm/capi/module.h). The model is compiled ahead into one shared object,
    lib<name>.so, that the program is linked to together with Kiln's runtime;
    nothing of the compiler is.

        tensor_module(name = "mlp", src = "mlp.py", params = "weights.npz")

        mlp::Module mlp;
        kiln::rt::Result y = mlp.main({pixels, {1, 784}});

    Beside the library:
      <name>.test: what the model computes on random numbers, against the
        interpreter.
      <name>.benchmark: `bazel run` it for the time of a call; flags of
        //tools:run_model follow after --.
      <name>.report: `bazel run` it for where the time goes, call by call; with
        a database for the page about its tuning.

    Args:
      name: of the library; a name in C++.
      src: a module: TVMScript, or a serialized one.
      params: an .npz file with weights, by the names of main's parameters.
      database: what `tune` left, the database.sqlite of its work directory.
      target: what to compile for, as the flag --target has it. By default the
        machine that builds.
      visibility: of the library.
    """
    symbol = "kiln_model_" + name
    library = "lib%s.so" % name
    srcs = [src] + [label for label in [params, database] if label]
    flags = "--symbol=%s --tensor_functions" % symbol
    if params:
        flags += " --bind_params=$(location %s)" % params
    if target:
        flags += " --target='%s'" % target
    before = ""
    if database:
        # Whoever reads a database writes beside it.
        before = "".join([
            "work=$$(mktemp -d); trap 'rm -rf $$work' EXIT; ",
            "cp -L $(location %s) $$work/database.sqlite; " % database,
            "chmod +w $$work/database.sqlite; ",
        ])
        flags += " --work-dir=$$work"
    native.genrule(
        name = name + "_compiled",
        srcs = srcs,
        outs = [library, name + ".h"],
        cmd = "%s$(location %s) $(location %s) -o $(location %s) --header=$(location %s.h) %s" %
              (before, _kiln("//tools:compile"), src, library, name, flags),
        tools = [_kiln("//tools:compile")],
    )
    cc_library(
        name = name,
        srcs = [library],
        hdrs = [name + ".h"],
        visibility = visibility,
        deps = [
            _kiln("//vm/capi"),
            _kiln("//vm/capi:module"),
        ],
    )
    _tools(name, src, library, params, database, target)

def _tools(name, src, library, params, database, target):
    run_tool = _kiln("//bazel:run_tool.sh")
    run, run_model, report = [
        _kiln("//tools:" + tool)
        for tool in ["run", "run_model", "report"]
    ]
    weights = ["--bind_params=$(location %s)" % params] if params else []
    files = [params] if params else []
    native.sh_test(
        name = name + ".test",
        size = "small",
        srcs = [run_tool],
        args = ["$(location %s)" % run, "--module=$(location %s)" % src, "--check"] +
               weights + (["--target='%s'" % target] if target else []),
        data = [run, src] + files,
    )
    native.sh_binary(
        name = name + ".benchmark",
        srcs = [run_tool],
        args = ["$(location %s)" % run_model, "$(location %s)" % library, "--time"],
        data = [run_model, library],
    )
    if database:
        native.sh_binary(
            name = name + ".report",
            srcs = [run_tool],
            args = ["$(location %s)" % report, "--work-dir=$$(dirname $(location %s))" % database],
            data = [report, database],
        )
        return
    native.sh_binary(
        name = name + ".report",
        srcs = [run_tool],
        args = ["$(location %s)" % run_model, "$(location %s)" % library, "--profile=table"],
        data = [run_model, library],
    )
