from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.text.markdown import escape, plain


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (
            r"Net sales\* rose \[2\] by 5% in \`all\` regions \<of Europe>",
            "Net sales* rose [2] by 5% in `all` regions <of Europe>",
        ),
        (r"a \\ b", "a \\ b"),
        (r"C:\files and \→ are no escapes", r"C:\files and \→ are no escapes"),
        ("ends in a backslash \\", "ends in a backslash \\"),
        (r"code `a\*b` stays, text\* does not", r"code `a\*b` stays, text* does not"),
        (r"``a ` \* b`` and \*", r"``a ` \* b`` and *"),
        (r"an open ` and \*", "an open ` and *"),
        ("\\*\n```\n\\*\n```\n\\*", "*\n```\n\\*\n```\n*"),
        ("~~~ sh\n\\$\n", "~~~ sh\n\\$\n"),
    ],
)
def test_plain_takes_backslash_escapes_out_but_not_of_code(markdown: str, expected: str) -> None:
    assert plain(markdown) == expected


@given(st.text(st.sampled_from("ab \\*_`~[]<>&;#1!\n") | st.characters()))
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    assert plain(escape(text)) == text


@given(st.text(st.sampled_from("<SOURCE 1.2>\\[]NOAW")))
def test_what_is_escaped_holds_no_marker(text: str) -> None:
    assert "<<" not in escape(text)


def test_words_and_ampersands_that_format_nothing_are_left_alone() -> None:
    assert escape("R&D in snake_case, 5 > 3") == "R&D in snake_case, 5 > 3"
    assert escape("_this_ &amp; ~~that~~") == r"\_this\_ \&amp; \~\~that\~\~"
