"""Advice for a file that could not be read, worded for the app.

The hints in `ragcore.errors` are worded for the command line: they name its commands and the settings file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragcore.config.settings import Settings
from ragcore.errors import NoText, ParseCrashed, ParseError, ParseTimeout, StoreBusy
from ragcore.ingest.ocr import OCR_OFF
from ragcore.types.json import Json

# By the class whose own hint it stands for: a hint that was written for one case is kept.
_FOR = {
    ParseError: "The pages read so far are kept. Try again to resume.",
    ParseTimeout: "Try again to resume where it stopped.",
    ParseCrashed: "Try again. If it fails again, save a copy from a PDF viewer and upload that.",
    StoreBusy: "Wait for the other process to finish, then try again.",
}
_HINTS = {kind.hint_default: hint for kind, hint in _FOR.items()}
_SCANS = {
    "off": "OCR is off. Turn it on in Settings, then try again.",
    "auto": "If its pages show text, turn on OCR for every page in Settings, or choose another OCR language. "
    "Then try again.",
    "force": "If its pages show text, choose another OCR language in Settings, then try again.",
}


def advice(error: Mapping[str, Any], settings: Settings) -> Json:
    """`GroundworkError.as_dict` with a hint for the app. ``settings`` names the helpful section of Settings ("" for
    none); ``again`` says whether a retry can succeed unchanged."""
    code, hint = error.get("code"), str(error.get("hint", ""))
    told = dict(error) | {"hint": _HINTS.get(hint, hint), "settings": "", "again": bool(error.get("retryable"))}
    if code == "no_text" and hint == NoText.hint_default:
        message = str(error["message"]).replace(OCR_OFF, "OCR is off")
        return told | {"message": message, "hint": _SCANS[settings.ocr.mode], "settings": "reading", "again": True}
    if code == "too_many_pages":
        told["hint"] = f"Split it into parts of at most {settings.ingest.max_pages:,} pages and upload those."
    if code == "file_too_large":
        told["hint"] = "Split it into smaller files and upload those."
    if code == "parse_crashed":
        told["again"] = True
    return told
