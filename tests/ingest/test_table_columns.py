"""Columns: words of one text are one cell."""

from __future__ import annotations

from ragcore.config.settings import Settings
from tests.ingest.test_table_rules import read


def test_words_of_a_text_are_no_columns(settings: Settings) -> None:
    rows = [["Region", "Remark"], ["North", "closed in May"], ["South", "open all year"], ["West", "sold to a farm"]]
    _document, table, _lines = read(settings, rows, 1)
    assert table.columns == 2
