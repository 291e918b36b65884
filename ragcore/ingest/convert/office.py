"""LibreOffice, which makes pages of office files: one process for each step, without network, links and macros.

It runs as a child of the parsing process, under its memory limit, with a profile and a folder of its own, and ends with
it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ragcore.errors import ConverterMissing, DamagedFile, FileTooLarge, ParseTimeout

MOST_WRITTEN = 1 << 30  # bytes of one file that it may write
MOST_SECONDS = 1800.0  # on systems where it doesn't end with its parent
_RESTART = 81  # its exit code when it has set up a new profile and wants to be started again
_FILTERS = {
    "docx": "MS Word 2007 XML",
    "doc": "MS Word 97",
    "rtf": "Rich Text Format",
    "odt": "writer8",
    "pptx": "Impress MS PowerPoint 2007 XML",
    "ppt": "MS PowerPoint 97",
    "odp": "impress8",
    "xls": "MS Excel 97",
    "ods": "calc8",
}
# Nothing outside of the file is opened: no link, no macro, no program; stored values are not computed again.
_SETTINGS: dict[str, dict[str, object]] = {
    "Office.Common/Security/Scripting": {
        "BlockUntrustedRefererLinks": True,
        "DisableMacrosExecution": True,
        "MacroSecurityLevel": 3,
        "CheckDocumentEvents": False,
    },
    "Office.Common/Filter/PDF/Export": {"ExportNotes": False, "ExportBookmarks": True, "ExportHiddenSlides": False},
    "Office.Writer/Content/Update": {"Link": 2},
    "Office.Calc/Content/Update": {"Link": 2},
    "Office.Calc/Formula/Load": {"OOXMLRecalcMode": 1, "ODFRecalcMode": 1},
    "Office.Java/VirtualMachine": {"Enable": False},
    # A profile of no version or an older one has it test how it draws, for two thirds of what a file takes.
    "Setup/Product": {"ooSetupLastVersion": "99.9"},
}
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>"""
_ITEM = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>'
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of unshare(2)
_END_WITH_PARENT = 1  # of prctl(2)
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class LibreOffice:
    """LibreOffice in an empty ``folder``, for the file called ``name``."""

    folder: Path
    name: str

    def convert(self, data: bytes, kind: str, target: str) -> bytes:
        """File of ``kind`` as one of kind ``target``. Raises `ConverterMissing`, `DamagedFile`, `FileTooLarge`,
        `ParseTimeout`."""
        program = shutil.which("soffice")
        if program is None:
            raise ConverterMissing(f"{self.name} needs LibreOffice, which is not installed.")
        # The program itself, so that no script and no splash screen outlives it.
        binary = Path(program).resolve().with_name("soffice.bin")
        profile, out = self.folder / "profile", self.folder / "out"
        source, made = self.folder / f"in.{kind}", out / f"in.{target}"
        source.write_bytes(data)
        if not profile.is_dir():
            (profile / "user").mkdir(parents=True)
            (profile / "user" / "registrymodifications.xcu").write_text(_profile(), "utf-8")
        command = [
            *(str(binary) if binary.is_file() else program, "--headless", "--norestore", "--nolockcheck"),
            *(f"-env:UserInstallation={profile.as_uri()}", f"--infilter={_FILTERS[kind]}"),
            *("--convert-to", target, "--outdir", str(out), str(source)),
        ]
        code = self._run(command)
        if code == _RESTART:
            code = self._run(command)
        if made.is_file() and made.stat().st_size >= MOST_WRITTEN:
            raise FileTooLarge(f"{self.name} would become larger than {MOST_WRITTEN >> 30} GiB.")
        if code or not made.is_file():
            raise DamagedFile(f"{self.name} is damaged, or has a password: LibreOffice can't open it.", hint=_AGAIN)
        return made.read_bytes()

    def _run(self, command: list[str]) -> int:
        given = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        given |= {"HOME": str(self.folder), "TMPDIR": str(self.folder), "SAL_USE_VCLPLUGIN": "svp"}
        try:
            return subprocess.run(
                command,
                cwd=self.folder,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=MOST_SECONDS,
                preexec_fn=_confined if sys.platform == "linux" else None,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise ParseTimeout(f"{self.name}: LibreOffice took longer than {MOST_SECONDS:g} s.") from error


def _confined() -> None:
    """In the new process: no network where the system allows that, a limit of what is written, and an end with its
    parent, even if that is killed."""
    import resource

    assert _LIBC is not None
    _LIBC.unshare(_NEW_USER | _NEW_NETWORK)
    _LIBC.prctl(_END_WITH_PARENT, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))


def _profile() -> str:
    return _PROFILE.format(
        "".join(
            _ITEM.format(path, name, str(value).lower())
            for path, values in _SETTINGS.items()
            for name, value in values.items()
        )
    )


_AGAIN = "Open it in its own program, save a copy without a password, and add that, or save it as PDF."
