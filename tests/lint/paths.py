#!/usr/bin/python3
"""lint.paths: nothing in the tree names a place that only one machine has, and no merge is half done."""

import re
import sys

from source_files import ROOT, report, tracked

FORBIDDEN = [
    (re.compile(rb"(?<![\w.$}/])/(home/[a-z]|root/(?!dev|proc|run|sys|tmp|\$)|Users/|work/)"), "a path of one machine"),
    (re.compile(rb"\.\./shared/"), "a path outside the tree"),
    (re.compile(rb"\b(BRIEF|BOARD)\.md\b"), "a file outside the tree"),
    (re.compile(rb"^(<{7} |>{7} |={7}$)"), "a merge conflict marker"),
    (re.compile(rb"\b(FIXME|XXX)\b|\bTODO(?!\(#\d+\):)"), "a TODO without an issue: write TODO(#12):"),
]


def problems_of_file(path):
    content = (ROOT / path).read_bytes()
    if b"\0" in content or path.parts[:2] == ("tests", "lint"):
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                text = line.strip().decode(errors="replace")[:100]
                yield f"{path}:{number}: {what}: {text}"


def main():
    files = [path for path in tracked() if "corpus" not in path.parts]
    return report([problem for path in files for problem in problems_of_file(path)],
                  "Make it relative, or say it in words.")


if __name__ == "__main__":
    sys.exit(main())
