"""The package on the least that is Debian, with what its Depends say and nothing else: WORK PACKAGE.

tests/install/run runs it in mount and process namespaces of its own.
"""

import pathlib
import shutil
import subprocess
import sys

import notes
from life import clean
from machine import Machine, environment, mount

WHAT = "on a minimal Debian"


def release():
    """This machine's: the package is linked with its libraries."""
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def check(work, base, package):
    depends = run("dpkg-deb", "--field", package, "Depends", check=True).stdout.strip()
    run("chroot", base, "apt-get", "satisfy", "-qq", "--no-install-recommends", depends, check=True, env=environment())
    machine = Machine(work, base)
    shutil.copy(package, machine.root / "tmp/kupf.deb")
    use(machine.run)
    assert not machine.changed(), f"left behind: {machine.changed()}"
    return len(machine.run("dpkg-query", "-f", ".", "-W").stdout)


def use(run):
    """From installation to purge, with `run` on the minimal machine."""
    clean(run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i")
    assert run("upf", "--version").stdout.startswith("upf ")
    assert "good" in run("upf", "--check", "-c", "/etc/kupf/upfcfg.yaml").stdout
    assert "upfctl [options] COMMAND" in run("upfctl", "--help").stdout
    alone = run("upfctl", "status", check=False)
    assert alone.returncode == 3 and "nobody answers" in alone.stdout, alone.stdout
    for program in ("upf", "upfctl"):
        assert "not found" not in run("ldd", f"/usr/bin/{program}").stdout
    clean(run("dpkg", "-P", "kupf").stdout, "dpkg -P")


def main():
    work, package = map(pathlib.Path, sys.argv[1:])
    base = work / "minimal"
    base.mkdir()
    mount("-t", "tmpfs", "kupf-minimal", base)
    made = run("debootstrap", "--variant=minbase", release(), base)
    if made.returncode != 0:
        print(made.stdout[-1000:])
        return notes.missing(f"{WHAT}: debootstrap got none: does this machine reach Debian's packages?")
    try:
        packages = check(work, base, package)
    except (AssertionError, subprocess.CalledProcessError) as wrong:
        print(getattr(wrong, "stdout", ""), wrong)
        notes.note("failed", f"installed, run and purged {WHAT}")
        return 1
    notes.note("passed", f"installed, run and purged {WHAT} of {packages} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
