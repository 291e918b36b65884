"""Quotation marks inside a quotation."""

from __future__ import annotations

import pytest

from ragcore.text.markdown import quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A sponsor shall submit an IND.", "“A sponsor shall submit an IND.”"),
        ("“Unexpected,” as used here, also refers to events.", "“‘Unexpected,’ as used here, also refers to events.”"),
        ("The event is “serious” or “unexpected”", "“The event is ‘serious’ or ‘unexpected’”"),
        ("“Caution: new drug.”", "“Caution: new drug.”"),
        ("“One” and “two”", "“‘One’ and ‘two’”"),
        ('Labels must carry a "caution" statement.', "“Labels must carry a ‘caution’ statement.”"),
        ('A pipe of 5" in width and 6" in height', '“A pipe of 5" in width and 6" in height”'),
        ('"Agreement" means this document.', "“‘Agreement’ means this document.”"),
        ("The party’s duty", "“The party’s duty”"),
    ],
)
def test_marks_within_are_single(text: str, shown: str) -> None:
    assert quoted(text) == shown
