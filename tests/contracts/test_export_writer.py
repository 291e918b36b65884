"""What every writer of `ragcore.export` does."""

from __future__ import annotations

import re
import time

import pytest

from ragcore.config.settings import load
from ragcore.export import KINDS, Kind, Writer, kind, writer
from ragcore.export.manuscripts import of_conversation, page_of
from ragcore.export.markdown import Insert, parse
from ragcore.export.tree import Manuscript, Node, Nodes, Note, heading, node, paragraph, plain, rows
from ragcore.index.conversations import StoredTurn
from ragcore.text.markdown import CellRow, cell_table
from tests.export import samples
from tests.export.reading import READERS, squeezed

SETTINGS = load(environ={})[0].export


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest) -> Kind:
    return kind(request.param, KINDS)


@pytest.fixture
def write(name: Kind) -> Writer:
    return writer(name)


def words_of(name: Kind, data: bytes) -> str:
    return squeezed(READERS[name](data).words)


def simple(*blocks: Node, notes: tuple[Note, ...] = (), title: str = "T") -> Manuscript:
    return Manuscript(title, list(blocks), notes)


def marked(text: str) -> Nodes:
    """Every ``[n]`` a reference."""
    marks = re.finditer(r"\[(\d+)\]", text)
    return parse(text, [Insert(match.start(), match.end(), [node("Ref", int(match[1]))]) for match in marks])


class TestWriter:
    def test_a_table_of_cells_is_printed_with_its_citations(self, name: Kind, write: Writer) -> None:
        cells = [
            CellRow("Net sales", "", "2023", "$ 5,110", "in millions", "[1]"),
            CellRow("Net sales", "", "2022", "(4,910)", "in millions", "[2]"),
        ]
        text = f"Net sales: **$ 5,110** (2023) [1]\n\n{cell_table(cells)}\n> “Sales rose.” [2]\n"
        given = samples.answer(text, [samples.citation(1), samples.citation(2)], extractive=True)
        talk = of_conversation("T", [samples.exchange("q", given)], {}, quote_length=samples.QUOTE)
        (table,) = [block for block in talk.blocks if block["t"] == "Table"]
        assert [plain(cell).strip() for cell in rows(table)[1]] == ["Net sales", "2023", "$ 5,110", "in millions"]
        words = words_of(name, write(talk, SETTINGS))
        for said in ("Row", "Period", "Value", "Unit", "(4,910)", "Sales rose."):
            assert squeezed(said) in words

    def test_every_question_and_word_on_an_answer_is_there(self, name: Kind, write: Writer) -> None:
        words = words_of(name, write(samples.rich(), SETTINGS))
        for said in (
            "Capital spending of 3M",
            "1. What did it spend in 2018?",
            "And in <2019> & later? *Really*?",
            "Long: " + "why and how much " * 20 + "?",
            "Searched for: “What did 3M spend on property in 2018?”",
            "Written by claude-sonnet-4-6",
            "Quotes from your documents.",
            "No answer found in your documents.",
            "Stopped before the end.",
            "Failed before the end. The service is overloaded. Try again.",
            "No answer: it",
            "1 citation without a valid source was removed.",
            "Two claims were not read by the judge.",
            "[weak]",
            "[unsupported]",
            "21 September 2026",
            "Documents cited",
            "(3M_2018_10K.pdf), pp. 38, 41",
            "(other.pdf), pp. vii, 38",
            "no longer in the library",
        ):
            assert squeezed(said) in words, said

    def test_the_answer_s_own_markup_is_its_look_and_the_rest_its_words(self, name: Kind, write: Writer) -> None:
        words = words_of(name, write(samples.rich(), SETTINGS))
        for said in (
            "Health <Care>",
            "a | b",
            "in 2 < 3 cases & so on.",
            "They fell again",
            "Last: 5 * 3 = 15, a_b_c, #hash, 1. not a list, $5 and $6 [9] <script>alert(1)</script>.",
            'print("&amp;")',
            "“[1] were $1,577 million”",
            "“两亿元人民币”",
        ):
            assert squeezed(said) in words, said

    def test_every_citation_s_document_page_and_quote_is_there(self, name: Kind, write: Writer) -> None:
        made = samples.rich()
        words = words_of(name, write(made, SETTINGS))
        assert len(made.notes) == 10
        for note in made.notes:
            title, quote = note.citation.title, note.citation.quote
            if title.isascii() or name != "pdf":  # right-to-left words: the test below
                assert squeezed(f"{title}, {page_of(note)}") in words
            assert squeezed(quote) in words or (name == "pdf" and not quote.isascii())
        assert squeezed("p. vii (page 7 of the file)") in words
        assert squeezed("Description of a figure by AI") in words
        assert squeezed("Read by OCR with 87% confidence.") in words
        assert squeezed("Checked: weak. The year 2017 is not in the cited words.") in words
        assert squeezed("资本支出为两亿元人民币。") in words

    def test_references_stand_in_order_and_repeat_where_a_citation_does(self, name: Kind, write: Writer) -> None:
        found = READERS[name](write(samples.rich(), SETTINGS))
        assert found.references == [1, 2, 1, 3, 4, 2, 5, 5, 1, 6, 7, 8, 9, 10]

    def test_words_from_right_to_left_are_all_there(self, name: Kind, write: Writer) -> None:
        words = READERS[name](write(samples.rich(), SETTINGS)).words
        for word in ["המכירות", "עלו", "לעומת", "דוח", "שנתי", "כמה"]:
            assert word in words

    def test_the_same_manuscript_gives_the_same_bytes(self, write: Writer) -> None:
        assert write(samples.rich(), SETTINGS) == write(samples.rich(), SETTINGS)

    def test_nothing_asked_is_a_whole_file_that_says_so(self, name: Kind, write: Writer) -> None:
        words = words_of(name, write(samples.made(title=""), SETTINGS))
        assert squeezed("Conversation This conversation has no questions.") in words

    def test_characters_that_a_format_cannot_hold_are_gone_and_the_rest_is_there(
        self, name: Kind, write: Writer
    ) -> None:
        hostile = "a\x00b\x0bc\ud800d\ufffee\x1ff ]]> &#0; &lt;i&gt; \\ ` | ~ \u200f \U0001d465"
        cited = samples.citation(1, hostile, title=hostile, page_label="\x0c")
        given = samples.answer(f"Said {hostile} [1].", (cited,))
        made = samples.made(samples.exchange(f"Q{hostile}", given), title=hostile, files={"d1": hostile})
        words = words_of(name, write(made, SETTINGS))
        assert words.count(squeezed("e\u200bf ]]> &#0; &lt;i&gt; \\ ` | ~".replace("\u200b", ""))) >= 5
        assert "p.40" in words

    def test_very_long_words_stay_on_the_page(self, name: Kind, write: Writer) -> None:
        long = "x" * 3000
        given = samples.answer(f"{long} [1]\n\n| {long} | b |\n|---|---|\n| c | {long} |", (samples.citation(1, long),))
        words = words_of(name, write(samples.made(samples.exchange(long, given)), SETTINGS))
        assert words.count("x" * 3000) >= 2 or words.count("x") > 9000

    @pytest.mark.parametrize("columns", [2, 12])
    def test_a_cell_higher_than_a_page_takes_nothing_with_it(self, name: Kind, write: Writer, columns: int) -> None:
        long = f"Many [1] **{' '.join(f'w{i}' for i in range(1500))}**"
        row = "| " + " | ".join([long, "x" * 2500, *(f"c{i}" for i in range(2, columns))]) + " |\n"
        made = simple(
            *marked(row + "|---" * columns + "|\n" + row),
            heading(1, "After it"),
            node("Notes", [1]),
            notes=(samples.note(1),),
        )
        words = words_of(name, write(made, SETTINGS))
        assert words.count("w1499") == 2
        assert words.count("x") == 5000
        assert "Afterit" in words
        assert "Quotedwords" in words

    def test_lists_quotes_code_and_tables_in_one_another(self, name: Kind, write: Writer) -> None:
        text = (
            "- one\n\n  3. deep\n\n     ```\n     a\n       b\n     ```\n\n     > quoted\\\n     > on\n\n  4.\n\n"
            "- | **h\\|1** |  |\n  |---|---:|\n  | [1] | c |\n\n* another list\n\n"
            "> - in a quote\n>\n> > | only | row |\n> > |---|---|\n\n---\n\n###### Low"
        )
        made = simple(heading(1, "Part #"), *marked(text), notes=(samples.note(1),))
        found = READERS[name](write(made, SETTINGS))
        words = squeezed(found.words)
        for said in ("Part #", "one", "deep", "quotedon", "h|1", "only", "another list", "in a quote", "Low"):
            assert squeezed(said) in words, said
        assert found.references == [1]
        assert squeezed("Doc, p. 2: “Quoted words”") in words, "a note that no part lists stands at the end"

    @pytest.mark.slow
    def test_time_grows_with_turns_not_faster(self, name: Kind, write: Writer) -> None:
        def turn(place: int) -> StoredTurn:
            cited = [samples.citation(n, f"Quote {place}.{n}. " + "lorem ipsum dolor " * 15) for n in range(1, 9)]
            return samples.exchange(f"Question {place}?", samples.answer(samples.RICH + "[6] [7] [8]", cited), place)

        def written(turns: int) -> tuple[float, bytes]:
            started = time.process_time()
            data = write(samples.made(*map(turn, range(turns))), SETTINGS)
            return time.process_time() - started, data

        # The least of three: what else a process does only adds to it.
        (short, _), (long, data) = (min(written(turns) for _ in range(3)) for turns in (15, 60))
        assert long < 8 * short  # 3 to 6 times; 16 where each turn reads all
        words = words_of(name, data)
        for place in (0, 29, 59):
            assert f"Question{place}?" in words
            assert all(f"Quote{place}.{n}." in words for n in range(1, 9))


@pytest.mark.parametrize("sign", ["> ", "- ", "1. ", "> - "])
@pytest.mark.parametrize("depth", [3, 6])
def test_nothing_is_lost_that_stands_in_lists_and_quotes(name: Kind, write: Writer, sign: str, depth: int) -> None:
    assert "Zebras" in words_of(name, write(simple(*parse(sign * depth + "Zebras")), SETTINGS))
    indented = "\n".join("  " * level + "- a" for level in range(depth)) + "\n" + "  " * depth + "- Zebras"
    assert "Zebras" in words_of(name, write(simple(*parse(indented)), SETTINGS))


def test_a_title_may_be_of_any_length(write: Writer) -> None:
    assert write(simple(paragraph("x"), title="T" * 2000), SETTINGS)
