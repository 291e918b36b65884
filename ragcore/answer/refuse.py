"""Refusals: when the documents do not contain the answer, and the text that says so.

Hard evidence refuses before a writer is asked: nothing was found, or what the question is about is named nowhere in the
scope. Whether passages that were found answer it the writer judges: a model as it reads them, one that only quotes by
its ranking (`ragcore.offline.answerable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragcore.answer.cite import Marker, Part
from ragcore.text import lexicon as lex
from ragcore.text.languages import language_of
from ragcore.text.markdown import escape, quoted
from ragcore.text.names import full_text, is_only_a_word, is_period, lists_works, named, unnamed, words_lacking
from ragcore.text.numbers import plural
from ragcore.text.sentences import DOT_LEADERS, PAGE_COLUMN, says_something
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens
from ragcore.types import Document, Retrieval, Scope, Source
from ragcore.types.question import Name, Question
from ragcore.types.scope import nothing_found
from ragcore.types.table_labels import LABEL_SEPARATOR, TITLE_SEPARATOR

Mentions = Callable[[str], Mapping[str, int]]

NEAREST = 3
_RELEVANT = 0.1  # rerank score of a passage from which it need share no word with the question
_UNANSWERED = "The documents do not answer this question."
_LONGEST_QUOTE = 280
_LONGEST_QUERY = 160
_MOST_LACKING = 5
_MOST_TITLES = 2
_MOST_TERMS = 4


def reason_to_refuse(
    question: Question,
    retrieval: Retrieval,
    sources: Sequence[Source],
    *,
    terms: Sequence[Term] = (),
    mentions: Mentions | None = None,
    document: Callable[[str], Document] | None = None,
    extractive: bool = False,
) -> str:
    """Opening of a refusal with the reason why the sources cannot contain an answer to ``question``, or "" if they may.

    It is refused without sources; if its subject is named in no passage found and, by ``mentions`` (as
    `SparseIndex.mentions`), in no document in scope; and if no source has any of its words, and none is relevant or
    there are no rerank scores.

    If the sources are in another language, their words are no evidence. A writer that only quotes (``extractive``) then
    refuses, unless a source contains a language-independent word of the question (a number, a name or an identifier);
    other writers read the sources. ``document`` gives a whole document, to look up a name that is also a common
    word.
    """
    if not sources:
        scope = retrieval.scope
        # BM25 alone may find nothing although the scope has passages.
        if scope.narrowed and not retrieval.hits and retrieval.mode != "bm25":
            return f"{escape(nothing_found(scope))} Widen the scope, or add a document."
        return f"{_UNANSWERED} No passage was found."
    names = named(question.names, terms)
    routed = any(route.name for route in retrieval.routes)
    nowhere = [] if routed else _named_nowhere(names, sources, retrieval, mentions, document)
    # Of two compared subjects, one can be described.
    about = [name for name in names if name not in nowhere and (name.owner or question.compares)]
    if any(name.owner for name in nowhere) and not about:
        where = "your documents" if retrieval.scope == Scope() else "the current scope"
        return f"{_UNANSWERED} Nothing in {where} mentions {_quoted([name.text for name in nowhere])}."
    foreign = in_another_language("question", question.language, sources)
    if foreign:
        return f"{_UNANSWERED} {foreign}" if extractive and not literals(question, sources) else ""
    # The opening of a document says what it is about, whatever its words.
    wanted = Wanted(question.judged, terms)
    if question.whole or question.task or not wanted.words:
        return ""
    if any(hit.scores.get("rerank", 0.0) >= _RELEVANT for hit in retrieval.hits):
        return ""
    if any(wanted.held(frozenset(content_stems(full_text(source)))) for source in sources):
        return ""
    return f"{_UNANSWERED} The passages nearest to it share no word with it."


def _named_nowhere(
    names: Sequence[Name],
    sources: Sequence[Source],
    retrieval: Retrieval,
    mentions: Mentions | None,
    document: Callable[[str], Document] | None,
) -> list[Name]:
    """Names of ``names`` in no source and, according to ``mentions``, in no document in scope."""
    if mentions is None:
        return []
    inside = retrieval.scope.doc_ids
    out = []
    for name in unnamed(names, sources):
        holders = {doc_id for form in (name.text, name.text.lower()) for doc_id in mentions(form)}
        there = bool(holders if inside is None else holders & set(inside))
        if there and name.common and document is not None:
            there = not is_only_a_word(name.text, [document(one).text for one in {source.doc_id for source in sources}])
        if not there:
            out.append(name)
    return out


def in_another_language(what: str, spoken: str, sources: Sequence[Source]) -> str:
    """Reason why ``what``, in the language ``spoken`` ("" if unknown), is not answered offline from ``sources``; "" if
    some of them are in that language."""
    spoken_there = dict.fromkeys(language_of(source.text) for source in sources) if spoken else {}
    written = [name for name in spoken_there if name]
    if not written or spoken in written:
        return ""
    return (
        f"The {what} is in {spoken}, and what was searched is in {' and '.join(written)}. Offline, the search works in "
        "the documents’ own language only; Claude can answer across languages."
    )


def literals(question: Question, sources: Sequence[Source]) -> list[str]:
    """Language-independent words of ``question`` found in some of the sources, but not in most: numbers other than
    years, names and identifiers."""
    numbers = [word for word in tokens(question.main) if word[0].isdigit() and not is_period(word)]
    written = [set(tokens(source.text)) for source in sources]
    titles = {word for source in sources for word in tokens(source.title)}
    found = []
    for text in dict.fromkeys((*(name.text for name in question.names), *numbers)):
        words = set(tokens(text))
        holders = sum(words <= given for given in written)
        if words and not words <= titles and 0 < holders <= max(1, len(written) // 2):
            found.append(text)
    return found


def refusal(
    reason: str,
    question: Question,
    sources: Sequence[Source],
    *,
    terms: Sequence[Term] = (),
    written: str = "",
    cited: bool = False,
    found: int = 0,
) -> list[str | Marker]:
    """Refusal as Markdown and markers: ``reason`` (of `reason_to_refuse`, "" for none), what was searched, the
    question's words missing from the passages, and the nearest passages, cited.

    Words of the question and of the documents are escaped; only a `Marker` cites. ``written`` is the writer's text so
    far, which replaces the opening; ``cited`` omits the nearest passages, since the writer has cited some. ``found`` is
    the number of passages found, which exceeds the number of sources if neighbours were joined.
    """
    asked = escape(_shortened(question.text, _LONGEST_QUERY))
    opening = "" if written else f"{reason or _UNANSWERED}\n\n"
    if not sources:
        return [f"{opening}Searched for: “{asked}”."]
    titles = short_titles({source.doc_id: source.title for source in sources})
    many = len(titles) > _MOST_TITLES
    where = plural(len(titles), "document") if many else " and ".join(map(escape, titles.values()))
    count = max(found, len(sources))
    others = list(dict.fromkeys(other for term in terms for other in term.others if content_stems(other)))[:_MOST_TERMS]
    also = f", also for {_quoted(others)}" if others else ""
    stop = "" if where.endswith("…") else "."
    text = f"{opening}Searched for “{asked}”{also}; read {plural(count, 'passage')} of {where}{stop}"
    lacking = [word for word in words_lacking(question.main, sources, terms) if word not in f"{reason}{written}"]
    if lacking:
        text += f" Not in {'it' if count == 1 else 'them'}: {_quoted(lacking[:_MOST_LACKING])}."
    nearest = [] if cited else nearest_units(question.text, sources, terms)
    if nearest:
        text += f"\n\nThe nearest {'passage' if len(nearest) == 1 else 'passages'}:\n"
    parts: list[str | Marker] = []
    for number, first, last, quote in nearest:
        place = Part(number, first, last, f"<<SOURCE {number}.{first}-{number}.{last}>>")
        parts += [f"{text}\n- {escape(quote)} ", Marker(place.raw, (place,))]
        text = ""
    return parts or [text]


def nearest_units(query: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[tuple[int, int, int, str]]:
    """``(source number, first unit, last unit, quote)`` of the sentence or table row nearest to the query in each of
    the first few sources, then of other ones, and of lists of cited works last. A unit needs a word of the query;
    headings, fragments and lines of contents are excluded."""
    wanted = Wanted(query, terms)
    asks_for_works = not lex.ASKING_FOR_WORKS.isdisjoint(tokens(query))
    near: list[tuple[int, float, tuple[int, int, int, str]]] = []
    for source in sources:
        lines = [line for line in _quotable_lines(source) if not source.units[line[0] - 1].heading]
        units = [(source.number, *line, source.words(*line)) for line in lines]
        cited = [not asks_for_works and lists_works(source, first) for _, first, *_ in units]
        shares = [wanted.cover(set(content_stems(text))) for *_, text in units]
        covered = sorted(((last, -share, unit) for last, share, unit in zip(cited, shares, units) if share > 0.0))
        near += [(2 if last else place > 0, share, unit) for place, (last, share, unit) in enumerate(covered)]
        if sum(not later for later, *_ in near) == NEAREST:
            break
    # The best of each source in the order of the sources, then others by their words.
    near.sort(key=lambda each: (each[0], each[1] if each[0] else 0.0))
    read = {source.number: source for source in sources}
    return [(*unit[:3], _shown(read[unit[0]], *unit[1:])) for _, _, unit in near[:NEAREST]]


def _shown(source: Source, first: int, last: int, text: str) -> str:
    """Sentence in quotation marks, or a row in words: ``header — column: value; column: value``."""
    if source.units[first - 1].kind != "cell":
        return quoted(_shortened(text, _LONGEST_QUOTE))
    labels = {number: source.units[number - 1].label for number in range(first, last + 1)}
    headed = not all(labels.values())
    name, cells = "", list[str]()
    for number, label in labels.items():
        if label:
            name, _, column = label.partition(LABEL_SEPARATOR) if headed else ("", "", label)
            column = column.replace(LABEL_SEPARATOR, ", ")
            cells.append(": ".join(filter(None, (column, source.words(number, number)))))
    return _shortened(TITLE_SEPARATOR.join(filter(None, (name, "; ".join(cells)))), _LONGEST_QUOTE)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{escape(word)}”" for word in words)


def _quotable_lines(source: Source) -> Iterator[tuple[int, int]]:
    """First and last unit numbers of the document's meaningful sentences and rows."""
    for first, last in source.lines():
        if source.units[first - 1].generated:
            continue
        if source.units[first - 1].kind == "cell":
            labels = [unit.label for unit in source.units[first - 1 : last]]
            values = [label for label in labels if label and not PAGE_COLUMN.fullmatch(label.rpartition(" · ")[2])]
            if values and not all(labels) and not DOT_LEADERS.search(source.words(first, last)):
                yield first, last
            continue
        yield from ((n, n) for n in range(first, last + 1) if says_something(source.words(n, n)))


def _shortened(text: str, longest: int) -> str:
    """``text`` with single blanks, truncated between words to about ``longest`` characters."""
    words = " ".join(text.split())
    return words if len(words) <= longest else words[:longest].rsplit(" ", 1)[0] + " …"
