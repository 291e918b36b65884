"""Template files that would take hours or gigabytes: each ends with one clear error, in bounded time and memory."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from docx import Document

from ragcore.errors import BadTemplate
from ragcore.report import template as templates
from ragcore.report.template import load_template, read_template

OUTLINE = "# Profile\n\n## Business\n\nWhat the company sells.\n\n## Segments {table: Segment | Revenue}\n"
_RUNS = """
import signal, sys, threading, time
from pathlib import Path
from ragcore.report.template import read_template

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
threading.Thread(target=read_template, args=(Path(sys.argv[1]).read_bytes(), "slow.docx"), daemon=True).start()
print("reading", flush=True)
while True:
    time.sleep(0.1)
"""


def word(body: str) -> bytes:
    """A Word document of python-docx's own with ``body`` (XML) in it."""
    given, out = io.BytesIO(), io.BytesIO()
    made = Document()
    made.add_heading("Risks", 1)
    made.save(given)
    with zipfile.ZipFile(given) as parts, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for part in parts.infolist():
            data = parts.read(part)
            if part.filename == "word/document.xml":
                data = data.replace(b"<w:sectPr", body.encode() + b"<w:sectPr", 1)
            written.writestr(part.filename, data)
    return out.getvalue()


def slow_word() -> bytes:
    """A small file whose one table has 40,000 rows, of which each continues the cell above."""
    row = '<w:tr><w:tc><w:tcPr><w:vMerge w:val="{}"/></w:tcPr><w:p/></w:tc></w:tr>'
    rows = row.format("restart") + row.format("continue") * 40_000
    return word(f'<w:tbl><w:tblGrid><w:gridCol w:w="10"/></w:tblGrid>{rows}</w:tbl>')


def test_a_file_gives_its_template(tmp_path: Path) -> None:
    made = read_template(OUTLINE.encode(), "profile.md")
    assert [place.section.heading for place in made.places()] == ["Business", "Segments"]
    assert read_template(made.as_json().encode(), "profile.json") == made
    (tmp_path / "profile.md").write_text(OUTLINE, "utf-8")
    assert load_template(str(tmp_path / "profile.md")) == made


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.json", b'{"title": "x", "sections": []}', "at least one section"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b'{"sections": [' * 5_000 + b"]}" * 5_000, "nested too deeply"),
        ("a.md", b"\xff\xfe\x00", "UTF-8"),
        ("a.docx", b"PK\x03\x04 and no more", "can't be opened as a Word document"),
        ("a.docx", word("<w:p><w:r>"), "can't be opened as a Word document"),
    ],
)
def test_what_is_no_template_is_one_clear_error(name: str, data: bytes, words: str) -> None:
    started = time.monotonic()
    with pytest.raises(BadTemplate, match=words) as caught:
        read_template(data, name)
    assert time.monotonic() - started < templates.SECONDS / 2
    assert len(caught.value.message) < 600
    assert caught.value.hint


def test_a_file_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "SECONDS", 0.5)
    with pytest.raises(BadTemplate, match=r"slow\.docx takes longer than 0\.5 s"):
        read_template(slow_word(), "slow.docx")


def test_a_file_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MEMORY_MB", 16)
    with pytest.raises(BadTemplate, match=r"slow\.docx takes too much memory"):
        read_template(slow_word(), "slow.docx")


def test_a_mistake_that_quotes_the_file_is_cut() -> None:
    given = {"title": "x", "sections": [{"heading": "h" * 1_000_000, "kind": "k" * 1_000_000}]}
    with pytest.raises(BadTemplate) as caught:
        read_template(json.dumps(given).encode(), "a.json")
    assert len(caught.value.message) <= 500


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to handle")
def test_sigterm_ends_a_program_that_reads_one(tmp_path: Path) -> None:
    path = tmp_path / "slow.docx"
    path.write_bytes(slow_word())
    with subprocess.Popen([sys.executable, "-c", _RUNS, str(path)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "reading\n"
        time.sleep(1.0)
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60.0) == 0
