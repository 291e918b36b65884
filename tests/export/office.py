"""Office files as LibreOffice opens them, and saves them in other formats."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ragcore.ingest.convert.office import _ITEM, _PROFILE

# All is as it comes, but that it doesn't test at its start how it draws.
PROFILE = _PROFILE.format(_ITEM.format("Setup/Product", "ooSetupLastVersion", "99.9"))


def converted(data: bytes, folder: Path, kind: str = "docx", target: str = "pdf") -> bytes:
    """What LibreOffice makes of a file of this kind; the test is skipped where it is not installed."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice (soffice) is not installed")
    source, made = folder / f"in.{kind}", folder / f"in.{target}"
    source.write_bytes(data)
    settings = folder / "profile" / "user" / "registrymodifications.xcu"
    if not settings.exists():
        settings.parent.mkdir(parents=True)
        settings.write_text(PROFILE, "utf-8")
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [office, "--headless", profile, "--convert-to", target, "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert made.exists(), done.stderr
    return made.read_bytes()
