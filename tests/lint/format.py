#!/usr/bin/python3
"""lint.format: clang-format 14 has nothing to change. With --fix it changes it.

Exactly version 14: other versions break lines in other places.
"""

import subprocess
import sys

from source_files import ROOT, report, tracked


def main():
    files = [str(path) for path in tracked(".hpp", ".cpp") if path.parts[:2] != ("tests", "bpf")]
    if "--fix" in sys.argv:
        return subprocess.run(["clang-format-14", "-i", *files], cwd=ROOT).returncode
    run = subprocess.run(["clang-format-14", "--dry-run", *files], cwd=ROOT, capture_output=True, text=True)
    wrong = sorted({line.split(":", 1)[0] for line in run.stderr.splitlines()
                    if "clang-format-violations" in line})
    if run.returncode != 0 and not wrong:
        print(run.stderr)
        return 1
    return report([f"{name}: not formatted" for name in wrong],
                  "Run: tests/lint/format.py --fix")


if __name__ == "__main__":
    sys.exit(main())
