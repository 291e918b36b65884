"""Reading pages that have no usable text: `scan` finds and prepares them, `engine` reads the picture."""

from typing import Final

OCR_OFF: Final = "OCR is off (ocr.mode)"
WITH_FORCE: Final = 'ocr.mode = "force"'


def waits_for(degraded: str | None) -> str:
    """What a page of which ``degraded`` is said must be read again for: OCR that is ``on``, or ``force``; else ""."""
    return "" if degraded is None else "on" if OCR_OFF in degraded else "force" if WITH_FORCE in degraded else ""


def serves(mode: str, need: str) -> bool:
    """Whether pages that wait for ``need`` (see `waits_for`) are read otherwise with ``ocr.mode`` at ``mode``."""
    return mode == "force" if need == "force" else need == "on" and mode != "off"
