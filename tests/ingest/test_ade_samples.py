"""Real ADE JSON with its PDF, where the measuring data is at hand: its cells are ours, and no word is lost."""

from __future__ import annotations

import pymupdf
import pytest

from benchmarks.ade import WAYS, ade_cells, found, our_cells, printed
from ragcore.config.settings import Settings
from ragcore.ingest.ade.pages import AdeSource
from ragcore.ingest.document import build_document
from tests.ingest.test_grounding import characters
from tests.ingest.test_real_data import DATA


@pytest.mark.parametrize("name", ["electric3", "electric4", "invoice_25"])
@pytest.mark.parametrize("way", ["ADE with PDF", "ADE alone"])
def test_cells_of_ade_are_cells_of_the_document(name: str, way: str, settings: Settings) -> None:
    path = DATA / "ade-samples" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"the measuring data is not here: {path}")
    source = AdeSource(path, path.name, settings.ingest)
    pdf = path.with_suffix(".pdf")
    info, pages = WAYS[way](source, pdf, settings)
    document = build_document("d" * 16, "0" * 64, path.name, info, pages, settings)
    wanted = ade_cells(source)
    with pymupdf.open(pdf) as opened:
        least = printed(wanted, opened) if way == "ADE with PDF" else len(wanted)
    assert found(wanted, our_cells(document)) >= least
    own = ~document.words.repeated
    mapped = zip(document.words.starts[own].tolist(), document.words.ends[own].tolist())
    words = "".join(text for page in pages for text in page.texts)
    assert characters("".join(document.text[a:b] for a, b in mapped)) == characters(words)
    source.check([page.to_bytes() for page in pages])
