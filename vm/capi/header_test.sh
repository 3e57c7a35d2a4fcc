#!/bin/sh
# header_test.sh KILN.H: it stands alone, in old C, in new C and in C++.
set -eu
cp "$1" kiln_alone.h
echo '#include "kiln_alone.h"' >program.c
for standard in c99 c11 c17; do
  clang-19 -std=$standard -Wall -Wextra -pedantic -Werror -I. -fsyntax-only program.c
done
for standard in c++11 c++20; do
  clang-19 -x c++ -std=$standard -Wall -Wextra -pedantic -Werror -I. -fsyntax-only program.c
done
