"""The files that the lint tests look at: what git tracks, or would track."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*suffixes):
    """Paths relative to ROOT; all of them when no suffix is given."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--others",
         "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:  # a source archive: no git
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if "build" not in path.relative_to(ROOT).parts[:1]]
    paths = (pathlib.Path(name) for name in sorted(set(names)))
    return [path for path in paths
            if (ROOT / path).is_file() and (not suffixes or path.suffix in suffixes)]


def report(problems, rule):
    """Prints the problems and the rule that they break; the exit code of the test."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"\n{len(problems)} problem(s). {rule}")
    return 1 if problems else 0
