"""A throw-away copy of this machine, its differences to the original, and commands inside."""

import os
import pathlib
import subprocess

# What every installation and removal of any package changes: dpkg's own books, backups of the
# user files, caches.
BOOKS = ("var/lib/dpkg/", "var/log/", "var/cache/", "etc/ld.so.cache", "etc/.pwd.lock", "root/", "tmp/",
         "var/lib/systemd/", "etc/passwd-", "etc/shadow-", "etc/group-", "etc/gshadow-")
USERS = ("etc/passwd", "etc/shadow", "etc/group", "etc/gshadow", "etc/subuid", "etc/subgid")


class Machine:
    """An overlay of `base` with its own /proc, /run and /tmp; the caller is in namespaces of its own."""

    def __init__(self, work, base=pathlib.Path("/")):
        self.base = base
        self.upper = work / "disk" / "upper"
        self.root = work / "root"
        self.root.mkdir(exist_ok=True)
        (work / "disk").mkdir(exist_ok=True)
        mount("-t", "tmpfs", "kupf-install", work / "disk")
        (work / "disk" / "w").mkdir()
        self.upper.mkdir()
        mount("-t", "overlay", "-o", f"lowerdir={base},upperdir={self.upper},workdir={work}/disk/w", "overlay",
              self.root)
        mount("-t", "proc", "proc", self.root / "proc")
        mount("--rbind", "/dev", self.root / "dev")
        for folder in ("run", "tmp"):
            mount("-t", "tmpfs", "tmpfs", self.root / folder)
        os.chmod(self.root / "tmp", 0o1777)

    def run(self, *command, check=True, **options):
        return subprocess.run(["chroot", self.root, *command], text=True, check=check,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
                              **options)

    def start(self, *command, **options):
        return subprocess.Popen(["chroot", self.root, *command], text=True, **options)

    def changed(self):
        """Files that differ from the original machine, apart from dpkg's books."""
        found = []
        for path in sorted(self.upper.rglob("*")):
            name = str(path.relative_to(self.upper))
            if path.is_dir() and not path.is_symlink():
                if not (self.base / name).is_dir():
                    found.append(name + "/")
            elif name in USERS:
                if path.read_bytes() != (self.base / name).read_bytes():
                    found.append(name)
            elif not name.startswith(BOOKS):
                found.append(name)
        return [name for name in found if not name.startswith(BOOKS)]


def environment():
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)
