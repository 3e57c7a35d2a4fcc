#!/bin/sh
# classify and classify.py name the same garment; what is wrong gets a message.
# examples_test.sh CLASSIFY CLASSIFY.PY LIBKILN_RT.SO MODEL.SO IMAGE.NPY
set -eu
expected=$("$1" "$4" "$5")
echo "in C: $expected"
case $expected in *"("*")"*) ;; *) exit 1 ;; esac

if "$1" "$5" "$5" 2>message; then exit 1; fi
grep -q "is no executable of Kiln" message
if "$1" /nowhere/model.so "$5" 2>message; then exit 1; fi
grep -q "/nowhere/model.so" message

command -v python3 >/dev/null || { echo "no python3 here"; exit 0; }
got=$(python3 "$2" "$3" "$4" "$5")
echo "in Python: $got"
[ "$got" = "$expected" ]
# Without what is not in Python itself:
got=$(python3 -S -c '
import sys
sys.modules["numpy"] = None
sys.argv = sys.argv[1:]
exec(open(sys.argv[0]).read())' "$2" "$3" "$4" "$5")
echo "without NumPy: $got"
[ "$got" = "$expected" ]
if python3 "$2" "$3" "$5" "$5" 2>message; then exit 1; fi
grep -q "is no executable of Kiln" message
