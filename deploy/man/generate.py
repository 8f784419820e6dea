#!/usr/bin/python3
"""Writes upfcfg.yaml.5 from configs/README.md, which the program's own schema is tested against.

  deploy/man/generate.py          writes the page
  deploy/man/generate.py --check  fails, and says what to do, if the page isn't what it would write
"""

import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = HERE / "upfcfg.yaml.5"

HEAD = r""".\" Written by deploy/man/generate.py from configs/README.md. Edit that, not this.
.Dd November 30, 2026
.Dt UPFCFG.YAML 5
.Os
.Sh NAME
.Nm upfcfg.yaml
.Nd configuration of the 5G User Plane Function kupf
.Sh DESCRIPTION
.Xr upf 8
reads its configuration from one YAML file: the one given with
.Fl c ,
or
.Pa ./config/upfcfg.yaml ,
or
.Pa /etc/kupf/upfcfg.yaml .
It is the format of free5GC's go-upf with keys added;
go-upf's own files are read unchanged.
.Pp
Unknown keys and keys given twice are errors.
.Ql upf --check -c FILE
reads a file and names everything that is wrong with it, with line and column,
or prints what it amounts to.
"""

TAIL = r""".Sh FILES
.Bl -tag -width Ds
.It Pa /etc/kupf/upfcfg.yaml
What the packaged service reads.
.It Pa /usr/share/doc/kupf/examples
Samples: free5GC over gtp5g, Open5GS, forwarding in user space.
.El
.Sh SEE ALSO
.Xr upf 8
"""


def section(text, title):
    """The lines below a heading of the README, up to the next one."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert match, f"configs/README.md has no section '{title}'"
    return match.group(1)


def roff(text):
    """Markdown's inline marks to roff's fonts."""
    text = text.replace("\\", r"\e").replace("–", r"\(en")
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    text = re.sub(r"\*\(([^)*]+)\)\*", r"(\1)", text)
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)


def lines(text):
    """One sentence a line, as mandoc asks for; a line that would read as a request is guarded."""
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z\"])", roff(text.strip())):
        for line in textwrap.wrap(sentence, 78, break_on_hyphens=False, break_long_words=False):
            yield r"\&" + line if line[0] in ".'" else line


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def key_entry(row):
    """One row of the table as an item of the list."""
    yield f".It Sy {row['key'].strip('*').strip('`')}"
    yield from lines(row["meaning"])
    if row["may be"]:
        yield from lines(f"May be: {row['may be']}.")
    if "required" in row["default"]:
        yield "Required."
    elif row["default"] not in ("", "–"):
        yield from lines(f"Default: {row['default']}.")
    if row.get("known to") == "kupf":
        yield "Not known to go-upf."


def keys(table, least):
    head, _, *rows = [cells(line) for line in table.splitlines() if line.startswith("|")]
    assert len(rows) >= least, "the table of keys is short"
    yield ".Bl -tag -width Ds"
    for row in rows:
        assert len(row) == len(head), row
        yield from key_entry(dict(zip(head, row)))
    yield ".El"


def items(text):
    """A Markdown list as mdoc's."""
    yield ".Bl -bullet"
    for item in re.findall(r"^- (.*(?:\n  .*)*)", text, re.M):
        yield ".It"
        yield from lines(re.sub(r"\s+", " ", item))
    yield ".El"


def page():
    text = (ROOT / "configs" / "README.md").read_text()
    table = section(text, "Keys")
    rules = section(text, "The rules file")
    body = [".Sh VALUES", *items(section(text, "Values")), ".Sh KEYS"]
    body += lines("(reload) marks what SIGHUP applies without touching sessions, and so are data networks that are "
                  "added behind those of dnnList; the rest needs a restart, and a reload says so.")
    body += keys(table, 40)
    body += [".Sh WHO CAN LOOK", *items(section(text, "Who can look"))]
    before, after = re.split(r"^\|.*^\|[^\n]*\n", rules, flags=re.M | re.S)
    body += [".Sh THE RULES FILE", *lines(re.sub(r"\s+", " ", before)), *keys(rules, 6)]
    body += [*lines(re.sub(r"\s+", " ", after.split("- ")[0])), *items(after)]
    body += [".Sh DIFFERENCES FROM GO-UPF", *items(section(text, "What differs from go-upf"))]
    return HEAD + "\n".join(body) + "\n" + TAIL


def main():
    wanted = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.exists() and PAGE.read_text() == wanted:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is not what configs/README.md says: run deploy/man/generate.py")
        return 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
