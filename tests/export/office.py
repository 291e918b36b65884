"""Office files as LibreOffice opens them, and saves them in other formats."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def converted(data: bytes, folder: Path, kind: str = "docx", target: str = "pdf") -> bytes:
    """What LibreOffice makes of a file of this kind; the test is skipped where it is not installed."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice (soffice) is not installed")
    source, made = folder / f"in.{kind}", folder / f"in.{target}"
    source.write_bytes(data)
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [office, "--headless", profile, "--convert-to", target, "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert made.exists(), done.stderr
    return made.read_bytes()
