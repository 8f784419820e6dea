#!/usr/bin/python3
"""lint.shell: shellcheck over every bash script of the tree."""

import subprocess
import sys

from source_files import ROOT, tracked


def is_bash(path):
    with open(ROOT / path, "rb") as script:
        first = script.readline(80)
    return first.startswith(b"#!") and b"bash" in first


def main():
    scripts = [str(path) for path in tracked() if is_bash(path)]
    assert scripts, "found no script"
    return subprocess.run(["shellcheck", "--external-sources", *scripts], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
