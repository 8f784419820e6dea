#!/usr/bin/python3
"""lint.layers: no include goes against the arrows of the module map (README.md).

MAY_INCLUDE holds the arrows as drawn; what is reachable over them may be included too. PURE modules
decide and never do: no socket, thread, clock or log in them. PRIVATE_TO says which module alone talks
to a library, so that it can be exchanged in one place.
"""

import re
import sys

from source_files import ROOT, report, tracked

MAY_INCLUDE = {
    "base": [],
    "wire": ["base"],
    "pfcp": ["wire"],
    "rules": ["base"],
    "dataplane": ["rules"],
    "n4": ["pfcp"],
    "session": ["pfcp", "rules"],
    "usage": ["rules", "dataplane"],
    "control": ["n4", "session", "usage", "dataplane"],
    "netlink": ["dataplane", "rules", "wire"],
    "userplane": ["dataplane", "rules", "wire"],
    "config": ["base", "rules"],
    "runtime": ["base"],
    "app": ["runtime", "config", "control", "netlink", "userplane"],
    "main": ["app"],
}
PURE = {"pfcp", "rules", "dataplane", "n4", "session", "usage", "control"}
EFFECTS = re.compile(
    r"<(sys/|netinet/|arpa/|net/|linux/|unistd\.h|fcntl\.h|poll\.h|thread>|mutex>|iostream>|fstream>|"
    r"condition_variable>|future>|spdlog/)")
CLOCK = re.compile(r"\b(steady_clock|system_clock|Clock)::now\(")
PRIVATE_TO = {
    "spdlog/": {"app"},
    "nlohmann/": {"app"},
    "httplib.h": {"app"},
    "boost/": {"app"},
    "yaml-cpp/": {"config"},
    "systemd/": {"runtime", "app"},
    "libmnl/": {"netlink"},
    "netlink/": {"netlink", "userplane"},  # libnl-route's headers, with angle brackets
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(module):
    found, queue = {module}, [module]
    while queue:
        for other in MAY_INCLUDE[queue.pop()]:
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def module_of_file(path):
    parts = path.parts
    if parts[0] == "netlink":
        return "netlink"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ("include", "upf") and len(parts) > 3:
        return parts[2]
    return None


def module_of_include(text, path):
    parts = text.split("/")
    if text.startswith("upf/") and len(parts) > 2:
        return parts[1]
    if text.startswith("src/") and len(parts) > 2:
        return parts[1]
    if parts[0] == "netlink":
        return "netlink"
    if parts[0] == "tests":
        return "tests"
    if (ROOT / path.parent / text).resolve().is_relative_to(ROOT):
        return module_of_file((ROOT / path.parent / text).resolve().relative_to(ROOT))
    return None


def problems_of_include(path, module, allowed, quote, target):
    if quote == '"':
        other = module_of_include(target, path)
        if other == "tests":
            yield f"{module} includes a test's header, {target}"
        elif other is not None and other not in allowed:
            yield f"{module} may not include {other} ({target})"
        return
    for prefix, owners in PRIVATE_TO.items():
        if target.startswith(prefix) and module not in owners:
            yield f"<{target}> is for {' and '.join(sorted(owners))} only, not for {module}"
    if module in PURE and EFFECTS.match(f"<{target}>"):
        yield f"{module} is pure: it may not include <{target}>"


def problems_of_file(path):
    module = module_of_file(path)
    if module is None:
        return
    if module not in MAY_INCLUDE:
        yield f"{path}: module '{module}' has no row in tests/lint/layers.py"
        return
    allowed = reachable(module)
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            for problem in problems_of_include(path, module, allowed, *include.groups()):
                yield f"{path}:{number}: {problem}"
        elif module in PURE and CLOCK.search(line):
            yield f"{path}:{number}: {module} is pure: it is handed the time, it reads no clock"


def main():
    files = [path for path in tracked(".hpp", ".cpp", ".def")
             if path.parts[0] in ("include", "src", "netlink")]
    assert files, "found no source file"
    return report([problem for path in files for problem in problems_of_file(path)],
                  "The arrows are in MAY_INCLUDE of tests/lint/layers.py and in README.md.")


if __name__ == "__main__":
    sys.exit(main())
