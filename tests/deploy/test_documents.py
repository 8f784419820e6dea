"""The pages of deploy/docs: each start-up message of the program is there, and what they refer to exists."""

import re

import pytest

# Where the messages of a start come from.
SOURCES = ["src/config/check.cpp", "src/config/load.cpp", "src/config/kinds.cpp",
           "src/app/run.cpp", "src/app/daemon.cpp", "src/app/host.cpp", "src/app/planes.cpp", "src/app/netfilter.cpp",
           "src/app/network_routes.cpp",
           "src/app/log.cpp", "src/app/reload.cpp", "src/app/http/server.cpp", "src/app/http/client.cpp",
           "src/app/ops/packet_tap.cpp", "netlink/gtp5g/startup.cpp", "netlink/gtp5g/version.cpp",
           "netlink/gtp5g/linux_host.cpp", "netlink/gtp5g/safe_socket.cpp", "src/userplane/user_plane.cpp",
           "src/userplane/gtpu_socket.cpp", "src/userplane/tun.cpp"]
LITERALS = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'
# Not for people, or said on the way out.
NOT_MESSAGES = re.compile(r"^table |chain |saddr|maxseg|^upf: stopping|^datagrams that|^serving N4|more lines like|type nat|type filter")


def normal(text):
    return " ".join(re.sub(r"[`'\"\\]", "", text).split())


def fragments(source):
    """The constant parts of a file's texts that are long enough to be found again."""
    source = re.sub(r"//[^\n]*", "", source)
    for run in re.findall(LITERALS, source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run))
        if NOT_MESSAGES.search(text):
            continue
        for part in re.split(r"\{[^}]*\}", text):
            part = normal(part)
            if len(part.split()) >= 4:
                yield part


@pytest.mark.parametrize("name", SOURCES)
def test_every_message_of_a_start_is_on_the_troubleshooting_page(root, name):
    page = normal((root / "deploy/docs/troubleshooting.md").read_text())
    absent = [text for text in fragments((root / name).read_text()) if text.strip(" :;,()") not in page]
    assert not absent, "say in deploy/docs/troubleshooting.md what to do about:\n" + "\n".join(absent)


def test_the_page_is_found_out_when_a_message_is_missing():
    assert list(fragments('failure("{} is on fire: call the fire brigade at once")')) == [
        "is on fire: call the fire brigade at once"]


# cases.md 83: what it carries, and how to measure it elsewhere
def test_the_capacity_page_says_what_packets_and_requests_cost(root):
    page = (root / "deploy/docs/capacity.md").read_text()
    for part in ("## Signalling", "## Memory", "## Packets", "## Measure on your own machine", "tests/bench/userplane --rounds"):
        assert part in page


def test_files_that_the_pages_name_exist(root):
    pages = sorted((root / "deploy/docs").glob("*.md")) + [root / "README.md"]
    assert len(pages) >= 4
    for page in pages:
        for name in re.findall(r"\b((?:deploy|configs|netlink|tests)/[\w./*-]*\w)", page.read_text()):
            assert list(root.glob(name)) or "*" in name, f"{page.name} names {name}"


def test_keys_that_the_pages_name_exist(root):
    known = (root / "configs/README.md").read_text()
    for page in sorted((root / "deploy/docs").glob("*.md")):
        for key in re.findall(r"`((?:pfcp|gtpu|dnnList|logger|metrics|api)(?:\[\])?\.[\w.\[\]]+)`", page.read_text()):
            others = ("pfcp.client", "pfcp.server", "gtpu.server")  # of Open5GS's files
            assert f"`{key}`" in known or key.startswith(others), f"{page.name}: {key}"


def test_every_cause_that_a_request_is_refused_with_is_on_the_troubleshooting_page(root):
    causes = dict(re.findall(r"^  (\w+) = (\d+),", (root / "include/upf/pfcp/cause.hpp").read_text(), re.M))
    # Of reports and of answers that came, not of ours; PFCP Session Restoration Failure is a request's own cause.
    not_ours = {"RedirectionRequested", "PfcpSessionRestorationFailure"}
    used = set()
    for folder in ("src/session", "src/control", "src/n4", "include/upf/session", "include/upf/control"):
        for file in [*(root / folder).glob("*.cpp"), *(root / folder).glob("*.hpp")]:
            used |= set(re.findall(r"\bCause::(\w+)", file.read_text()))
    used |= {"InvalidLength", "MandatoryIeMissing", "MandatoryIeIncorrect"}  # of decoding: src/pfcp/engine.cpp
    refusing = {name for name in used & set(causes) if int(causes[name]) >= 64} - not_ours
    assert len(refusing) >= 12
    page = (root / "deploy/docs/troubleshooting.md").read_text()
    absent = sorted(name for name in refusing if not re.search(rf"\| (?:[^|]*, )?{causes[name]} [A-Z]", page))
    assert not absent, f"say in deploy/docs/troubleshooting.md what to do about {absent}"
