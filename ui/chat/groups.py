"""Documents by tag and folder, for the field that puts those of one into scope."""

from __future__ import annotations

from collections.abc import Sequence

from ragcore.types.library import DocumentInfo


def groups(infos: Sequence[DocumentInfo]) -> dict[str, tuple[str, ...]]:
    """The documents of each folder (with those below it) and each tag, by what it is called: ``Trial/ (3)``,
    ``#10-K (5)``."""
    folders: dict[str, list[str]] = {}
    tags: dict[str, list[str]] = {}
    for info in infos:
        names = info.folder.split("/") if info.folder else []
        for depth in range(len(names)):
            folders.setdefault("/".join(names[: depth + 1]) + "/", []).append(info.doc_id)
        for tag in info.tags:
            tags.setdefault(f"#{tag}", []).append(info.doc_id)
    every = [*sorted(folders.items()), *sorted(tags.items(), key=lambda item: item[0].casefold())]
    return {f"{name} ({len(doc_ids)})": tuple(doc_ids) for name, doc_ids in every}
