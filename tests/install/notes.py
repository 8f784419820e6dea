"""Results, as tests/run counts them."""

import os
import pathlib


def missing(why):
    """This can't be done here: a skip, or a failure where nothing may be skipped. The exit code."""
    required = os.environ.get("UPF_REQUIRE_NETNS") == "1"
    note("failed" if required else "skipped", f"install: {why}")
    return 1 if required else 0


def note(state, text):
    print(f"{state}: {text}", flush=True)
    folder = os.environ.get("KUPF_RESULTS")
    if folder:
        with open(pathlib.Path(folder) / "notes.tsv", "a") as lines:
            lines.write(f"install\t{state}\t{text}\n")
