"""What two questions must have in common, word for word, before one may be answered from the retrieval of the other.

An embedding puts "revenue in 2022" next to "revenue in 2023" and "A sued B" next to "B sued A". So a question is also
read for what it says literally: names, numbers and periods, signs (denials, directions, bounds, quantities, modals,
pronouns), quoted strings, capitals and what kind of thing it asks for. Who does what to whom is said by the order of
words, so `same_words` lets only form differ: articles, number, tense, the place of a year. In doubt two questions
differ: that costs a search, no more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ragcore.text.words import FUNCTION_WORDS, stem, word_set

Kind = Literal["name", "number", "sign", "denial", "relation", "word"]

_TOKEN = re.compile(
    r"""
    (?P<quote>"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|`[^`]+`|‘[^’]+’(?!\w)|(?<!\w)'[^']+'(?!\w))
  | (?P<number>(?:(?<![^\s(\[<>≤≥=])[-−+])?[$€£¥₹]?(?:\d|\.\d)(?:[\w.,:/%°'’-]|\(\w+\))*)
  | (?P<word>[^\W\d_](?:\w|[-–.&'’/@:](?=\w)|\(\w\))*[+\#]*)
  | (?P<mark>[-=−–]+>|<[-=−–]+(?!\d)>?|[\u2190-\u21ff\u27f0-\u27ff]|[<>≤≥=≠±≈~%^*/+§$€£¥]|(?<=\s)[-−](?=\s))
  | (?P<stop>[.?!])
    """,
    re.VERBOSE,
)
_POLITE = re.compile(
    r"^\s*(?:(?:please|kindly)\b[\s,]*)*(?:(?:can|could|would|will)\s+you\b[\s,]*(?:please\b\s*)?)?"
    r"(?:(?:tell|show|give)\s+(?:me|us)\b\s*)?(?:i\s+(?:want|need|would\s+like)\s+to\s+know\b\s*)?",
    re.IGNORECASE,
)
_FISCAL = re.compile(r"fy[-'’]?(\d{4}|\d\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POSSESSIVE = re.compile(r"['’]s$|(?<=s)['’]$", re.IGNORECASE)

REQUESTS = word_set(
    "list give tell show describe explain name state identify find provide summarise summarize outline calculate "
    "compute determine report"
)
AUXILIARIES = word_set(
    "is are was were am be do does did has have had can could will would shall should may might must"
)
_OPENERS = FUNCTION_WORDS | REQUESTS | AUXILIARIES | {"compare", "please"}
_MEASURES = word_set("many much long far often old large big high tall deep wide fast soon late early")
_QUANTITY = word_set("many much")
# Asked for by "what" or "which", by a request ("List …") or not said ("revenue 2023"): a thing.
_KINDS = {"who": "who", "whom": "who", "whose": "who", "when": "when", "where": "where", "why": "why", "how": "how"}
DENIALS = word_set(
    "not no never none neither nor cannot without except excluding besides non lack lacks lacking lacked fail fails "
    "failed unable instead"
)
SIGNS = word_set("""
    increase increases increased increasing rise rises rose risen rising grow grows grew grown growth growing gain gains
    gained climb climbed up upward decrease decreases decreased decreasing decline declines declined declining fall
    falls fell fallen falling drop drops dropped reduce reduces reduced reduction down downward higher highest high
    lower lowest low more most less least fewer fewest many much few greater greatest larger largest large smaller
    smallest small bigger biggest better best worse worst longer longest shorter shortest maximum max minimum min
    positive negative above below over under exceed exceeds exceeded before after since until till prior later earlier
    earliest early late during within outside inside beyond between off out up include includes included including
    exclude excludes excluded start starts started end ends ended begin begins began first last all any each every both
    either some several another other same only must may might shall should can could will would or against versus vs
    he him his she her hers i me my mine we us our ours you your yours it its they them their theirs
    myself yourself himself herself itself ourselves yourselves themselves
""")
BE = word_set("is are was were am be been being")
HAVE = word_set("has have had having")
# Function words that say how a question is put, and where or when at most: they may differ.
FORM_WORDS = BE | HAVE | word_set("a an the do does did doing what which that these this those there such at in please")
# Words that are no plurals of the ones without the s.
_NO_PLURALS = word_set("""
    arms contents customs damages earnings economics goods interests means minutes news physics politics premises
    proceeds sales savings securities statistics terms works
""")
_DATE = r"(?:the\s+)?(?:(?:fiscal|financial)\s+)?(?:year\s+)?(?:(?:19|20)\d\d|FY[-'’]?(?:\d{4}|\d\d))"
_DATE_FIRST = re.compile(
    rf"^\s*(?P<date>(?:in|for)\s+{_DATE}),\s*"
    r"(?P<rest>(?:what|how\s+(?:much|high|large))\s+(?:is|are|was|were)\s+(?P<what>[^?.!;:,]+?))\s*[?.!]?\s*$",
    re.IGNORECASE,
)
# A year at the end belongs to what stands before it there: to "built", "due", or to the clause that it ends.
_OWN_DATE = re.compile(
    r"\w(?:ed|ing)$|\b(?:due|payable|built|made|held|sold|paid|spent|lost|won|given|taken|known|forecast|guidance|target)\b"
    r"|\b(?:that|which|who|whom|whose|where|when|if|to|and|or|not|by|from|than|before|after)\b",
    re.IGNORECASE,
)
_ALIKE = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she", "vs": "versus"}
NUMBER_WORDS = word_set("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
    hundreds thousands millions billions trillions half third thirds quarter quarters dozen once twice thrice single
    double triple second fourth fifth sixth seventh eighth ninth tenth i ii iii iv v vi vii viii ix x percent
    fiscal fy annual annually yearly quarterly monthly weekly daily today yesterday tomorrow now current currently
    recent recently latest next previous past future
    january february march april june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
""") - {"i"}
# Words that turn a question round, so that order counts.
_TURNING = word_set("from than into against versus between")
_CONTRACTED = word_set("what's who's where's when's how's it's that's there's what’s who’s where’s when’s how’s it’s")
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "de", "mis", "a", "anti")


@dataclass(frozen=True, slots=True)
class Token:
    """A word that counts. ``key`` is compared where it is a literal part; ``stem`` tells whether a word of another form
    denies it, and ``form``, the word without a plural ending, whether the words are the same."""

    kind: Kind
    key: str
    stem: str
    form: str


@dataclass(frozen=True, slots=True)
class Literals:
    """A question as it is compared: its ``tokens`` in order, what it ``asks`` for, its ``quotes``, whether it is
    ``crowded``: holds several names, numbers or signs, or a denial, so that the order of its literal parts matters;
    the words written like names (``capitals``, without those that any sentence may begin with), and the ``auxiliaries``
    in it, as ``be`` and ``have``."""

    tokens: tuple[Token, ...]
    asks: tuple[str, ...]
    quotes: tuple[str, ...]
    crowded: bool
    capitals: frozenset[str]
    auxiliaries: frozenset[str]

    def keys(self, *kinds: Kind) -> tuple[str, ...]:
        return tuple(token.key for token in self.tokens if token.kind in kinds)

    @property
    def words(self) -> frozenset[str]:
        """Stems of what the question is about: names and all other words that carry meaning."""
        return frozenset(token.stem for token in self.tokens if token.kind in ("name", "word"))


def difference(one: Literals, other: Literals) -> str:
    """In which literal part two questions differ, in a word; "" where in none."""
    if one.asks != other.asks:
        return "kind"
    if one.quotes != other.quotes:
        return "quotes"
    if one.keys("number") != other.keys("number"):
        return "numbers"
    if one.keys("sign", "denial") != other.keys("sign", "denial"):
        return "signs"
    names = {*one.keys("name"), *other.keys("name")}
    if _said(one, names) != _said(other, names):
        return "names"
    if _negated(one.words, other.words) or _negated(other.words, one.words):
        return "signs"
    if (one.crowded or other.crowded) and _order(one, names) != _order(other, names):
        return "order"
    return "capitals" if one.capitals != other.capitals else ""


def same_words(one: Literals, other: Literals) -> bool:
    """Whether two questions say the same words in the same order, but for their form: articles and the like, plural
    and singular, tense as long as the verb is written alike and neither is in the passive alone."""
    return one.auxiliaries == other.auxiliaries and _forms(one) == _forms(other)


def _forms(literals: Literals) -> list[str]:
    """Words in order; "for 2018" and "of 2018" are "in 2018"."""
    tokens = literals.tokens
    return [
        token.form
        for token, after in zip(tokens, (*tokens[1:], None))
        if not (token.key in ("for", "of") and after is not None and after.kind == "number")
    ]


def _said(literals: Literals, names: Collection[str]) -> list[str]:
    """Where ``names`` stand, be they written as such or not."""
    return [token.key for token in literals.tokens if token.kind in ("name", "word") and token.key in names]


def _order(literals: Literals, names: Collection[str]) -> list[str]:
    return [token.key for token in literals.tokens if token.kind not in ("name", "word") or token.key in names]


def _negated(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a word of one question alone is one of the other alone with a prefix that may deny it."""
    alone, there = words - others, others - words
    return any(prefix + word in there for word in alone for prefix in _PREFIXES)


@lru_cache(maxsize=4096)
def literals_of(question: str) -> Literals:
    """``question`` read word by word, a year that it begins with at its end. Case counts only as the mark of a name."""
    text = unicodedata.normalize("NFKC", question)
    text = text[match.end() :] if (match := _POLITE.match(text)) else text
    if (dated := _DATE_FIRST.match(text)) and not _OWN_DATE.search(dated["what"]):
        text = f"{dated['rest']} {dated['date'][:1].lower()}{dated['date'][1:]}"
    found = list(_TOKEN.finditer(text))
    shouted = _shouted([match["word"] for match in found if match["word"]])
    reader = _Reader()
    for place, match in enumerate(found):
        if match["quote"]:
            reader.quotes.append(" ".join(match["quote"][1:-1].split()))
        elif match["number"]:
            reader.number(match["number"])
        elif match["mark"]:
            reader.add("sign", match["mark"])
        elif match["word"]:
            first = place == 0 or found[place - 1]["stop"] is not None
            if match["word"].casefold() in _CONTRACTED:
                reader.auxiliaries.add("be")
            for word, capital in _parts(match["word"]):
                reader.word(word, capital=capital, first=first, shouted=shouted)
                first = False
    return reader.result()


class _Reader:
    """Sorts the words of one question into kinds."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.asks: list[str] = []
        self.quotes: list[str] = []
        self.capitals: set[str] = set()
        self.auxiliaries: set[str] = set()
        self._runs: dict[Kind, int] = {}
        self._last: Kind | None = None
        self._seen = 0
        self._denying: list[int] = []  # denials whose word is still to come, by their place in `tokens`

    def add(self, kind: Kind, key: str, stemmed: str | None = None, form: str | None = None) -> None:
        if kind != self._last or kind in ("sign", "denial"):
            self._runs[kind] = self._runs.get(kind, 0) + 1
        self._last = kind
        self.tokens.append(Token(kind, key, stemmed if stemmed is not None else key, form if form is not None else key))

    def number(self, raw: str) -> None:
        key = _THOUSANDS.sub("", _POSSESSIVE.sub("", raw.casefold().rstrip(".,:/'’-")).replace("−", "-"))
        # "3M", "10-K" and "4.2(a)" are names that hold a number.
        self.add("name" if any(c.isalpha() for c in key) else "number", key)

    def word(self, raw: str, *, capital: bool, first: bool, shouted: bool) -> None:
        plain = raw.casefold().replace("’", "'")
        opening = self._seen == 0
        self._seen += 1
        upper = raw.isupper() and not shouted and not (first and len(raw) == 1) and raw != "I"
        self._note(raw, plain, capital=capital, first=first)
        if plain in FUNCTION_WORDS and upper:
            self.add("name", raw, raw)  # "IT", "US", "vitamin A"
        elif any(c.isdigit() for c in plain):
            self._code(plain)
        elif plain.endswith("n't"):
            if opening:
                self.asks.append("whether")
            self._deny("not")
        elif plain in _KINDS:
            self.asks.append(_KINDS[plain])
            self._last = None
        elif plain in _MEASURES and self.asks and self.asks[-1] == "how" and self._last is None:
            self.asks[-1] = "how many" if plain in _QUANTITY else f"how {plain}"
        elif plain in DENIALS:
            self._deny("not" if plain == "cannot" else plain)
        elif plain in SIGNS and not (capital and not first and plain == "may"):
            if opening and plain in AUXILIARIES:
                self.asks.append("whether")
            self.add(
                "sign", _ALIKE.get(plain, plain if plain in FUNCTION_WORDS else stem(plain)), form=_singular(plain)
            )
        elif plain in NUMBER_WORDS or plain == "may":
            self.add("number", "fiscal" if plain == "fy" else plain)
        elif plain in FUNCTION_WORDS:
            if opening and plain in AUXILIARIES:
                self.asks.append("whether")
            if plain in FORM_WORDS:
                self._last = None
            else:
                self.add("relation", plain)
        elif opening and plain in REQUESTS:
            pass
        elif plain == "year" and self.tokens and self.tokens[-1].key == "fiscal":
            pass  # "fiscal year 2023" is "fiscal 2023"
        else:
            self.add("name" if capital else "word", plain, stem(plain), _singular(plain))
            for place in self._denying:
                denial = self.tokens[place].key
                self.tokens[place] = Token("denial", f"{denial} {stem(plain)}", denial, denial)
            self._denying.clear()

    def _note(self, raw: str, plain: str, *, capital: bool, first: bool) -> None:
        if (
            capital
            and plain != "fy"
            and not _FISCAL.fullmatch(plain)
            and not (first and plain in _OPENERS and (raw[1:].islower() or len(raw) == 1))
        ):
            self.capitals.add(raw)
        self.auxiliaries |= {name for name, forms in (("be", BE), ("have", HAVE)) if plain.removesuffix("n't") in forms}

    def _code(self, plain: str) -> None:
        """A word with digits: a fiscal year, else an identifier."""
        year = _FISCAL.fullmatch(plain)
        if year:
            self.add("number", "fiscal")
            self.add("number", year[1] if len(year[1]) == 4 else f"20{year[1]}")
        else:
            self.add("name", plain)

    def _deny(self, word: str) -> None:
        """What is denied is the first word that carries meaning after the denial."""
        self._denying.append(len(self.tokens))
        self.add("denial", word)

    def result(self) -> Literals:
        several = any(self._runs.get(kind, 0) > 1 for kind in ("name", "number", "sign"))
        turning = any(token.key in _TURNING for token in self.tokens)
        crowded = several or turning or "denial" in self._runs
        marks = frozenset(self.capitals), frozenset(self.auxiliaries)
        return Literals(tuple(self.tokens), tuple(self.asks), tuple(self.quotes), crowded, *marks)


def _parts(raw: str) -> list[tuple[str, bool]]:
    """A word and whether it is written like a name; the parts of a compound of lower-case letters ("long-term")."""
    word = _POSSESSIVE.sub("", raw)
    capital = any(c.isupper() for c in word)
    if not capital and word.replace("-", "").isalpha():
        return [(part, False) for part in word.split("-") if part]
    return [(word, capital or not word.replace("'", "").replace("’", "").isalpha())]


def _singular(word: str) -> str:
    """``word`` without the ending of a plural or of a third person (the S-stemmer of Harman 1991). A full stemmer makes
    one of "operator" and "operation", of "employer" and "employed"."""
    if len(word) < 4 or word in _NO_PLURALS or not word.isalpha():
        return word
    if word.endswith("ies") and word[-4] not in "ae":
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word[:-1] if word.endswith("s") and word[-2] not in "us" else word


def _shouted(words: Sequence[str]) -> bool:
    """Whether the question is written in capitals, which then mark nothing."""
    long = [word for word in words if len(word) > 1]
    return len(long) > 2 and sum(word.isupper() for word in long) > 0.6 * len(long)
