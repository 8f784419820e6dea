"""Last: everything that went over N4 in this run, read by Wireshark's dissector."""

import subprocess

import net


def tshark(capture, display_filter, *fields):
    command = ["tshark", "-n", "-r", str(capture), "-Y", display_filter, "-T", "fields"]
    for field in ("frame.number", "ip.src", "pfcp.msg_type", *fields):
        command += ["-e", field]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_everything_we_sent_is_well_formed(capture):
    ours = f"ip.src == {net.UPF} && pfcp"
    assert tshark(capture, ours), "the capture is empty"
    # Severity of warnings and errors; notes and chats are Wireshark's remarks on retransmissions.
    bad = tshark(capture, f"{ours} && (_ws.malformed || _ws.expert.severity >= 6291456)", "_ws.expert.message")
    assert bad == []
