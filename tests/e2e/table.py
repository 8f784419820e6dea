"""Figures that tests print, one row each: to standard output and, for tests/vm, into the file that UPF_TABLE names."""

import os


def row(*cells):
    line = " | ".join(map(str, cells))
    print(line)
    if path := os.environ.get("UPF_TABLE"):
        with open(path, "a") as out:
            out.write(line + "\n")
