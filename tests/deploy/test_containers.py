"""The image, free5gc-compose's override, the Kubernetes manifest and the Helm chart."""

import re
import shutil
import socket
import subprocess
import threading

import pytest
import yaml


def stages(root):
    text = (root / "deploy/docker/Dockerfile").read_text().replace("\\\n", " ")
    return re.split(r"^FROM ", text, flags=re.M)[1:]


def test_the_image_has_no_compiler_and_runs_without_root(root):
    build, final = stages(root)
    assert "install-packages build" in build
    assert "install-packages run" in final and "install-packages build" not in final
    assert re.search(r"^USER \d+$", final, re.M), "Kubernetes' runAsNonRoot needs a number"
    assert "HEALTHCHECK" in final and 'ENTRYPOINT ["/usr/bin/upf"]' in final
    assert "a-s" in final, "setuid programs would be a way up"


def test_what_the_image_copies_is_there(root):
    for stage in stages(root):
        for source in re.findall(r"^COPY (?!--from)(\S+) ", stage, re.M):
            assert (root / source).exists(), source


def test_hadolint(root, missing):
    if shutil.which("hadolint") is None:
        missing("hadolint (PyPI)")
    subprocess.run(["hadolint", "-c", root / "deploy/docker/.hadolint.yaml", root / "deploy/docker/Dockerfile"],
                   check=True)


class Server(socket.socket):
    heartbeat = b""


@pytest.mark.parametrize("answer,code", [(bytes.fromhex("2002000c0000010000600004e0000000"), 0),
                                         (bytes.fromhex("2039000c0000010000600004e0000000"), 1)])
def test_the_health_check_asks_for_a_heartbeat(root, answer, code):
    server = Server(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.77", 8805))
    server.settimeout(10)

    def serve():
        server.heartbeat, sender = server.recvfrom(2048)
        server.sendto(answer, sender)

    thread = threading.Thread(target=serve)
    thread.start()
    ran = subprocess.run([root / "deploy/docker/healthcheck", "127.0.0.77"], capture_output=True, text=True)
    thread.join()
    server.close()
    # TS 29.244 7.4.2.1: type 1, with a Recovery Time Stamp.
    assert server.heartbeat[:4] == bytes.fromhex("2001000c") and server.heartbeat[8:12] == bytes.fromhex("00600004")
    assert ran.returncode == code, ran.stdout + ran.stderr


def test_the_health_check_says_when_nothing_answers(root):
    ran = subprocess.run([root / "deploy/docker/healthcheck", "127.0.0.78"], capture_output=True, text=True)
    assert ran.returncode == 1 and "unhealthy" in ran.stdout


LISTENER = """
import socket, subprocess, sys
at = socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET, socket.SOCK_DGRAM)
at.bind((sys.argv[2], 8805))
checked = subprocess.Popen([sys.argv[1]])
at.settimeout(10)
_, sender = at.recvfrom(2048)
at.sendto(bytes.fromhex("2002000c0000010000600004e0000000"), sender)
sys.exit(checked.wait())
"""


@pytest.mark.parametrize("bound,asked", [("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "127.0.0.1"), ("::", "::1"),
                                         ("2001:db8::a1:2", "2001:0db8:0000:0000:0000:0000:00a1:0002")])
def test_the_health_check_finds_where_n4_is(root, missing, bound, asked):
    """In a network of its own, where nothing else has the port."""
    network = ["unshare", "--net", "--map-root-user", "sh", "-ec"]
    if subprocess.run([*network, "ip link set lo up"], capture_output=True).returncode != 0:
        missing("a network namespace")
    ran = subprocess.run([*network, "ip link set lo up; ip addr add 192.0.2.1/32 dev lo\n"
                          "ip addr add 2001:db8::a1:2/128 dev lo nodad; exec python3 -c \"$0\" \"$@\"",
                          LISTENER, root / "deploy/docker/healthcheck", bound], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == f"healthy: N4 at {asked} answers\n", ran.stdout + ran.stderr


def test_the_compose_override_swaps_the_upf_only(root, check_config):
    override = yaml.safe_load((root / "deploy/docker/free5gc-compose.override.yaml").read_text())
    assert list(override["services"]) == ["free5gc-upf"], "free5gc-compose calls its UPF so"
    service = override["services"]["free5gc-upf"]
    assert service["cap_drop"] == ["ALL"] and service["cap_add"] == ["NET_ADMIN"]
    assert "privileged" not in service and service["devices"] == ["/dev/net/tun"]
    source, target, mode = service["volumes"][0].rsplit(":", 2)
    assert (root / source.split("}", 1)[1].lstrip("/")).exists() and mode == "ro"
    assert service["command"] == ["-c", target]
    config = (root / "deploy/docker/upfcfg-free5gc-compose.yaml").read_text()
    check_api(config)
    told = check_config(config)
    assert "pfcp.nodeID: upf.free5gc.org" in told, "the SMF of free5gc-compose knows it by that name"


def restricted(pod):
    """No privileged, no root, NET_ADMIN and the TUN device and nothing else."""
    container = pod["containers"][0]
    context = container["securityContext"]
    assert not context.get("privileged") and context["readOnlyRootFilesystem"]
    assert context["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 805
    assert "hostNetwork" not in pod and pod["automountServiceAccountToken"] is False
    assert [v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v] == ["/dev/net/tun"]
    assert container["livenessProbe"]["exec"]["command"] == ["kupf-healthcheck"]
    assert container["readinessProbe"]["exec"]["command"] == ["upfctl", "ready"]


def check_api(config):
    """upfctl finds the daemon where it looks without being told, in a folder that can be written."""
    assert yaml.safe_load(config)["api"]["socket"] == "/run/kupf/api.sock"


def test_the_manifest(root, check_config):
    objects = list(yaml.safe_load_all((root / "deploy/kubernetes/kupf.yaml").read_text()))
    kinds = {one["kind"]: one for one in objects}
    assert set(kinds) == {"ConfigMap", "Service", "Deployment"}
    check_config(kinds["ConfigMap"]["data"]["upfcfg.yaml"])
    check_api(kinds["ConfigMap"]["data"]["upfcfg.yaml"])
    pod = kinds["Deployment"]["spec"]["template"]
    restricted(pod["spec"])
    assert kinds["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert pod["spec"]["hostname"] == "upf", "addr: upf in the configuration is the pod's own"


def test_the_manifest_against_kubernetes_schemas(root, module):
    validate = module("kubernetes_validate", "kubernetes-validate (PyPI)")
    for one in yaml.safe_load_all((root / "deploy/kubernetes/kupf.yaml").read_text()):
        validate.validate(one, "1.30", strict=True)


CHART = "deploy/helm/kupf"


def values_files(root):
    files = sorted((root / CHART).glob("values*.yaml"))
    assert len(files) == 4
    return files


def test_the_charts_configurations_are_good(root, check_config):
    for file in values_files(root):
        config = yaml.safe_dump(yaml.safe_load(file.read_text())["config"])
        check_api(config)
        check_config(re.sub(r"\{\{[^}]*\}\}", "filled-in", config))


def test_the_charts_values_fit_its_schema(root, module):
    jsonschema = module("jsonschema", "python3-jsonschema")
    schema = yaml.safe_load((root / CHART / "values.schema.json").read_text())
    default = yaml.safe_load((root / CHART / "values.yaml").read_text())
    for file in values_files(root):
        jsonschema.validate({**default, **yaml.safe_load(file.read_text())}, schema)


def test_the_chart_is_restricted(root):
    values = yaml.safe_load((root / CHART / "values.yaml").read_text())
    assert values["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert values["podSecurityContext"]["runAsNonRoot"] and values["podSecurityContext"]["runAsUser"] == 805
    assert "privileged" not in (root / CHART / "templates/deployment.yaml").read_text()


def test_templates_are_balanced_and_use_values_that_exist(root):
    values = yaml.safe_load((root / CHART / "values.yaml").read_text())
    for file in (root / CHART / "templates").iterdir():
        text = file.read_text()
        opens = len(re.findall(r"\{\{-? *(?:if|range|with|define)\b", text))
        assert opens == len(re.findall(r"\{\{-? *end\b", text)), file.name
        for path in re.findall(r"\.Values((?:\.\w+)+)", text):
            node = values
            for key in path.strip(".").split("."):
                assert key in node, f"{file.name} uses .Values{path}"
                node = node[key]


@pytest.fixture(scope="module")
def helm(module):
    return module("helm_python", "helm-python-sdk (PyPI)")


def test_helm_lints_the_chart(root, helm):
    for file in values_files(root):
        found = helm.lint(root / CHART, yaml.safe_load(file.read_text()), strict=True)
        # 1: information, such as that an icon is recommended.
        assert not found["errors"] and all(message["severity"] <= 1 for message in found["messages"]), found


def test_helm_renders_what_kubernetes_takes(root, helm, module, check_config):
    validate = module("kubernetes_validate", "kubernetes-validate (PyPI)")
    for file in values_files(root):
        with helm.Chart.load(root / CHART) as chart:
            made = chart.render(yaml.safe_load(file.read_text()), name="upf", namespace="core")
        objects = [one for name, text in made.items() if name.endswith(".yaml") for one in yaml.safe_load_all(text) if one]
        for one in objects:
            if not one["apiVersion"].startswith("k8s.cni.cncf.io/"):  # Multus', which Kubernetes has no schema of
                validate.validate(one, "1.30", strict=True)
        kinds = {one["kind"]: one for one in objects}
        assert {"ConfigMap", "Service"} <= set(kinds), file.name
        workload = kinds.get("Deployment") or kinds["StatefulSet"]
        restricted(workload["spec"]["template"]["spec"])
        check_config(kinds["ConfigMap"]["data"]["upfcfg.yaml"])
