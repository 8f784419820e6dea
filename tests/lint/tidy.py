#!/usr/bin/python3
"""lint.tidy: clang-tidy 16 (14 cannot read all of GCC 12's library) with the short list of .clang-tidy over src and netlink.

    tests/lint/tidy.py BUILD_FOLDER [FILE...]

BUILD_FOLDER holds compile_commands.json. Two files at a time, the longest first.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from source_files import ROOT


def files_of(build):
    commands = json.loads((build / "compile_commands.json").read_text())
    paths = {pathlib.Path(command["file"]) for command in commands}
    ours = [path for path in paths if path.is_relative_to(ROOT) and path.is_file()
            and path.relative_to(ROOT).parts[0] in ("src", "netlink")]
    return sorted(ours, key=lambda path: -path.stat().st_size)


def tidy(build, path):
    # GCC's own warning options are unknown to clang: not what is looked for here.
    run = subprocess.run(
        ["clang-tidy-16", "--quiet", "-p", str(build), "--extra-arg=-Wno-unknown-warning-option", str(path)],
        cwd=ROOT, capture_output=True, text=True)
    return run.returncode, run.stdout + (run.stderr if run.returncode and not run.stdout else "")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    files = [pathlib.Path(name).resolve() for name in sys.argv[2:]] or files_of(build)
    assert files, "found no file to check"
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, output in pool.map(lambda path: tidy(build, path), files):
            if code:
                failed += 1
                print(output.strip())
    print(f"{len(files)} files checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
