"""A process that is killed while it makes pages of a file leaves the library whole, whatever the file's kind."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcore.engine import Engine
from tests.check.files import word
from tests.ingest.mail import book, message, pictures
from tests.ingest.office import needs_office

pytestmark = pytest.mark.slow

WORK = """
import sys
from pathlib import Path
from ragcore.engine import Engine
with Engine.open(Path(sys.argv[1]), overrides={"llm.model": "offline"}) as engine:
    engine.ingest(sys.argv[2])
"""
LINES = [f"Well {number} had {number / 7:.3f} mg/l." for number in range(120)]
FILES: dict[str, Callable[[], bytes]] = {
    "long.docx": lambda: word(*LINES),
    "long.eml": lambda: message("\n\n".join(LINES)).as_bytes(),
    "long.epub": lambda: book(("Wells", "".join(f"<p>{line}</p>" for line in LINES))),
    "long.tiff": lambda: pictures(LINES[:4], LINES[4:8]),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[needs_office] if n.endswith("x") else []) for n in FILES])
def test_a_kill_while_pages_are_made_loses_nothing(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        doc_id = engine.add(FILES[name](), name).doc_id
        made = engine.file(doc_id)
        with subprocess.Popen([sys.executable, "-c", WORK, str(home), doc_id]) as process:
            while engine.documents()[0].status != "reading":
                assert process.poll() is None
                time.sleep(0.02)
            process.kill()
        assert not made.exists()
        assert [info.error for info in engine.documents()] == [None]
        info = engine.ingest(doc_id)
        assert (info.status, info.pages) == ("ready", info.pages_done), info.error
        assert len(list(made.parent.iterdir())) == 2
