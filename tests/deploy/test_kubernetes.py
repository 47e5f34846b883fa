"""deploy/kubernetes: what its overlays render is valid, names what the code has, and runs what compose.yaml runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import promql_parser
import pytest
import yaml

from services.bootstrap import composition
from services.cli import SERVICES
from services.cli.operating.keys import KEY_FILES, write_users
from services.metrics.declared import DECLARED, LOOP_SILENCE
from services.runtime.settings import Settings, read_settings
from services.runtime.worker_loop import LoopRounds
from tests.deploy.compose import GIVEN, ROOT, free_port, read_compose
from tests.deploy.test_compose import to_bytes

Json = dict[str, Any]
FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("single", "cluster")
VERSIONS = ("1.29", "1.37")  # of Kubernetes: the oldest that is supported somewhere, and the latest
BY_HAND = {"public.key", "jobs.url"}  # files of secrets that docs/how-to/kubernetes.md has one write
UNITS = {"Mi": 1 << 20, "Gi": 1 << 30}


def render(folder: Path) -> Iterator[Json]:
    """What `kubectl kustomize` makes of a folder, as far as it is used here: anything else fails."""
    file = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert file.keys() <= {"apiVersion", "kind", "resources", "configMapGenerator"}
    for resource in file["resources"]:
        path = folder / resource
        yield from render(path) if path.is_dir() else yaml.safe_load_all(path.read_text())
    for made in file.get("configMapGenerator", ()):
        assert made["options"] == {"disableNameSuffixHash": True}
        data = {name: (folder / name).read_text() for name in made["files"]}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": made["name"]}, "data": data}


@cache
def documents(overlay: str) -> list[Json]:
    return list(render(FOLDER / overlay))


def of_kind(overlay: str, *kinds: str) -> dict[str, Json]:
    return {each["metadata"]["name"]: each for each in documents(overlay) if each["kind"] in kinds}


def pods(overlay: str) -> dict[str, Json]:
    """The pods' templates, by who makes them."""
    found = of_kind(overlay, "Deployment", "StatefulSet", "Job")
    return {name: each["spec"]["template"] for name, each in found.items()}


def container(overlay: str, name: str) -> Json:
    [only] = pods(overlay)[name]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def secret_files(pod: Json) -> Iterator[tuple[str, str]]:
    """The keys of Secrets that a pod mounts, and the files that it sees them as."""
    for volume in pod["spec"]["volumes"]:
        sources = volume.get("projected", {}).get("sources", [volume])
        for secret in (source["secret"] for source in sources if "secret" in source):
            yield from ((item["key"], item["path"]) for item in secret["items"])


def size(text: str) -> int:
    return int(text[:-2]) * UNITS[text[-2:]]


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_document_is_valid(overlay: str, version: str) -> None:
    names = [(each["kind"], each["metadata"]["name"]) for each in documents(overlay)]
    assert len(names) == len(set(names)) > 20
    for document in documents(overlay):
        kubernetes_validate.validate(document, version, strict=True)


def test_a_field_that_kubernetes_has_not_is_noticed() -> None:
    wrong = {**of_kind("single", "Service")["gateway"], "spec": {"porst": []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_settings_and_secrets_are_those_of_the_code(overlay: str, tmp_path: Path) -> None:
    write_users(tmp_path)
    known = {f"LEDGERLINE_{name.upper()}" for name in Settings.model_fields}
    assert of_kind(overlay, "ConfigMap")["settings"]["data"].keys() <= known
    made = {path.name for path in tmp_path.iterdir()} | BY_HAND
    assert {*KEY_FILES} < made
    for name, pod in pods(overlay).items():
        if pod["metadata"]["labels"]["part"] == "service":
            given = container(overlay, name)["env"]
            assert {each["name"] for each in given} <= known
            assert {path.upper() for _, path in secret_files(pod)} <= known
        assert {key for key, _ in secret_files(pod)} <= made


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_are_valid_for_each_service(overlay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in of_kind(overlay, "ConfigMap")["settings"]["data"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LEDGERLINE_SECRETS_DIR", "/")
    for url in of_kind(overlay, "ConfigMap")["engine"]["data"].values():
        monkeypatch.setenv("LEDGERLINE_REDIS_URL", url)
        assert read_settings().redis_url == url


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_service_is_run_as_compose_runs_it(overlay: str) -> None:
    composed = read_compose(GIVEN)["services"]
    for name in SERVICES - {"serve"}:
        own, other = container(overlay, name), composed[name]
        assert own["args"] == other["command"] == [name]
        assert size(own["resources"]["limits"]["memory"]) == to_bytes(other["mem_limit"])
        secrets = {each if isinstance(each, str) else each["source"] for each in other["secrets"]}
        mounted = {key for key, _ in secret_files(pods(overlay)[name])}
        assert mounted - BY_HAND == secrets
    assert container(overlay, "operator")["args"] == ["gateway"]
    engine = container(overlay, "engine")
    assert engine["image"] == composed["engine"]["image"]
    assert size(engine["resources"]["limits"]["memory"]) == to_bytes(composed["engine"]["mem_limit"])
    own = engine["args"]
    _, *same = composed["engine"]["command"]
    assert own[: len(same)] == same
    assert own[len(same) : len(same) + 2] == ["--dir", "/data"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_ports_are_those_that_are_listened_on(overlay: str) -> None:
    settings = of_kind(overlay, "ConfigMap")["settings"]["data"]
    assert settings["LEDGERLINE_METRICS"].endswith(":9464")
    for name in SERVICES - {"serve"} | {"operator"}:
        ports = {each["name"]: each["containerPort"] for each in container(overlay, name)["ports"]}
        assert ports.pop("metrics") == 9464
        given = {each["name"]: each.get("value") for each in container(overlay, name)["env"]}
        assert [str(port) for port in ports.values()] == [*filter(None, [given.get("LEDGERLINE_PORT")])]
    reached = {
        (str(port["port"]), selected)
        for policy in of_kind(overlay, "NetworkPolicy").values()
        for rule in policy["spec"].get("ingress", ())
        for port in rule["ports"]
        for selected in policy["spec"]["podSelector"]["matchLabels"].values()
    }
    assert reached == {("8720", "gateway"), ("9464", "service"), ("6379", "engine"), ("16379", "engine")}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_referred_to_is_there(overlay: str) -> None:
    maps, made = of_kind(overlay, "ConfigMap"), pods(overlay)
    claims = of_kind(overlay, "PersistentVolumeClaim")
    labels = [pod["metadata"]["labels"].items() for pod in made.values()]
    for name, pod in made.items():
        for variable in container(overlay, name).get("env", ()):
            if (reference := variable.get("valueFrom", {}).get("configMapKeyRef")) is not None:
                assert reference["key"] in maps[reference["name"]]["data"]
        for each in container(overlay, name).get("envFrom", ()):
            assert each["configMapRef"]["name"] in maps
        volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
        for volume in volumes.values():
            assert volume.get("persistentVolumeClaim", {"claimName": "archive"})["claimName"] in claims
            assert volume.get("configMap", {"name": "settings"})["name"] in maps
        data = {"data"} if name in of_kind(overlay, "StatefulSet") else set()
        assert {each["name"] for each in container(overlay, name)["volumeMounts"]} == {*volumes} | data
    for kinds in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
        for each in of_kind(overlay, kinds).values():
            selector = each["spec"].get("podSelector", each["spec"].get("selector", {}))
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= label for label in labels), each["metadata"]
    for scaler in of_kind(overlay, "HorizontalPodAutoscaler").values():
        target = of_kind(overlay, "Deployment")[scaler["spec"]["scaleTargetRef"]["name"]]
        assert "replicas" not in target["spec"], "else each `apply` undoes what the scaler did"


def test_players_never_wait_for_one_pod_alone() -> None:
    for name in ("gateway", "referee"):
        assert of_kind("single", "HorizontalPodAutoscaler")[name]["spec"]["minReplicas"] >= 2
        assert of_kind("single", "PodDisruptionBudget")[name]["spec"]["maxUnavailable"] == 1
        [*_, zones] = pods("single")[name]["spec"]["topologySpreadConstraints"]
        assert zones["topologyKey"] == "topology.kubernetes.io/zone"


def series_of(rule: Json) -> str:
    selector = promql_parser.parse(rule["seriesQuery"])
    assert isinstance(selector, promql_parser.VectorSelector)
    return str(selector.name)


def test_scalers_ask_what_the_adapter_knows_and_never_for_cpu_alone() -> None:
    rules = yaml.safe_load((FOLDER / "adapter.yaml").read_text())["rules"]
    declared = {metric.name for metric in DECLARED}
    for rule in rules["external"]:
        assert rule["seriesQuery"] in rule["metricsQuery"]
        assert promql_parser.parse(rule["metricsQuery"])
        assert series_of(rule) in declared
    custom = {series_of(rule) for rule in rules["custom"]}
    assert custom <= declared
    known = custom | {rule["name"]["as"] for rule in rules["external"]}
    asked = set()
    for scaler in of_kind("single", "HorizontalPodAutoscaler").values():
        names = {
            metric[metric["type"].lower()]["metric"]["name"]
            for metric in scaler["spec"]["metrics"]
            if metric["type"] != "Resource"
        }
        assert names
        asked |= names
    assert asked == known


@pytest.mark.parametrize("name", ["gateway", "operator"])
def test_a_gateway_that_is_not_ready_is_not_started_anew(name: str) -> None:
    probes = container("single", name)
    assert probes["readinessProbe"]["httpGet"]["path"] == "/health/ready"
    assert probes["livenessProbe"]["httpGet"]["path"] == "/health/live"


def test_the_probe_of_a_service_asks_whether_its_loop_comes_round() -> None:
    # given
    *words, longest_s = container("single", "referee")["livenessProbe"]["exec"]["command"]
    port = free_port()
    words = [sys.executable, *(word.replace("9464", str(port)) for word in words[1:])]
    settings = read_settings(metrics=f"127.0.0.1:{port}")
    for (ended,) in LOOP_SILENCE.read():  # services of other tests, whose loops stand still
        LOOP_SILENCE.read_from(dict, ended)
    with composition.observing(settings, "referee"):
        LoopRounds("referee").come_round(0.1)
        # when
        exits = [subprocess.run([*words, limit], check=False).returncode for limit in (longest_s, "0")]
    # then
    assert exits == [0, 1]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_engine_s_memory_leaves_room_for_a_fork(overlay: str) -> None:
    containers = (container(overlay, name) for name in of_kind(overlay, "StatefulSet"))
    engines = [each for each in containers if "--maxmemory" in each["args"]]
    assert engines
    for each in engines:
        allowed = to_bytes(each["args"][each["args"].index("--maxmemory") + 1])
        assert allowed <= 0.7 * size(each["resources"]["limits"]["memory"])


def measured(path: str, words: str) -> list[float]:
    """The numbers that a page has where it says this; `N` in it stands for one."""
    page = " ".join((ROOT / path).read_text(encoding="utf-8").split())
    [found] = re.findall(re.escape(words).replace("N", r"([\d,.]*\d)"), page)
    return [float(each.replace(",", "")) for each in ([found] if isinstance(found, str) else found)]


def test_requests_and_limits_follow_from_what_was_measured() -> None:
    def memory(name: str, of: str) -> int:
        return size(container("single", name)["resources"][of]["memory"])

    [share] = measured("deploy/scale.md", "no process above N of a core")
    for name in ("gateway", "referee", "bots", "engine"):
        assert container("single", name)["resources"]["requests"]["cpu"] == f"{1000 * share:.0f}m", name

    socket_bytes = measured("docs/explanation/figures.md", "p99 33; N MiB")[0] * UNITS["Mi"] / 5_000
    [average] = of_kind("single", "HorizontalPodAutoscaler")["gateway"]["spec"]["metrics"]
    most = int(of_kind("single", "ConfigMap")["settings"]["data"]["LEDGERLINE_CONNECTIONS"])
    assert memory("gateway", "requests") >= int(average["pods"]["target"]["averageValue"]) * socket_bytes
    assert memory("gateway", "limits") >= most * socket_bytes

    folded_kb, made_kb = measured("docs/how-to/capacity.md", "N kB folded (N where it was created there)")
    [games] = measured("docs/how-to/capacity.md", "there is room for N folded ones")
    assert memory("referee", "requests") >= games * folded_kb * 1000
    assert memory("referee", "limits") >= games * made_kb * 1000

    [command_us] = measured("docs/how-to/capacity.md", "| gateway, CPU | N us |")
    assert f"# {command_us:.0f} us of a CPU a command" in (FOLDER / "base/gateway.yaml").read_text()
