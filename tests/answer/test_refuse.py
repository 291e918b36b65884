from __future__ import annotations

from dataclasses import replace

import pytest

from ragcore.answer.cite import Marker
from ragcore.answer.refuse import Mentions, nearest_units, reason_to_refuse, refusal
from ragcore.answer.sources import build_sources
from ragcore.offline.question import RuleAnalyser
from ragcore.text.terms import Term
from ragcore.types import Document, Retrieval, Route, Scope, Segment, Source
from tests.answer.samples import DIVIDENDS, IND, PROSE, REPORT, SETTINGS, TABLE, retrieval, sources
from tests.documents import Grid, Heading, Item, make_document

ANALYSER = RuleAnalyser()
read = ANALYSER.read


def scored(rerank: float, *segments: Segment) -> tuple[Source, ...]:
    return tuple(replace(source, score=rerank) for source in sources(*segments))


def reason(query: str, *, rerank: float, reranked: bool = True) -> str:
    found = retrieval(query, [PROSE, TABLE], rerank=rerank)
    if not reranked:
        found = replace(found, hits=tuple(replace(hit, scores={}) for hit in found.hits))
    return reason_to_refuse(read(query), found, scored(rerank, PROSE, TABLE))


@pytest.mark.parametrize(
    ("query", "rerank"),
    [
        ("How much did revenues rise in fiscal 2023?", 0.9),
        ("How much did revenues rise in fiscal 2023?", 0.001),
        ("What was the gross margin?", 0.0),
        ("How did turnover develop?", 0.6),
        ("Why?", 0.0),
    ],
)
def test_what_may_be_answered_is_not_refused(query: str, rerank: float) -> None:
    assert reason(query, rerank=rerank) == ""


CAPEX = Term("capex", ("capital expenditures", "dividends"))


def test_another_name_of_a_term_is_a_word_of_the_question() -> None:
    found = retrieval("What was the capex?", [DIVIDENDS], rerank=0.0)
    given = scored(0.0, DIVIDENDS)
    assert reason_to_refuse(read("What was the capex?"), found, given)
    assert not reason_to_refuse(read("What was the capex?"), found, given, terms=(CAPEX,))
    text = "".join(str(part) for part in refusal("", read("What was the capex?"), given, terms=(CAPEX,)))
    assert "also for “capital expenditures”, “dividends”;" in text
    assert "Not in" not in text


def test_instructions_are_no_words_that_must_be_there() -> None:
    query = "You are an analyst with no internet. What were revenues? Round your answer to two decimal places, please."
    assert reason(query, rerank=0.001) == ""


def nowhere(_: str) -> dict[str, int]:
    return {}


def everywhere(_: str) -> dict[str, int]:
    return {REPORT.doc_id: 9}


def test_a_name_that_stands_in_no_document_is_refused() -> None:
    query = "What were the revenues of Boeing in fiscal 2023?"
    found, given = retrieval(query, [PROSE], rerank=0.999), scored(0.999, PROSE)

    def why(mentions: Mentions | None, found: Retrieval = found) -> str:
        return reason_to_refuse(read(query), found, given, mentions=mentions)

    about = "Nothing in your documents mentions “Boeing”."
    assert why(nowhere) == f"The documents do not answer this question. {about}"
    assert why(everywhere) == ""
    assert why(None) == ""
    # The question names the document by that name.
    assert why(nowhere, replace(found, routes=(Route(REPORT.doc_id, 1.0, "Boeing"),))) == ""


@pytest.mark.parametrize(
    "query",
    [
        "What was IBM's net income?",
        "3M revenues in fiscal 2023?",
        "Apple’s revenues in fiscal 2023?",
        "What were the revenues of eBay in fiscal 2023?",
        "Did AMD raise its revenues?",
        "Compare the revenues of 3M with those of IBM",
    ],
)
def test_one_whom_no_document_is_about_is_noticed_however_it_is_written(query: str) -> None:
    found = retrieval(query, [PROSE, TABLE], rerank=0.99)
    reason = reason_to_refuse(read(query), found, sources(PROSE, TABLE), mentions=nowhere)
    assert "Nothing in your documents mentions " in reason


def test_a_common_word_is_a_name_where_it_owns_something() -> None:
    query = "What were Target's sales last year?"
    aims = make_document("Our sales target of the year is 4%. Sales reached the target.")
    seller = make_document("We sell to Walmart and Target in the year. Sales reached the target.")
    found = retrieval(query, [PROSE], rerank=0.99)

    def why(doc: Document) -> str:
        return reason_to_refuse(read(query), found, (whole(doc),), mentions=everywhere, document=lambda _: doc)

    assert "mentions “Target”" in why(aims)
    assert why(seller) == ""


@pytest.mark.parametrize(
    "query",
    [
        "What was GTI's revenue?",  # short for a name that is there
        "What was GLE's revenue?",  # the beginning of it
        "What are Glimmr's sales?",  # a brand
        "What did Nordlund’s subsidiary Velta earn?",
        "Is BMX-1147 safe?",
        "Company's revenue?",
        "Management's view?",
        "What was the EBITDA and the revenue of GTI in the UK?",
    ],
)
def test_who_is_in_the_documents_by_any_name_is_not_refused(query: str) -> None:
    doc = make_document(
        "Glenwood Tile Industries sells under the brand Glimmr. The company's revenue rose. Nordlund and "
        "its subsidiary Velta are customers. BMX-1147 is a drug. Management's view is set out here."
    )
    found = retrieval(query, [PROSE], rerank=0.3)
    assert not reason_to_refuse(read(query), found, (replace(whole(doc), score=0.3),), mentions=nowhere)


def test_of_two_that_are_compared_one_is_answered() -> None:
    query = "Compare the revenues of Nordlund with those of IBM"
    doc = make_document("Revenues of Nordlund rose 10% to $62.4 billion.")
    found = retrieval(query, [PROSE], rerank=0.1)
    assert not reason_to_refuse(read(query), found, (whole(doc),), mentions=nowhere)


ENGLISH = make_document(
    "The company had 4,200 employees at the end of the year. They are in lot QX-77 of the plant.",
    "It was founded by two of them.",
)


def why_offline(query: str, doc: Document = ENGLISH, *, extractive: bool = True) -> str:
    found = retrieval(query, [PROSE], rerank=0.001)
    return reason_to_refuse(read(query), found, (whole(doc),), mentions=everywhere, extractive=extractive)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Wie viele Mitarbeiter hatte das Unternehmen am Ende des Jahres?", "German"),
        ("Combien de salariés l'entreprise avait-elle ?", "French"),
        ("¿Cuántos empleados tiene la empresa?", "Spanish"),
        ("Сколько сотрудников в компании?", "a language in Cyrillic script"),
    ],
)
def test_a_question_in_another_language_is_refused_offline_only(query: str, language: str) -> None:
    reason = why_offline(query)
    assert f"The question is in {language}, and what was searched is in English." in reason
    assert "Claude can answer across languages." in reason
    assert why_offline(query, extractive=False) == ""


def test_what_is_written_alike_in_all_languages_is_found() -> None:
    assert why_offline("Was ist mit der Charge QX-77 in dem Werk?") == ""


def test_a_question_in_the_language_of_the_documents_is_answered() -> None:
    german = make_document("Das Unternehmen hatte am Ende des Jahres 4.200 Mitarbeiter, und sie sind in dem Werk.")
    assert why_offline("Wie viele Mitarbeiter hatte das Unternehmen?", german) == ""
    assert "is in German" in why_offline("How many of them were there at the end of it?", german)


def test_mentions_outside_the_scope_do_not_count() -> None:
    query = "What were the revenues of Boeing?"
    found = replace(retrieval(query, [PROSE], rerank=0.4), scope=Scope(("another",)))
    assert "Boeing" in reason_to_refuse(read(query), found, sources(PROSE), mentions=everywhere)


def test_the_refusal_says_which_words_are_missing() -> None:
    text = "".join(str(part) for part in refusal("", read("Which volcano raised revenues?"), sources(PROSE)))
    assert "Not in it: “volcano”, “raised”." in text


def test_what_is_far_by_relevance_and_words_is_refused() -> None:
    assert reason("Which volcano buried the city of Pompeii?", rerank=0.0)


def test_without_a_reranker_only_words_that_are_nowhere_refuse() -> None:
    assert reason("Which volcano buried Pompeii?", rerank=0.0, reranked=False)
    assert not reason("Which volcano raised revenues?", rerank=0.0, reranked=False)


def whole(doc: Document) -> Source:
    """All of a document as one source."""
    everything = Segment(doc.doc_id, 0, len(doc.text), 0, 0, 1.0)
    (source,) = build_sources(replace(retrieval("q", []), segments=(everything,)), lambda _: doc, SETTINGS.answer)
    return source


def test_nothing_found_is_refused() -> None:
    reason = reason_to_refuse(read("Anything?"), retrieval("Anything?", []), ())
    assert refusal(reason, read("Anything?"), ()) == [
        "The documents do not answer this question. No passage was found.\n\nSearched for: “Anything?”."
    ]


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (Scope(("a", "b", "c"), ((20, 25),)), "Nothing found on pages 20–25."),
        (Scope(("a",), ((7, 7),)), "Nothing found on page 7."),
        (Scope(None, (), ("figure",)), "Nothing found among figures."),
        (Scope(("a", "b"), (), ("table", "figure")), "Nothing found among tables and figures."),
        (Scope(None, ((1, 2), (9, 9)), ("table",)), "Nothing found on pages 1–2 and 9 among tables."),
    ],
)
def test_a_filter_that_left_nothing_to_search_is_said(scope: Scope, said: str) -> None:
    found = replace(retrieval("Anything?", []), scope=scope)
    (text,) = refusal(reason_to_refuse(read("Anything?"), found, ()), read("Anything?"), ())
    assert text == f"{said} Widen the scope, or add a document.\n\nSearched for: “Anything?”."


def test_the_refusal_names_what_was_searched_and_cites_the_nearest() -> None:
    parts = refusal("", read("Who pays dividends on shares?"), sources(IND, DIVIDENDS, PROSE))
    assert "read 3 passages of 21 CFR 312 and Sample 10-K." in str(parts[0])
    markers = [part for part in parts if isinstance(part, Marker)]
    assert len(markers) == 2  # of what has a word of the question
    assert all(len(marker.parts) == 1 for marker in markers)


def test_passages_that_were_joined_are_counted_as_they_were_found() -> None:
    (one,) = sources(DIVIDENDS)
    text = "".join(str(part) for part in refusal("", read("Which volcano declared a dividend?"), (one,), found=15))
    assert "read 15 passages of" in text
    assert "Not in them: “volcano”" in text
    only = whole(make_document("The Board of Directors declared a dividend of two dollars."))
    text = "".join(str(part) for part in refusal("", read("Which volcano declared a dividend?"), (only,)))
    assert "read 1 passage of" in text
    assert "The nearest passage:" in text


def test_foreign_text_in_a_refusal_is_plain_text() -> None:
    source = whole(make_document("The *board* saw [1] and <<SOURCE 1>> in its revenue.", title="A **bold** `title`"))
    parts = refusal("", read("<<SOURCE 1>> <script>\n\n# **bold** What is revenue?"), (source,))
    text, marker = parts
    assert isinstance(text, str)
    assert isinstance(marker, Marker)
    assert [(part.source, part.first, part.last) for part in marker.parts] == [(1, 1, 1)]
    assert r"Searched for “\<\<SOURCE 1>> \<script> # \*\*bold\*\* What is revenue?”" in text
    assert r"of A \*\*bold\*\* \`title\`." in text
    assert text.endswith(r"- “The \*board\* saw \[1\] and \<\<SOURCE 1>> in its revenue.” ")


def test_the_nearest_sentence_of_each_source() -> None:
    nearest = nearest_units("When were dividends declared by the Board?", sources(DIVIDENDS, IND))
    assert nearest[0][:3] == (1, 2, 2)
    assert nearest[0][3].startswith("“The Board of Directors declared")


def test_headings_and_fragments_are_not_offered() -> None:
    doc = make_document(
        Heading("Employees by site"),
        "E",
        "Management’s Discussion and Analysis of Financial Condition and Results of Operations",
        Item("• Employees by site . . . . . . . . . . 12"),
        Grid("Contents", [["", "Page"], ["Employees by site", "12"]]),
    )
    assert nearest_units("How many employees are there by site?", (whole(doc),)) == []
    text = refusal("", read("How many employees are there by site?"), (whole(doc),))
    assert "nearest" not in "".join(str(part) for part in text)


def test_a_table_offers_its_nearest_row_and_cites_all_of_it() -> None:
    doc = make_document(
        Heading("Employees by site"),
        Grid("People", [["", "2023", "2022"], ["Oslo", "40", "38"], ["Employees", "9", "8"]]),
    )
    ((number, first, last, quote),) = nearest_units("How many employees were there?", (whole(doc),))
    source = whole(doc)
    span = source.text[source.units[first - 1].start - source.start : source.units[last - 1].end - source.start]
    assert (number, span) == (1, "Employees | 2023: 9 | 2022: 8")
    assert quote == "Employees — 2023: 9; 2022: 8"
    text = "".join(str(part) for part in refusal("", read("How many employees were there?"), (whole(doc),)))
    assert "\n- Employees — 2023: 9; 2022: 8 " in text


def test_the_entries_of_a_reference_list_are_offered_last() -> None:
    doc = make_document(
        "Zinc was given to twelve herds.",
        Heading("7. References"),
        Item("1. Orrin T. Zinc and the hoof disease of cattle: an overview. Herd 2004;3:11–19."),
    )
    query = "Does zinc help against hoof disease?"
    assert nearest_units(query, (whole(doc),))[0][3] == "“Zinc was given to twelve herds.”"
    assert "Orrin" in nearest_units(f"{query} Give references.", (whole(doc),))[0][3]


def test_of_many_documents_the_number_is_given() -> None:
    found = [replace(whole(make_document("A dividend.", title=f"Title {n}")), doc_id=str(n)) for n in range(3)]
    text = "".join(str(part) for part in refusal("", read("Which volcano declared a dividend?"), found))
    assert "read 3 passages of 3 documents." in text


def test_the_samples_table_offers_rows_too() -> None:
    ((_, first, last, quote),) = nearest_units("What was the net income?", sources(TABLE))
    assert last - first == 2
    assert quote == "Net income (loss) — 2023: 4,180; 2022: (7,052)"
