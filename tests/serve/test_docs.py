"""The examples of docs/api.md, run as they stand against the app."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from ragcore.accounts.accounts import Accounts
from ragcore.accounts.tokens import SCOPES, Tokens
from tests import pdfs, prepared
from tests.browser.conftest import serve
from tests.serve.tools import reports

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_examples_run_against_the_app(tmp_path: Path, shared: Path) -> None:
    home = tmp_path / "home"
    prepared.copied(prepared.home(shared / "reports", reports()), home)
    with closing(Accounts(home)) as accounts:
        secret = Tokens(accounts).make("docs", SCOPES, "test")
    (tmp_path / "survey.pdf").write_bytes(pdfs.one_column())
    curl, python = (
        part.split("\n", 1)[1].split("```")[0]
        for part in (ROOT / "docs" / "api.md").read_text("utf-8").split("<!-- run -->\n```")[1:]
    )
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed (Debian: apt-get install curl)")
    with serve(home) as app:

        def run(*command: str) -> str:
            given = [part.replace("http://localhost:8501", app.url) for part in command]
            environment = os.environ | {"GROUNDWORK_TOKEN": secret}
            done = subprocess.run(given, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        answer = json.loads(run("sh", "-c", curl))
        assert "61.4 milligrams per litre" in answer["answer"]
        assert answer["citations"][0]["boxes"]
        said = run(sys.executable, "-c", python)
        assert said.startswith("contradicted p. 1:")
        assert "61.4" in said
        assert Image.open(tmp_path / "place.png").width == pytest.approx(1000, abs=2)
        told = run("sh", "-c", curl.replace("curl -s", 'curl -sN -H "Accept: text/event-stream"'))
        assert told.strip().split("\n\n")[-1].startswith("event: done\n")
