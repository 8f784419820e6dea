#!/usr/bin/env python3
"""Writes every vector as an input of the fuzz target fuzz_message."""
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE.parent / "fuzz" / "corpus" / "fuzz_message"

CORPUS.mkdir(parents=True, exist_ok=True)
for file in sorted(HERE.glob("*.vec")):
    vectors = {}
    name = None
    for line in file.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == "vector":
            name = value
            vectors[name] = b""
        elif key == "hex":
            vectors[name] += bytes.fromhex(value)
    for name, octets in vectors.items():
        (CORPUS / name).write_bytes(octets)
