"""Writes the cases of tests/op_values: calls of ops with values by NumPy.

    python3 make_values.py      writes values/*.txt beside this file

Each module of references/ is a family of ops: what they mean, written with
NumPy and plain loops, and the calls that are tried. Runs are the same each
time. references/writer.py says how a case is stated.
"""

import importlib
import pathlib
import sys

FAMILIES = (
    "elementwise",
    "reductions",
    "shapes",
    "indexing",
    "makers",
    "order",
    "products",
    "windows",
    "networks",
    "images",
    "vision",
    "program",
    "extremes",
)


def main():
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    writer = importlib.import_module("references.writer")
    for family in FAMILIES:
        module = importlib.import_module("references." + family)
        out = writer.Writer(family)
        module.add(out)
        (here / "values" / (family + ".txt")).write_text(out.text())
        print(f"{family}: {out.count} cases of {len(out.ops)} ops")


if __name__ == "__main__":
    main()
