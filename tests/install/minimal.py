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


def make(base, package):
    """A root folder with the packages that dpkg calls required, and those that PACKAGE depends on."""
    ran = subprocess.run(["debootstrap", "--variant=minbase", release(), base], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        return ran.stdout[-1000:]
    depends = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, stdout=subprocess.PIPE, text=True)
    ran = subprocess.run(["chroot", base, "apt-get", "satisfy", "-qq", "--no-install-recommends", depends.stdout.strip()],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), text=True)
    return ran.stdout[-1000:] if ran.returncode != 0 else None


def check(machine):
    run = machine.run
    clean(run("dpkg", "-i", "/tmp/kupf.deb").stdout, "dpkg -i")
    assert run("upf", "--version").stdout.startswith("upf ")
    assert "good" in run("upf", "--check", "-c", "/etc/kupf/upfcfg.yaml").stdout
    assert "upfctl [options] COMMAND" in run("upfctl", "--help").stdout
    alone = run("upfctl", "status", check=False)
    assert alone.returncode == 3 and "nobody answers" in alone.stdout, alone.stdout
    for program in ("upf", "upfctl"):
        assert "not found" not in run("ldd", f"/usr/bin/{program}").stdout
    clean(run("dpkg", "-P", "kupf").stdout, "dpkg -P")
    assert not machine.changed(), f"left behind: {machine.changed()}"


def main():
    work, package = map(pathlib.Path, sys.argv[1:])
    base = work / "minimal"
    base.mkdir()
    mount("-t", "tmpfs", "kupf-minimal", base)
    fault = make(base, package)
    if fault is not None:
        print(fault)
        return notes.missing(f"{WHAT}: debootstrap got none: does this machine reach Debian's packages?")
    machine = Machine(work, base)
    shutil.copy(package, machine.root / "tmp/kupf.deb")
    check(machine)
    installed = machine.run("dpkg-query", "-f", ".", "-W").stdout
    notes.note("passed", f"installed, run and purged {WHAT} of {len(installed)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
