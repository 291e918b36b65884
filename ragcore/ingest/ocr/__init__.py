"""OCR of pages without usable text: `scan` finds and prepares them, `engine` reads the picture."""

from typing import Final

OCR_OFF: Final = "OCR is off (ocr.mode)"
WITH_FORCE: Final = 'ocr.mode = "force"'


def waits_for(degraded: str | None) -> str:
    """OCR mode that a page with this ``degraded`` waits for: ``on`` or ``force``; "" if none."""
    return "" if degraded is None else "on" if OCR_OFF in degraded else "force" if WITH_FORCE in degraded else ""


def serves(mode: str, need: str) -> bool:
    """Whether ``ocr.mode`` set to ``mode`` would read pages that wait for ``need`` (see `waits_for`) differently."""
    return mode == "force" if need == "force" else need == "on" and mode != "off"
