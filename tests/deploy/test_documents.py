"""The pages of deploy/docs: each message of the program that wants something done is there, and what they refer to exists."""

import re

import pytest

# Where messages come from: of a start, of refused requests, of the data planes, of the API and of upfctl.
SOURCES = ["src/config/*.cpp", "src/app/*.cpp", "src/app/http/*.cpp", "src/app/ops/*.cpp", "src/app/ctl/*.cpp", "src/session/*.cpp",
           "src/rules/*.cpp", "src/control/*.cpp", "src/n4/*.cpp", "src/userplane/*.cpp", "netlink/*.cpp",
           "netlink/gtp5g/*.cpp"]
# Pages of their own: the keys, the help, the status page, the OpenAPI document, gtp5g-limits.md, what `upfctl session` shows of a rule.
NOT_SOURCES = {"src/config/schema.cpp", "src/config/describe.cpp", "src/app/arguments.cpp", "src/app/ops/page.cpp", "src/app/ops/openapi.cpp", "src/app/ops/pcapng.cpp",
               "src/app/log_line.cpp", "netlink/gtp5g/limits.cpp", "netlink/gtp5g/inspect.cpp", "src/userplane/inspect.cpp"}
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# What a refusal is made of: there one word is a message.
REFUSES = re.compile(r"\bCause::|\b(?:incorrect|unsupported|bad_rule|exhausted)\(")
# Good news, rows of tables (of commands, routes, columns), and what is written for programs.
NOT_MESSAGES = re.compile(
    r"Level::(?:Info|Debug)|log_?\.(?:info|debug)\(|^\s*%(l)s,\s*%(l)s,\s*%(l)s|\badd\(%(l)s|_upfctl|Exit codes:|"
    r'"table |"  *(?:chain|type)|saddr|maxseg|text/plain; v|"serving N4|is up, MTU|upfctl \[options\]|"ROUND TRIP|'
    r'Ctrl-C|more with --after|read back: |"first packet for|"threshold of|"no rule changes|'
    r'^\s*%(l)s,\s*(?:%(l)s|nullptr),?\s|no room for|PACKETS TO|"Error Indication: |"a framed route of|: waiting packets |: End Marker to|is no longer served' % {"l": LITERAL})


def normal(text):
    return " ".join(re.sub(r"[`'\"\\]", "", text).split())


def pieces(source):
    """A source cut at its ; and braces, without comments."""
    piece = ""
    for token in re.findall(rf"//[^\n]*|{LITERAL}|'(?:[^'\\]|\\.)'|#include[^\n]*|.", source, re.S):
        if token in ";{}":
            yield piece
            piece = ""
        elif not token.startswith(("//", "#include")):
            piece += token
    yield piece


def fragments(source):
    """The constant parts of a file's messages that are long enough to be found again."""
    for piece in pieces(source):
        if NOT_MESSAGES.search(piece) and "Level::Warning" not in piece:
            continue
        least = 1 if REFUSES.search(piece) else 3
        for run in re.findall(rf"{LITERAL}(?:\s*{LITERAL})*", piece):
            text = "".join(re.findall(LITERAL, run)).replace('""', "").replace("\\n", " ")
            for part in re.split(r"\{[^}]*\}", text):
                part = normal(part).strip(" :;,()")
                if len(re.findall(r"[A-Za-z]{2,}", part)) >= 1 and len(part.split()) >= least:
                    yield part


def sources(root):
    found = {str(file.relative_to(root)) for pattern in SOURCES for file in root.glob(pattern)}
    assert NOT_SOURCES < found
    return sorted(found - NOT_SOURCES)


def test_every_message_is_on_the_troubleshooting_page(root):
    page = normal((root / "deploy/docs/troubleshooting.md").read_text())
    absent = [f"{name}: {text}" for name in sources(root) for text in fragments((root / name).read_text())
              if text not in page]
    assert not absent, "say in deploy/docs/troubleshooting.md what to do about:\n" + "\n".join(absent)


@pytest.mark.parametrize("source, told", [
    ('failure("{} is on fire: call the fire brigade at once")', ["is on fire: call the fire brigade at once"]),
    ('return exhausted("flames");  // "of a comment that nobody sees"', ["flames"]),
    ('log(Level::Warning, "start", "the fire is " "\\"hot\\" as it seems")', ["the fire is hot as it seems"]),
    ('log(Level::Info, "start", "the fire is out at last"); {"sessions", "", "list all that there is"}', [])])
def test_a_message_that_is_missing_is_found_out(source, told):
    assert list(fragments(source)) == told


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
