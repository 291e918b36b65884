"""Word files as LibreOffice opens them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def converted(data: bytes, folder: Path) -> bytes:
    """What LibreOffice makes of a Word file as PDF; the test is skipped where it is not installed."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice (soffice) is not installed")
    (folder / "in.docx").write_bytes(data)
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [office, "--headless", profile, "--convert-to", "pdf", "--outdir", str(folder), str(folder / "in.docx")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    made = folder / "in.pdf"
    assert made.exists(), done.stderr
    return made.read_bytes()
