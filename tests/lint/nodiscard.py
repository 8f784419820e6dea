#!/usr/bin/python3
"""lint.nodiscard: every function that returns a Result is [[nodiscard]] where it is first declared.

tl::expected itself can't be (src/adr/0002), so a dropped error would pass silently.
"""

import re
import sys

from source_files import ROOT, report, tracked

NAME = re.compile(r"\s+([A-Za-z_][\w:]*)\s*\(")
START = re.compile(
    r"^[ \t]*(?P<attribute>\[\[nodiscard\]\]\s*)?"
    r"(?:(?:static|inline|virtual|constexpr|consteval|friend|explicit|extern)\s+|template\s*<[^;{]*?>\s*)*"
    r"(?P<second>\[\[nodiscard\]\]\s*)?"
    r"(?:(?:static|inline|virtual|constexpr)\s+)*"
    r"(?:upf::)?Result<", re.MULTILINE)


def after_template_arguments(text, at):
    """The index behind the '>' that closes the '<' before `at`, or None."""
    depth = 1
    while at < len(text) and depth > 0:
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        at += 1
    return at if depth == 0 else None


def declarations(text):
    """(line, name, is nodiscard) of each function at the start of a line that returns a Result."""
    for start in START.finditer(text):
        end = after_template_arguments(text, start.end())
        name = NAME.match(text, end) if end else None
        if name is None:
            continue
        before = text[:start.start()].rstrip()
        nodiscard = bool(start["attribute"] or start["second"] or before.endswith("[[nodiscard]]"))
        yield text.count("\n", 0, start.end()) + 1, name[1], nodiscard


def main():
    files = [path for path in tracked(".hpp", ".cpp")
             if path.parts[0] in ("include", "src", "netlink", "tests")]
    found = [(path, *declaration) for path in files
             for declaration in declarations((ROOT / path).read_text())]
    declared = {name for path, _, name, nodiscard in found if nodiscard}
    problems = [
        f"{path}:{line}: {name}() returns a Result and is not [[nodiscard]]"
        for path, line, name, nodiscard in found
        # A definition in a .cpp repeats a declaration that has the attribute.
        if not nodiscard and not (path.suffix == ".cpp" and ("::" in name or name in declared))]
    return report(problems, "Write [[nodiscard]] before it.")


if __name__ == "__main__":
    sys.exit(main())
