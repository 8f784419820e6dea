import importlib
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def missing():
    """Says what a test needs and hasn't got: a skip, or a failure where nothing may be skipped."""

    def say(what):
        if os.environ.get("UPF_REQUIRE_NETNS"):
            pytest.fail(f"this must run here: it needs {what}")
        pytest.skip(f"{what} is missing")

    return say


@pytest.fixture(scope="session")
def module(missing):
    """A Python module by name."""

    def find(name, package):
        try:
            return importlib.import_module(name)
        except ImportError:
            missing(package)

    return find


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def built():
    """The path of a built program, by name."""

    def find(name):
        for folder in filter(None, (os.environ.get("KUPF_BUILD"), "build/release", "build/dev")):
            if (ROOT / folder / name).exists():
                return ROOT / folder / name
        pytest.skip(f"{name} is not built")

    return find


@pytest.fixture(scope="session")
def upf(built):
    """The built daemon, as a function of its arguments."""
    program = built("upf")
    return lambda *words: subprocess.run([program, *map(str, words)], capture_output=True, text=True)


@pytest.fixture
def check_config(upf, tmp_path):
    """Fails unless `upf --check` calls the configuration good, and has nothing to remark."""

    def check(text):
        file = tmp_path / "upfcfg.yaml"
        file.write_text(text)
        ran = upf("--check", "-c", file)
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        return ran.stdout

    return check
