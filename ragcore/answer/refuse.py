"""Refusals: when the documents do not contain the answer, and the text that says so.

A wrong refusal hurts more than a weak answer marked as weak, so only clear cases are refused before writing: nothing
was found, or nothing found is relevant by score and by words, or a name in the question occurs nowhere. The thresholds
are measured: see `benchmarks.refusal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log10

from ragcore.answer.cite import Marker, Part
from ragcore.text.languages import language_of
from ragcore.text.markdown import escape, quoted
from ragcore.text.naming import is_only_a_word, is_period, named, unnamed, words_lacking
from ragcore.text.sentences import DOT_LEADERS, PAGE_COLUMN
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens
from ragcore.types import Document, Retrieval, Route, Scope, Source
from ragcore.types.question import Name, Question
from ragcore.types.scope import nothing_within

Mentions = Callable[[str], Mapping[str, int]]

# A passage is about the question if its rerank score is above BELOW, or it has this share of the question's words (rare
# ones count more). A passage with a score above UNNAMED may be the answer although a name in the question is nowhere.
BELOW, COVER, UNNAMED = 0.02, 0.5, 0.5
NEAREST = 3
_UNANSWERED = "The documents do not answer this question."
_LONGEST_QUOTE = 280
_LONGEST_QUERY = 160
_MOST_LACKING = 5
_MOST_TERMS = 4
_FEWEST_WORDS = 5
_FEWEST_WORDS_UNENDED = 8
_SENTENCE_END = (".", "!", "?", ";", ":", ",")


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

    It is refused without sources; if its subject is named in no passage found and no document searched, or another name
    is not and the best rerank score is below `UNNAMED`; if the best rerank score is below `BELOW` and
    no single source has `COVER` of the query's content words, weighted by rarity (from ``mentions``, as
    `SparseIndex.mentions`; ``terms`` give synonyms); and, without rerank scores, if no source contains any of its
    words. The last two do not apply to a writer that only quotes (``extractive``): it judges each quote itself.

    If the sources are in another language, their words are no evidence. A writer that only quotes then refuses, unless
    a source contains a language-independent word of the question (a number, a name or an identifier); other writers
    read the sources. ``document`` gives a whole document, to look up a name that is also a common word.
    """
    if not sources:
        scope = retrieval.scope
        # BM25 alone may find nothing although the scope has passages.
        if (scope.pages or scope.kinds) and not retrieval.hits and retrieval.mode != "bm25":
            return f"{nothing_within(scope)} Widen the scope, or add a document."
        return f"{_UNANSWERED} No passage was found."
    wanted = Wanted(question.main, terms)
    if not wanted.words:
        return ""
    reranked = [hit.scores["rerank"] for hit in retrieval.hits if "rerank" in hit.scores]
    names = named(question.names, terms)
    nowhere = _named_nowhere(names, retrieval, sources, mentions, document)
    if nowhere:
        here = [name for name in names if name not in nowhere]
        known = _routed(retrieval.routes)
        # Of two compared subjects, one can be described.
        about = [name for name in here if name.owner or (name.text in known) or question.compares]
        weak = not reranked or max(reranked) < UNNAMED
        of_another = any(name.owner for name in nowhere) and not about
        if not known and (of_another or (weak and not (about and question.compares))):
            where = "your documents" if retrieval.scope == Scope() else "the current scope"
            said = _quoted([name.text for name in nowhere])
            return f"{_UNANSWERED} Nothing in {where} mentions {said}."
    foreign = in_another_language("question", question.language, sources)
    if foreign:
        return f"{_UNANSWERED} {foreign}" if extractive and not literals(question, sources) else ""
    # The opening of a document says what it is about, whatever its words.
    if extractive or question.whole or (reranked and max(reranked) >= 0.5):
        return ""
    weights = _rarity(question.main, wanted, retrieval, mentions)
    total = sum(weights.values())

    def best(held: Iterable[frozenset[str]]) -> float:
        return max((sum(weights[word] for word in words) / total for words in held), default=0.0)

    covered = best(wanted.held(set(content_stems(f"{s.title}\n{' '.join(s.section)}\n{s.text}"))) for s in sources)
    if reranked and max(reranked) < BELOW and covered < COVER:
        return f"{_UNANSWERED} No passage found is about this."
    if covered == 0.0 and not any(score >= 0.5 for score in reranked):
        return f"{_UNANSWERED} No passage found shares a word with the question."
    return ""


def _named_nowhere(
    names: Sequence[Name],
    retrieval: Retrieval,
    sources: Sequence[Source],
    mentions: Mentions | None,
    document: Callable[[str], Document] | None,
) -> list[Name]:
    """Names of ``names`` in no source and, according to ``mentions``, in no document in scope; names that led retrieval
    to a document are left out."""
    if mentions is None:
        return []
    known = " ".join(_routed(retrieval.routes))
    lacking = [name for name in unnamed(names, sources) if name.text not in known]
    out = []
    for name in lacking:
        there = any(_mentioned(form, retrieval, mentions) for form in (name.text, name.text.lower()))
        if there and name.common and document is not None:
            there = not is_only_a_word(name.text, [document(one).text for one in {source.doc_id for source in sources}])
        if not there:
            out.append(name)
    return out


def _routed(routes: Sequence[Route]) -> list[str]:
    """Words of the question by which documents were found."""
    return [route.name for route in routes if route.name]


def in_another_language(what: str, spoken: str, sources: Sequence[Source]) -> str:
    """Reason why ``what``, in the language ``spoken`` ("" if unknown), is not answered offline from ``sources``; "" if
    some of them are in that language."""
    written = languages(sources) if spoken else []
    if not written or spoken in written:
        return ""
    return (
        f"The {what} is in {spoken}, and what was searched is in {' and '.join(written)}. Offline, the search works in "
        "the documents’ own language only; Claude can answer across languages."
    )


def languages(sources: Sequence[Source]) -> list[str]:
    """Known languages of the sources, in order."""
    return [name for name in dict.fromkeys(language_of(source.text) for source in sources) if name]


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


def _mentioned(words: str, retrieval: Retrieval, mentions: Mentions) -> int:
    """Number of chunks in scope that have all of ``words``."""
    inside = retrieval.scope.doc_ids
    return sum(count for doc_id, count in mentions(words).items() if inside is None or doc_id in inside)


def _rarity(asked: str, wanted: Wanted, retrieval: Retrieval, mentions: Mentions | None) -> dict[str, float]:
    """Weight of each content word: 1 if no chunk in scope has it, falling with their number (1/2 for ten)."""
    if mentions is None:
        return dict.fromkeys(wanted.words, 1.0)
    written = {stem: token for token in tokens(asked) for stem in content_stems(token)}
    return {
        word: 1.0 / (1.0 + log10(1 + _mentioned(written.get(word, word), retrieval, mentions))) for word in wanted.words
    }


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
    titles = [escape(" ".join(title.split())) for title in dict.fromkeys(source.title for source in sources)]
    where = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
    count = max(found, len(sources))
    passages = "passage" if count == 1 else "passages"
    others = list(dict.fromkeys(other for term in terms for other in term.others))[:_MOST_TERMS]
    also = f", also for {_quoted(others)}" if others else ""
    text = f"{opening}Searched for “{asked}”{also}; read {count} {passages} of {where}."
    lacking = [word for word in words_lacking(question.main, sources, terms) if word not in f"{reason}{written}"]
    if lacking:
        text += f" Not in {'it' if count == 1 else 'them'}: {_quoted(lacking[:_MOST_LACKING])}."
    nearest = [] if cited else nearest_units(question.text, sources, terms)
    if nearest:
        text += f"\n\nThe nearest {'passage' if len(nearest) == 1 else 'passages'}:\n"
    parts: list[str | Marker] = []
    for number, first, last, quote in nearest:
        place = Part(number, first, last, f"<<SOURCE {number}.{first}-{number}.{last}>>")
        parts += [f"{text}\n- {escape(quoted(quote))} ", Marker(place.raw, (place,))]
        text = ""
    return parts or [text]


def nearest_units(query: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[tuple[int, int, int, str]]:
    """``(source number, first unit, last unit, quote)`` of the sentence or table row nearest to the query in each of
    the first few sources, then of other ones. A unit needs a word of the query; headings, fragments and lines of
    contents are excluded."""
    wanted = Wanted(query, terms)
    nearest: list[tuple[int, int, int, str]] = []
    others: list[tuple[float, tuple[int, int, int, str]]] = []
    for source in sources:
        offered = [(source.number, first, last, source.words(first, last)) for first, last in _offered(source)]
        if not offered:
            continue
        covers = [wanted.cover(set(content_stems(words))) for *_, words in offered]
        best = covers.index(max(covers))
        if covers[best] == 0.0:
            continue
        nearest.append(offered[best])
        others += [(covers[i], unit) for i, unit in enumerate(offered) if i != best and covers[i] > 0.0]
        if len(nearest) == NEAREST:
            break
    others.sort(key=lambda item: -item[0])
    nearest += [unit for _, unit in others[: NEAREST - len(nearest)]]
    return [(number, first, last, _shortened(words, _LONGEST_QUOTE)) for number, first, last, words in nearest]


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{escape(word)}”" for word in words)


def _offered(source: Source) -> Iterator[tuple[int, int]]:
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
        yield from ((n, n) for n in range(first, last + 1) if _says_something(source.words(n, n)))


def _says_something(text: str) -> bool:
    """Whether a sentence unit is more than a heading or fragment: it has several words, and a sentence end or else many
    words that are not all capitalised as in a title."""
    words = tokens(text)
    if len(words) < _FEWEST_WORDS or DOT_LEADERS.search(text):
        return False
    if text.rstrip("”\"')’").endswith(_SENTENCE_END):
        return True
    return len(words) >= _FEWEST_WORDS_UNENDED and any(len(word) > 4 and word.islower() for word in text.split())


def _shortened(text: str, longest: int) -> str:
    """``text`` with single blanks, truncated between words to about ``longest`` characters."""
    words = " ".join(text.split())
    return words if len(words) <= longest else words[:longest].rsplit(" ", 1)[0] + " …"
