"""Other people's PFCP libraries against the daemon: free5GC's own (the one its SMF uses) and go-pfcp.

The programs are in tests/interop and print one line a step. scapy, the third library, is what n4.py and
so most of the other tests here are written with; test_zz_capture.py reads all of it with tshark.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

import net

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "interop"


def needs(what):
    if os.environ.get("CI"):
        pytest.fail(f"CI must run this: it needs {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session", params=["free5gc-pfcp", "go-pfcp"])
def peer_program(request, tmp_path_factory):
    """The program, built with the Go that is there."""
    if shutil.which("go") is None:
        needs("Go 1.21 or newer")
    program = tmp_path_factory.mktemp("interop") / request.param
    built = subprocess.run(["go", "build", "-p", "1", "-o", program, f"./{request.param}"], cwd=SOURCES,
                           capture_output=True, text=True)
    if built.returncode != 0:
        needs(f"to build {request.param}: {built.stderr.strip()[-300:]}")
    return program


def test_library_drives_a_session(upf, topology, plane, peer_program):
    # gtp5g counts what is behind the inner IP header, the user-space plane the T-PDU.
    counted = [] if plane == "userspace" or peer_program.name != "free5gc-pfcp" else ["-echo-octets", "64"]
    done = topology.ran.popen(
        peer_program, "-smf", net.SMF3, "-upf", net.UPF, "-gnb1", net.GNB1, "-gnb2", net.GNB2, "-ue", net.UE1,
        "-host", net.DN, *counted, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = done.communicate(timeout=120)
    print(output)
    assert done.returncode == 0, f"{output}\n--- the daemon ---\n{upf.log()[-4000:]}"
    assert "failed:" not in output
    assert output.count("passed:") >= 15
