#!/bin/sh
# What runs a model is linked to nothing of the compiler, and a model to nothing
# but the C library. Prints the libraries and the sizes.
# linkage_test.sh RUNTIME RUNNER MODEL
set -eu
failed=0

# check FILE PATTERN: no library of that pattern.
check() {
  echo "== $1: $(stat -L -c %s "$1") bytes"
  libraries=$(ldd "$1")
  echo "$libraries" | sed 's/ (0x.*//'
  if echo "$libraries" | grep -qE "$2|not found"; then
    echo "FAILED: $1 needs what it may not"
    failed=1
  fi
}

compiler='LLVM|lld|clang|protoc|dnnl|openblas|sqlite'
check "$1" "$compiler"
check "$2" "$compiler"
check "$3" "$compiler|absl|protobuf|stdc\+\+|crypto"

echo "== names that the runtime exports"
names=$(nm -D --defined-only "$1" | awk '{print $3}' | sort)
echo "$names"
if echo "$names" | grep -qv '^Kiln'; then
  echo "FAILED: $1 exports names that are not of kiln.h"
  failed=1
fi
exit $failed
