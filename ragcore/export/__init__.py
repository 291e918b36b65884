"""Document export: a manuscript model (`tree`), its construction from a conversation or report (`manuscripts`), and the
writers of its formats (`pandoc`, `pdf`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from ragcore.errors import InputError

if TYPE_CHECKING:
    from ragcore.config.settings import ExportSettings
    from ragcore.export.tree import Manuscript

Kind = Literal["md", "docx", "pdf"]
KINDS: tuple[Kind, ...] = get_args(Kind)
K = TypeVar("K", bound=str)
Writer = Callable[["Manuscript", "ExportSettings"], bytes]  # the same manuscript and settings give the same bytes


def kind(name: str, kinds: Sequence[K]) -> K:
    """Kind of file by name (``"docx"``), one of ``kinds``. Raises `InputError` for an unknown one."""
    found = next((each for each in kinds if each == name.lower()), None)
    if found is None:
        raise InputError(f"Groundwork can't export to “{name}”.", hint=f"Choose one of {', '.join(kinds)}.")
    return found


def writer(chosen: Kind) -> Writer:
    """Writer of a kind; its library is loaded here. Raises `InputError`."""
    if kind(chosen, KINDS) == "pdf":
        from ragcore.export import pdf

        return pdf.write
    from ragcore.export import pandoc

    return pandoc.write_word if chosen == "docx" else pandoc.write_markdown
