#!/usr/bin/python3
"""Adds up what tests/run left in its results folder, and says it in a form that a person reads.

    tests/summary.py RESULTS_FOLDER SECONDS

Counts gtest's XML case by case, JUnit XML of ctest and pytest, and the notes of tests/run and of other
runners. A skip is named with its reason. The last line is `N passed, N failed, N skipped`.
"""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

Case = collections.namedtuple("Case", "part state name why")


def state_of(element):
    """(state, reason) of a <testcase> of gtest, ctest or pytest."""
    for child in element:
        if child.tag in ("failure", "error"):
            return "failed", child.get("message") or (child.text or "").strip()
    skipped = element.find("skipped")
    if skipped is not None or element.get("status") in ("notrun", "disabled"):
        return "skipped", "" if skipped is None else skipped.get("message") or ""
    return ("failed", "") if element.get("status") == "fail" else ("passed", "")


def cases_of_xml(part, path, prefix=""):
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError:
        return [Case(part, "failed", prefix + path.name, "its results are cut off: the program died")]
    cases = []
    for element in root.iter("testcase"):
        group = element.get("classname") or ""
        name = element.get("name") or "?"
        if group not in ("", name):
            name = f"{group}.{name}"
        cases.append(Case(part, *state_of(element)[:1], prefix + name, state_of(element)[1]))
    return cases


def cases_of_ctest(part, folder):
    """A ctest test that is a gtest program counts by its cases, any other one as itself."""
    if not (folder / "ctest.xml").exists():
        return [Case(part, "failed", "ctest", "it did not run")]
    commands = {test["name"]: test.get("command", [""])
                for test in json.loads((folder / "tests.json").read_text() or '{"tests": []}')["tests"]}
    cases = []
    for test in cases_of_xml(part, folder / "ctest.xml"):
        program = pathlib.Path(commands.get(test.name, [""])[0] or "").name
        files = sorted((folder / "gtest").glob(f"{program}*.xml")) if program else []
        inner = [case for path in files for case in cases_of_xml(part, path, f"{program}: ")]
        for path in files:
            path.unlink()
        cases += inner
        if not inner or (test.state == "failed" and all(case.state != "failed" for case in inner)):
            cases.append(test)
    return cases


def cases_of_notes(path):
    for line in path.read_text().splitlines():
        part, state, name = line.split("\t", 2)
        yield Case(part, state, name, "")


def collect(results):
    cases = []
    for path in sorted(results.rglob("notes.tsv")):
        cases += cases_of_notes(path)
    for folder in sorted(path.parent for path in results.glob("*/tests.json")):
        cases += cases_of_ctest(folder.name, folder)
    for path in sorted(results.glob("*.xml")):
        cases += cases_of_xml(path.stem, path)
    for path in sorted(results.glob("*/*.xml")):
        if path.name != "ctest.xml":
            cases += cases_of_xml(path.parent.name, path)
    for path in sorted(results.glob("*/failed")):
        if all(case.state != "failed" for case in cases if case.part == path.parent.name):
            cases.append(Case(path.parent.name, "failed", f"tests/{path.parent.name}/run",
                              "it ended with an error"))
    return cases


def main():
    cases = collect(pathlib.Path(sys.argv[1]))
    minutes, seconds = divmod(int(sys.argv[2]), 60)
    count = collections.Counter(case.state for case in cases)

    print(f"\n{'part':<10}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for part in dict.fromkeys(case.part for case in cases):
        of = collections.Counter(case.state for case in cases if case.part == part)
        print(f"{part:<10}{of['passed']:>8}{of['failed']:>8}{of['skipped']:>8}")
    for state in ("skipped", "failed"):
        if count[state]:
            print(f"\n{state}:")
        for case in cases:
            if case.state == state:
                why = " ".join(case.why.split())[:160]
                print(f"  {case.part}: {case.name}" + (f" ({why})" if why else ""))
    print(f"\n{minutes} min {seconds} s")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
