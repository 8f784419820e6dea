"""The dashboard and the alerts, by Prometheus's own tool."""

import json
import re
import shutil
import subprocess

import pytest

FOLDER = "deploy/monitoring"


@pytest.fixture
def promtool(root, missing):
    if shutil.which("promtool") is None:
        missing("promtool (package prometheus)")
    return lambda *words: subprocess.run(["promtool", *words], cwd=root / FOLDER, capture_output=True, text=True)


def test_the_alert_rules_are_well_formed(promtool):
    checked = promtool("check", "rules", "alerts.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "SUCCESS" in checked.stdout


def test_the_alerts_fire_when_they_should_and_only_then(promtool):
    ran = promtool("test", "rules", "alerts_test.yaml")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_a_test(root):
    names = re.findall(r"- alert: (\w+)", (root / FOLDER / "alerts.yaml").read_text())
    tests = (root / FOLDER / "alerts_test.yaml").read_text()
    assert len(names) >= 9
    for name in names:
        assert f"alertname: {name}" in tests, f"{name} has no test"


def test_the_dashboards_queries_parse(root, promtool, tmp_path):
    """As rules, which promtool parses."""
    board = json.loads((root / FOLDER / "dashboard.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(queries) >= 15
    rules = [{"record": f"panel:{number}", "expr": query.replace("$__rate_interval", "5m").replace("$instance", ".*")}
             for number, query in enumerate(queries)]
    file = tmp_path / "rules.yaml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    checked = promtool("check", "rules", file)
    assert checked.returncode == 0, checked.stderr
