#!/bin/sh
# run_tool.sh TOOL ARGUMENTS...: where the runfiles are, with the arguments that
# `bazel run` adds.
unset BUILD_WORKING_DIRECTORY
exec "$@"
