from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.cite import Citer, Marker, MarkerParser
from tests.answer.samples import DIVIDENDS, OTHER, PROSE, REPORT, TABLE, document, find, sources


def parse(*pieces: str) -> list[str | Marker]:
    parser = MarkerParser()
    out: list[str | Marker] = []
    for piece in pieces:
        out.extend(parser.feed(piece))
    return [*out, *parser.finish()]


def joined(items: list[str | Marker]) -> list[str | Marker]:
    """Neighbouring strings put together, since only their cut depends on the pieces."""
    out: list[str | Marker] = []
    for item in items:
        if isinstance(item, str) and out and isinstance(out[-1], str):
            out[-1] += item
        else:
            out.append(item)
    return out


def marker(text: str) -> Marker:
    """The one marker in ``text``."""
    (found,) = (item for item in parse(text) if isinstance(item, Marker))
    return found


def places(text: str) -> list[tuple[int, int, int]]:
    return [(part.source, part.first, part.last) for part in marker(text).parts]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<<SOURCE 3>>", [(3, 0, 0)]),
        ("<<SOURCE 3.2>>", [(3, 2, 2)]),
        ("<<SOURCE 3.2-3.4>>", [(3, 2, 4)]),
        ("<<SOURCE 3.2–4>>", [(3, 2, 4)]),
        ("<<SOURCE 3.4 — 3.2>>", [(3, 2, 4)]),
        ("<<SOURCE 1-3>>", [(1, 0, 0), (2, 0, 0), (3, 0, 0)]),
        ("<<SOURCE 1.2, 3.4>>", [(1, 2, 2), (3, 4, 4)]),
        ("<<SOURCE 1.2; 3.4-3.6 and SOURCE 5>>", [(1, 2, 2), (3, 4, 6), (5, 0, 0)]),
        ("<<SOURCES 1.2 3.4>>", [(1, 2, 2), (3, 4, 4)]),
        ("<<source3.2>>", [(3, 2, 2)]),
        ("<< Source: 3.2 >>", [(3, 2, 2)]),
        ("<<SOURCE [3.2]>>", [(3, 2, 2)]),
        ("<<SOURCE 3.2> and on", [(3, 2, 2)]),
        ("<<SOURCE 1.2-3.4>>", [(1, 2, 2), (3, 4, 4)]),
    ],
)
def test_forms(written: str, expected: list[tuple[int, int, int]]) -> None:
    assert places(written) == expected


@pytest.mark.parametrize("written", ["<<SOURCE>>", "<<SOURCE x>>", "<<SOURCE 1.2.3>>", "<<SOURCE 3.2 see>>"])
def test_malformed_markers_have_no_places(written: str) -> None:
    assert parse(f"a {written} b") == ["a ", Marker(written), " b"]


@pytest.mark.parametrize("unclosed", ["<<SOURCE 3.2 see", "<<SOURCE 3.2 \n", "<<SOURCE 3.2 <b>"])
def test_an_unclosed_marker_that_names_a_place_is_malformed_not_shown(unclosed: str) -> None:
    first, found, *_ = parse(f"a {unclosed}")
    assert first == "a "
    assert isinstance(found, Marker)
    assert found.parts == ()


@pytest.mark.parametrize(
    "text",
    [
        "a < b << c",
        "1 << 3",
        "<<<>>>",
        "<<resource 3>>",
        "<<SOURCES of the Nile are far, and this goes on and on without any end that would close it",
        "<<NOTE>> and <<NO>> and <<NO ANSWERS>>",
        "if (a<b) cout << source << endl;",
    ],
)
def test_lookalikes_come_out_unharmed(text: str) -> None:
    assert joined(parse(text)) == [text]
    assert joined(parse(*text)) == [text]


@pytest.mark.parametrize(
    "tail",
    [
        *(
            "<",
            "<<",
            "<< ",
            "<<SO",
            "<<sources",
            "<<SOURCE ",
            "<<SOURCE 1",
            "<<SOURCE 1.1, 2",
            "<<SOURCE [3.2",
            "<<Source: 3",
        ),
        *(
            "<<SOURCE 1.2 an",
            "<<SOURCE 1.2 and SOUR",
            "<<SOURCE 3.2 – 3.",
            "<<NO",
            "<<NO ANSW",
            "<<no_answer",
            "<<NOANS",
        ),
    ],
)
def test_a_marker_that_the_end_cuts_short_is_left_out(tail: str) -> None:
    assert joined(parse(f"in use {tail}")) == ["in use "]
    assert joined(parse("in use ", *tail)) == ["in use "]


@pytest.mark.parametrize("sentinel", ["<<NO ANSWER>>", "<<no_answer>>", "<< No Answer >>", "<<NOANSWER>>"])
def test_the_sentinel(sentinel: str) -> None:
    assert joined(parse(*f"{sentinel} It is not said.")) == [Marker(sentinel, no_answer=True), " It is not said."]


PIECES = st.sampled_from(
    [
        *("<<SOURCE 1.2>>", "<<SOURCE 99>>", "<<source 1-2; 3.4>>", "<<SOURCE x>>", "<<SOURCE 3", "<<NO ANSWER>>"),
        *("<<", "<", ">", ">>", "text ", "\n", "1.2", "SOURCE", " "),
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join), st.data())
def test_how_the_text_is_split_never_matters(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    whole = joined(parse(text))
    assert joined(parse(*pieces)) == whole
    out = "".join(item if isinstance(item, str) else item.raw for item in whole)
    assert text.startswith(out)
    assert out == text or text[len(out)] == "<", "only a marker that was begun is left out"


def test_numbers_follow_first_use_and_a_span_keeps_its_number() -> None:
    citer = Citer(sources(PROSE, DIVIDENDS), document)
    first, _ = citer.resolve(marker("<<SOURCE 2.2>>"))
    second, _ = citer.resolve(marker("<<SOURCE 1.2>>"))
    third, _ = citer.resolve(marker("<<SOURCE 2.2, 1.3>>"))
    assert [[c.n for c in cited] for cited in (first, second, third)] == [[1], [2], [1, 3]]
    assert [c.n for c in citer.citations] == [1, 2, 3]


def test_a_sentence_and_its_place() -> None:
    citer = Citer(sources(DIVIDENDS), document)
    (citation,), dropped = citer.resolve(marker("<<SOURCE 1.2>>"))
    quote = "The Board of Directors declared dividends of $1.745 per share on June 14, 2023."
    assert dropped == []
    assert (citation.start, citation.end) == find(REPORT, quote)
    assert citation.quote == quote
    assert (citation.page, citation.page_label) == (2, "12")
    assert citation.section == ("Dividends",)
    assert citation.boxes == REPORT.boxes(citation.start, citation.end)
    assert (citation.source, citation.units, citation.head_boxes, citation.label) == (1, (2, 2), (), "")


def test_a_cell_knows_its_headers() -> None:
    made = sources(TABLE)
    number = next(i for i, u in enumerate(made[0].units, 1) if REPORT.text[u.start : u.end] == "56,940")
    (citation,), _ = Citer(made, document).resolve(marker(f"<<SOURCE 1.{number}>>"))
    assert citation.quote == "56,940"
    assert citation.label == "Revenues · 2022"
    heads = [REPORT.boxes(*find(REPORT, "Revenues | 2023")[:1], find(REPORT, "Revenues | 2023")[0] + 8)]
    assert citation.head_boxes[0] == heads[0][0]
    assert len(citation.head_boxes) == 2


def test_a_row_range_spans_its_cells_and_is_called_by_its_row() -> None:
    made = sources(TABLE)
    first = next(i for i, u in enumerate(made[0].units, 1) if REPORT.text[u.start : u.end] == "Revenues")
    (citation,), _ = Citer(made, document).resolve(marker(f"<<SOURCE 1.{first}-{first + 2}>>"))
    assert citation.quote == "Revenues | 2023: 62,418 | 2022: 56,940"
    assert (citation.label, citation.units) == ("Revenues", (first, first + 2))


@pytest.mark.parametrize("bad", ["9", "1.99", "0", "1.0", "1.2-1.99", "0.1"])
def test_what_was_not_given_is_dropped_as_written(bad: str) -> None:
    cited, dropped = Citer(sources(PROSE), document).resolve(marker(f"<<SOURCE {bad}>>"))
    assert (cited, dropped) == ([], [f"<<SOURCE {bad}>>"])


def test_the_good_part_of_a_list_is_kept() -> None:
    citer = Citer(sources(PROSE), document)
    cited, dropped = citer.resolve(marker("<<SOURCE 1.2, 7.1>>"))
    assert [c.units for c in cited] == [(2, 2)]
    assert dropped == ["<<SOURCE 7.1>>"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.integers(0, 30)), max_size=20))
def test_every_citation_is_its_document(places: list[tuple[int, int, int]]) -> None:
    made = sources(PROSE, TABLE, DIVIDENDS)
    citer = Citer(made, document)
    for number, first, last in places:
        citer.resolve(marker(f"<<SOURCE {number}.{first}-{last}>>"))
    for n, citation in enumerate(citer.citations, start=1):
        doc = document(citation.doc_id)
        assert citation.n == n
        assert citation.quote == doc.text[citation.start : citation.end]
        assert citation.boxes == doc.boxes(citation.start, citation.end)
        assert citation.page == doc.page_at(citation.start, citation.end)
        source = made[citation.source - 1]
        assert source.start <= citation.start < citation.end <= source.end
    assert OTHER.doc_id not in {c.doc_id for c in citer.citations}
