"""Names: of documents, by their titles; of companies; and whether a passage has the name that a question asks about.

A title is split at words that name nothing (``Inc.``, ``Form``, ``annual report``, numbers, colons and dashes). Words
are compared without case, accents, possessive and plural endings, and joined, so that ``Coca-Cola``, ``COCACOLA`` and
``Coca Cola`` are one name; ``&`` and function words are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from ragcore.text import lexicon as lex
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import FUNCTION_WORDS, LISTS, MONTHS, STOP_WORDS, WORD, content_stems, folded, tokens, word_set
from ragcore.types import Document, Source
from ragcore.types.question import Name

LONGEST_TITLE = 12  # words of a title that is given
SHORT_NAME = 6  # most words of a name; a longer piece of a title is a description

# Legal forms of companies: as printed, and as words, with others that do not tell a firm.
_FORMS: Final = LISTS["legal_forms"].split()
LEGAL_FORMS: Final = frozenset(form.lower().replace(".", "") for form in _FORMS) | word_set(LISTS["beside_firms"])
FIRM: Final = lex.any_of({*_FORMS, *(form.replace(".", "") for form in _FORMS), "Group"})
GENERIC = word_set(LISTS["generic"]) | LEGAL_FORMS | frozenset(map(str.lower, MONTHS))
COMMON_ABBREVIATIONS = word_set(LISTS["abbreviations"])
# Words that may follow any name and are not part of it.
_BEHIND = GENERIC | COMMON_ABBREVIATIONS | word_set(LISTS["offices"])

_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"  # Chinese, Japanese, Korean: each character is a word
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+"
    # With inner marks, or with a hyphen next to a digit: P&G, U.S, IL-4, 7-Eleven.
    r"(?:(?:[&.'’]|(?<=\d)-(?=[^\W\d])|(?<=[^\W\d])-(?=\d))[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+)*"
)
_CUT = re.compile(r"[:;|()\[\]•·?!]|\s[-–—]+\s|—|(?<=\w{3})\.\s")
_SENTENCE_END = re.compile(r"[.!?:]\s")
_STOP = re.compile(r"[^\w\s'’&.-]+|[.]\s")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_MARKS = re.compile(r"[.'’&-]")
# A single letter is a name: Class B, Ostrova A. A capital A that begins a sentence is an article.
ONE_LETTER = re.compile(r"(?<![\w'’.&-])(?:[B-HJ-Z]|(?<=[\w)] )A)(?![\w'’.&-]| [a-z]+ (?:is|was|of)\b)")


@dataclass(frozen=True, slots=True)
class Word:
    """Word of a title or a question. ``plain`` is its lower-case form with letters and digits only, ``key`` that form
    without a plural ending; ``marked``: it is spelt like a name (a capital within a sentence, a digit); ``capital``: it
    begins with a capital; ``capitals``: all its letters are capitals; ``possessive``: it has a possessive ending;
    ``start`` and ``end`` are its position in the text."""

    plain: str
    key: str
    marked: bool
    capital: bool
    capitals: bool
    possessive: bool
    start: int
    end: int

    @property
    def skipped(self) -> bool:
        return self.plain in FUNCTION_WORDS and not self.capitals

    @property
    def number(self) -> bool:
        return self.plain.isdigit()

    @property
    def names(self) -> bool:
        """Whether it is spelt like part of a name and is not a generic word beside names: a form, a period, a title
        (``Inc.``, ``10-K``, ``FY2020``, ``CEO``)."""
        generic = self.plain in _BEHIND or _GENERIC_NUMBER.fullmatch(self.plain)
        return (self.marked or self.capital) and not self.number and not generic


@dataclass(frozen=True, slots=True)
class Piece:
    """Run of words in a title that may be a name. ``share`` is 1.0 for the first piece of a short title and for the
    piece before a colon or dash, else its share of the title; ``whole``: it is the entire title, and so a name even if
    it is not spelt like one."""

    words: tuple[Word, ...]
    share: float
    whole: bool


def words_of(text: str) -> list[Word]:
    """Words of ``text`` in order."""
    found = list(_TOKEN.finditer(text))
    spelled = [_POSSESSIVE.sub("", match.group()) for match in found]
    letters = [word for word in spelled if word.isalpha() and len(word) > 1]
    # In an all-capitals text, capitals mark nothing.
    shouted = len(letters) > 2 and sum(word.isupper() for word in letters) > 0.6 * len(letters)
    out: list[Word] = []
    for match, word in zip(found, spelled):
        plain = folded(_MARKS.sub("", word))
        addressed = bool(out) and (out[-1].plain in lex.TITLES or len(out[-1].plain) == 1)  # "Ms. Roe", "J. Roe"
        first = not out or (not addressed and bool(_SENTENCE_END.search(text, out[-1].end, match.start())))
        possessive = word != match.group()
        capitals = word.upper() == word and any(c.isalpha() for c in word) and len(plain) > 1 and not shouted
        mixed = any(c.isdigit() for c in word) and not plain.isdigit()
        inner = any(c.isupper() for c in word[1:]) and not shouted
        caseless = word.isalpha() and word.lower() == word.upper()
        capital = word[:1].isupper()
        marked = mixed or inner or caseless or (capital and not shouted and (not first or possessive))
        out.append(Word(plain, singular(plain), marked, capital, capitals, possessive, match.start(), match.end()))
    return out


@lru_cache(maxsize=50_000)
def pieces_of(title: str) -> tuple[Piece, ...]:
    """Pieces of a title, in order."""
    runs: list[tuple[list[Word], bool]] = []
    parts = _CUT.split(title)
    for part in parts:
        run: list[Word] = []
        for word in words_of(part):
            if word.number or word.plain in GENERIC or _GENERIC_NUMBER.fullmatch(word.plain):
                runs.append((run, False))
                run = []
            elif word.plain not in FUNCTION_WORDS:
                run.append(word)
        runs.append((run, len(parts) > 1))
    runs = [(run, cut) for run, cut in runs if run and (len(run) > 1 or len(run[0].plain) > 1)]
    total = sum(len(run) for run, _ in runs)
    short = total <= SHORT_NAME
    return tuple(
        Piece(tuple(run), 1.0 if place == 0 and (short or cut) else len(run) / total, total == len(run))
        for place, (run, cut) in enumerate(runs)
    )


_GENERIC_NUMBER = re.compile(r"(?:fy|v)?\d+(?:q\d)?|q\d\d*|\dq\d*|[a-f0-9]{16,}|(?:10|20|8|6)[kqf]")


@lru_cache(maxsize=50_000)
def pieces_of_file(name: str) -> tuple[Piece, ...]:
    """Pieces of a file's name without its extension, with blanks between its words."""
    return pieces_of(re.sub(r"[_\-+]+", " ", PurePath(name).stem).replace(".", " "))


def together(words: Sequence[Word]) -> str:
    """Run of words written as one: ``General Mills`` → ``generalmill``."""
    return "".join([word.plain for word in words[:-1]] + [words[-1].key])


def abbreviates(short: str, words: Sequence[Word]) -> bool:
    """Whether ``short`` (lower case) abbreviates a name of these words, each with a capital: its initials or, with
    three letters or more, joined beginnings of its first words (``jpm`` JPMorgan, ``amex`` American Express)."""
    if not all(word.capital for word in words):
        return False
    if short == "".join(word.plain[:1] for word in words) and len(words) > 1:
        return True
    return len(short) >= 3 and short != words[0].plain and _beginnings(short, [word.plain for word in words])


def _beginnings(short: str, words: Sequence[str]) -> bool:
    if not short:
        return True
    if not words:
        return False
    lengths = range(1, min(len(short), len(words[0])) + 1)
    return any(short[:n] == words[0][:n] and _beginnings(short[n:], words[1:]) for n in lengths)


def runs_of(words: Sequence[Word], longest: int) -> Iterator[tuple[int, int]]:
    """Half-open position ranges of all runs of at most ``longest`` words without numbers, longest first."""
    for length in range(min(longest, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            if not any(word.number for word in words[first : first + length]):
                yield first, first + length


def titled(text: str, titles: Mapping[str, str]) -> set[str]:
    """Documents of ``titles`` (by id) that ``text`` speaks of as texts: by a run of two and more words of the title, a
    kind of document among them ("the 2021 annual report"). Of overlapping runs the longest counts."""
    known = {doc_id: {word.key for word in words_of(title) if not word.skipped} for doc_id, title in titles.items()}
    found = set[str]()
    for part in _STOP.split(text):
        words = [word.key for word in words_of(part) if not word.skipped]
        sizes = range(LONGEST_TITLE, 1, -1)
        used = set[int]()
        for first, end in ((n, n + size) for size in sizes for n in range(len(words) - size + 1)):
            run = set(words[first:end])
            of = {doc_id for doc_id, title in known.items() if run <= title} if run & lex.KINDS else None
            if of and used.isdisjoint(range(first, end)):
                used.update(range(first, end))
                found |= of
    return found


def singular(word: str) -> str:
    """``word`` without a plural ending."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


# Names of a question, in passages

_NEARLY = 0.84  # least similarity (difflib's ratio) of a misspelt name
_SHORTEST_MISSPELT = 5
_SEVERAL = re.compile(r"(?:[A-Z][\w&.'’-]*(?:\s+(?:of|and|the|&|for|de|von|van)(?=\s))*[\s-]+)+[A-Z][\w&.'’-]*")
_FEWEST_INITIALS, _MOST_INITIALS = 2, 6
_PERIOD = re.compile(
    r"^(?:FY|Q[1-4]|[1-4]Q|H[12]|[12]H|CY)[\s'’-]*(?:(?:19|20)?\d\d)?$|^(?:19|20)\d\d(?:[QH][1-4])?$|^[QH][1-4](?:19|20)\d\d$",
    re.IGNORECASE,
)


def is_period(word: str) -> bool:
    """Whether a word is a year, a quarter or a fiscal period."""
    return _PERIOD.match(word) is not None


def named(names: Iterable[Name], terms: Sequence[Term]) -> list[Name]:
    """Names of ``names`` that belong to none of ``terms``: a domain term is not a name."""
    said = {word for term in terms for word in content_stems(term.said)}
    return [name for name in names if not set(content_stems(name.text)) <= said]


def unnamed(names: Sequence[Name], sources: Sequence[Source]) -> list[Name]:
    """Names of ``names`` that no source contains, in order: neither exactly, nor misspelt, nor as the abbreviation of a
    name there. A common word that only its capital makes a name must occur as a name."""
    if not names:
        return []
    texts = [full_text(source) for source in sources]
    given = _words_of(texts)
    initials = {short for text in texts for short in _initials(text)}
    titles = [source.title for source in sources]
    return [name for name in names if not _is_there(name, texts, titles, given, initials)]


def is_firm(name: str) -> bool:
    """Whether it ends like a firm's name ("LLP", "Inc.")."""
    return re.search(rf"\s{FIRM}$", name) is not None


def is_only_a_word(name: str, texts: Sequence[str]) -> bool:
    """Whether ``texts`` use ``name`` as a common word and never as a name: within a sentence in capitals, as an owner,
    or before a generic company word."""
    low = name.lower()
    as_name = re.compile(
        rf"(?<=[a-z0-9,;’')] ){re.escape(name)}(?![\w-])|(?<!\w){re.escape(name)}(?:['’]s\b|,?\s{FIRM}(?!\w))"
        rf"|(?<!\w){re.escape(low)}['’]s\b"
    )
    word = re.compile(rf"(?<![^\W_]){re.escape(low)}(?![^\W_])")
    return any(word.search(text) for text in texts) and not any(as_name.search(text) for text in texts)


def words_lacking(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[str]:
    """Content words of ``question``, as written and in order, that no source contains, either directly or by a synonym
    of their term."""
    wanted = Wanted(question, terms)
    given = frozenset(content_stems(" ".join(full_text(source) for source in sources)))
    lacking = {word for word in wanted.words if not wanted.has(word, given)}
    found: dict[str, str] = {}
    for word in WORD.findall(question):
        for one in content_stems(word):
            if one in lacking:
                found.setdefault(one, re.sub(r"['’]s?$", "", word))
    return list(dict.fromkeys(found.values()))


def _words_of(texts: Sequence[str]) -> set[str]:
    given: set[str] = set()
    for text in texts:
        words = tokens(text)
        given.update(words)
        # "Best Buy" names "BestBuy".
        given.update(first + second for first, second in pairwise(words))
    return given


def _initials(text: str) -> set[str]:
    """Initials of all runs of words in the names of two to six words in ``text``: ``aa``, ``ab`` ..."""
    found: set[str] = set()
    for match in _SEVERAL.finditer(text):
        letters = "".join(word[0] for word in re.split(r"[\s-]+", match.group()) if word[:1].isupper()).lower()
        for first in range(len(letters)):
            found.update(letters[first:end] for end in range(first + _FEWEST_INITIALS, first + _MOST_INITIALS + 1))
    return found


def full_text(source: Source) -> str:
    """Title, headings and text of a source."""
    return " ".join((source.title, *source.section, source.text))


def lists_works(source: Source, number: int) -> bool:
    """Whether unit ``number`` is in a list of the works that a document cites, by the heading over it."""
    headings = (f" {' '.join(tokens(heading))}" for heading in source.headings_over(number))
    return source.units[number - 1].kind != "cell" and any(one.endswith(lex.WORKS) for one in headings)


def _is_there(name: Name, texts: Sequence[str], titles: Sequence[str], given: Set[str], initials: Set[str]) -> bool:
    """Whether the texts contain more than half of the words of ``name`` (possibly misspelt), all of them as one word,
    or the name that it abbreviates."""
    words = [word for word in tokens(name.text) if word not in STOP_WORDS and not is_period(word)]
    # "Target's revenue" is not about a document that sets targets; "Management's view" may be about one of managers.
    if name.common and is_only_a_word(name.text, texts):
        return any(re.search(rf"(?<![^\W_]){name.text}(?![^\W_])", title) for title in titles)
    if name.text.isupper() and re.sub(r"[^a-z]", "", name.text.lower()) in initials:
        return True
    # "JPM" names "JPMorgan".
    if name.text.isupper() and len(words) == 1 and len(words[0]) > 2 and any(one.startswith(words[0]) for one in given):
        return True
    if len(words) == 1 and any(_is_clipped(words[0], tokens(title)) for title in titles):
        return True
    lacking = [word for word in words if word not in given and not _misspelt(word, given)]
    return 2 * len(lacking) < len(words) or "".join(words) in given


def _is_clipped(word: str, title: Sequence[str]) -> bool:
    """Whether ``word`` is made of the beginnings of two words of a title, each of two letters or more: "Amex"."""
    cuts = range(2, len(word) - 1)
    return any(one.startswith(word[:n]) and two.startswith(word[n:]) for one, two in pairwise(title) for n in cuts)


def _misspelt(word: str, given: Set[str]) -> bool:
    if len(word) < _SHORTEST_MISSPELT:
        return False
    like = [other for other in given if other[0] == word[0] and abs(len(other) - len(word)) < 3]
    return bool(get_close_matches(word, like, n=1, cutoff=_NEARLY))


# Companies: two may state different revenues without disagreeing

Company = frozenset[str]  # lower-case words of its name, without its legal form

_FILING = re.compile(r"^(?P<name>.+?) Form (?:\d|S-|DEF )")  # title format of `ragcore.ingest.titles`
_LEGAL_FORM = lex.any_of({*_FORMS, *map(str.upper, _FORMS)})
# "Denver, CO 80202" is a place.
_COMPANY = re.compile(
    rf"\b((?:(?:[A-Z][\w’'&.-]*|&|of|and|the)\s+){{0,5}}[A-Z][\w’'&-]*),?\s+{_LEGAL_FORM}(?!\s+\d{{5}})"
)
_SMALL = word_set("the a and of")  # words of names
_OTHERS = re.compile(r"\b(?:stock|exchange|nasdaq|trust|bank|depository|transfer|computershare)\b", re.IGNORECASE)
_COVER = 2  # first pages, searched for the document's company


def companies(document: Document) -> tuple[Company, ...]:
    """Company that filed ``document``, else those named by its title and first pages, if any."""
    return _companies(list(_filed(document)))


def company_name(document: Document) -> str:
    """First of `companies` as printed, "" if there is none."""
    return next((name for name in _filed(document) if _companies([name])), "")


def filer(title: str) -> str:
    """Company of a filing's ``title``; "" of other titles."""
    filed = _FILING.match(title)
    return filed["name"] if filed else ""


def company_alone(line: str) -> str:
    """Company's name of which ``line`` consists, but for its subsidiaries; "" of other lines."""
    name = line.strip()
    plain = name.lower()
    name = name[: len(plain.removesuffix(" and subsidiaries"))].rstrip(" ,")
    is_one = _COMPANY.fullmatch(name.removesuffix(".")) is not None and not _OTHERS.search(name)
    return name if is_one and _companies([name]) else ""


def company(name: str) -> tuple[Company, ...]:
    """Company called ``name``."""
    return _companies([name])


def of_others(these: Sequence[Company], those: Sequence[Company]) -> bool:
    """Whether two documents are known to belong to different companies."""
    return bool(these and those) and not any(one <= other or other <= one for one in these for other in those)


def passed_over(documents: Iterable[str], given: Iterable[str], of: Mapping[str, Sequence[Company]]) -> list[str]:
    """Documents of ``documents`` known to belong to other companies than all ``given`` ones, if any are given; ``of``
    has the companies of each document."""
    has = [of.get(doc_id, ()) for doc_id in set(given)]
    return [one for one in documents if has and all(of_others(of.get(one, ()), those) for those in has)]


def _filed(document: Document) -> Iterator[str]:
    if filed := filer(document.title):
        yield filed
        return
    opening = [document.text[one.start : one.end] for one in document.body if one.page <= _COVER and one.table is None]
    for part in (document.title, *opening):
        for match in _COMPANY.finditer(part):
            if not _OTHERS.search(match[1]):
                yield " ".join(match[0].split())


def _companies(names: Sequence[str]) -> tuple[Company, ...]:
    words = (frozenset(re.findall(r"[^\W_]+", name.lower())) - LEGAL_FORMS - _SMALL for name in names)
    return tuple(dict.fromkeys(one for one in words if one))
