"""The manual pages: well formed, and what they say of options is so."""

import re
import shutil
import subprocess

import pytest


def pages(root):
    found = sorted((root / "deploy/man").glob("*.[1-8]"))
    assert len(found) >= 2
    return found


def test_the_configurations_page_is_what_the_readme_says(root):
    ran = subprocess.run([root / "deploy/man/generate.py", "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_mandoc_has_nothing_to_say(root, missing):
    if shutil.which("mandoc") is None:
        missing("mandoc (package mandoc)")
    said = subprocess.run(["mandoc", "-Tlint", *pages(root)], capture_output=True, text=True).stdout
    # Whether other manuals are installed here is not the page's affair.
    wrong = [line for line in said.splitlines() if "referenced manual not found" not in line
             and "outdated mandoc.db" not in line]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("program", ["upf"])
def test_options_and_manual_agree(root, upf, program):
    told = set(re.findall(r"--([a-z]+)", upf("--help").stdout))
    written = set(re.findall(r"Fl -([a-z]+)", (root / f"deploy/man/{program}.8").read_text()))
    assert told == written


def test_exit_codes_are_the_manuals(root, upf):
    manual = (root / "deploy/man/upf.8").read_text()
    assert re.search(r"^\.It 0\n", manual, re.M) and upf("--version").returncode == 0
    assert re.search(r"^\.It 2\n", manual, re.M) and upf("--nonsense").returncode == 2
    assert upf("-c", "/nonexistent").returncode == 2


def test_upfctls_commands_and_manual_agree(root, built):
    program = built("upfctl")
    told = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    assert max(map(len, told.splitlines())) <= 80
    commands = re.findall(r"^  ([a-z]+)", told.split("Commands\n")[1].split("Options")[0], re.M)
    manual = (root / "deploy/man/upfctl.1").read_text()
    assert len(commands) >= 15 and set(commands) == set(re.findall(r"^\.It Cm ([a-z]+)", manual, re.M))
    assert "--version" in told and subprocess.run([program, "--version"], capture_output=True, text=True).stdout.startswith("upfctl ")
    assert set(re.findall(r"--([a-z]+)", told)) == set(re.findall(r"Fl -([a-z]+)", manual)) | {"write"}


@pytest.mark.parametrize("line, offered", [
    ("upfctl dr", {"drop", "drain"}), ("upfctl drain ", {"on", "stay", "off"}), ("upfctl -o ", {"table", "json", "yaml"}),
    ("upfctl -s /run/x sessions --", {"--ue", "--seid", "--dnn", "--peer", "--teid", "--limit", "--after", "--server",
                                      "--output", "--help", "--version"}),
    ("upfctl sessions --limit ", set()), ("upfctl session ", set()), ("upfctl check CMakeL", {"CMakeLists.txt"}),
    ("upfctl capture 10.60.0.1 -w CMakeL", {"CMakeLists.txt"}),
    ("upfctl audit --r", {"--repair"}), ("upfctl log w", {"warn"}), ("upfctl completion ", {"bash"})])
def test_completion_offers_what_the_program_takes(root, built, line, offered):
    words = line.split(" ")
    script = f"""source <({built("upfctl")} completion bash)
    COMP_WORDS=({" ".join(word or "''" for word in words)}) COMP_CWORD={len(words) - 1}
    _upfctl; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert set(done.stdout.split()) == offered, done.stderr
