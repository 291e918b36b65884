"""Follow-up rewriting: a question made stand-alone for retrieval.

A question with its own content words and no pronoun that points back stays unchanged. A fragment ("And in 2021?", "What
about X?") replaces the part of the same kind in the previous question: a period a period, a name a name, a number the
number after the same word. If there is none of its kind, or a pronoun points back ("Why is that?"), the previous
question is searched too. Only closed word classes are used: function words, pronouns, interrogative verbs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from ragcore.offline.intents import answer_type
from ragcore.offline.lists import listed
from ragcore.text import lexicon as lex
from ragcore.text.languages import ENGLISH, language_of
from ragcore.text.names import Word, words_of
from ragcore.text.periods import blanked, period_spans, periods
from ragcore.text.words import FUNCTION_WORDS, OTHER_FUNCTION_WORDS, STOP_WORDS, content_stems, stem, tokens
from ragcore.types.question import FollowUp, Phrase

LONGEST = 1000  # characters: a longer text is no follow-up and has nothing to replace
FEW = 2  # words of a bare fragment
_WHOLE = 4  # own words of a whole question that begins with "how", and has a verb that is unknown

_VERBS = listed("follow_up", "verbs")
_ASKING = listed("follow_up", "asking")
_ORDINALS = listed("follow_up", "ordinals")
_PRONOUNS = listed("follow_up", "pronouns") | _ORDINALS
_JOINING = listed("follow_up", "joining")
_CORRECTING = listed("follow_up", "correcting")
_COURTESY = listed("follow_up", "courtesy")
_SPOKEN = listed("follow_up", "spoken") | _COURTESY
_DOCUMENT = listed("follow_up", "document")
_NARROWING = listed("follow_up", "narrowing")
_ARTICLES = frozenset({"the", "a", "an"})
_COORDINATING = frozenset({"and", "but", "or"})
_PREPOSITIONS = listed("guidance", "prepositions")
_OWNING = frozenset({"its", "their"})
_SAYS_LITTLE = STOP_WORDS | _SPOKEN | _CORRECTING | _JOINING | _NARROWING | _PRONOUNS | _VERBS
_OPENING = re.compile(
    rf"\W*(?:(?:(?:what|how)\s+(?:about|of)|i|{'|'.join(_JOINING | _SPOKEN | _CORRECTING)})\b\W*)*", re.IGNORECASE
)
_LATER = listed("follow_up", "later")
_WAYS = "|".join(listed("follow_up", "earlier") | _LATER)
_RELATIVE = re.compile(
    rf"\b(?:(?:the|an?|one)\s+)?(?:(?:{_WAYS})\s+(?:fiscal\s+)?(?:year|quarter)|(?:year|quarter)\s+(?:{_WAYS}))\b(?!\s+\w)",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\S\s+\((?P<about>\w+\s.+)\)$")


def follow_up(question: str, earlier: Sequence[str]) -> FollowUp:
    """Stand-alone form of ``question`` after the questions ``earlier``, oldest first, in their stand-alone forms."""
    previous = earlier[-1] if earlier else ""
    asked = _dated(" ".join(question.split()), previous)
    language, before = language_of(asked), language_of(previous)
    foreign = (language or before) not in ("", ENGLISH)
    read = _Read(asked, OTHER_FUNCTION_WORDS.get(language or before, frozenset()))
    named = bool(read.values) and language in ("", ENGLISH)
    other = language and before and language != before
    courtesy = bool(read.words) and set(read.words) <= _COURTESY
    if other or courtesy or max(len(asked), len(previous)) > LONGEST:
        return FollowUp(asked, named=named)
    known = set(content_stems(previous))
    own = [word for word in read.own if stem(word) not in known]
    # In another language pronouns are unknown, but brevity shows.
    points = read.points_back(known) if not foreign else bool(read.own) and read.says == 1
    whole = not points and (not read.joined if foreign else read.sentence) and read.says > foreign
    goes_on = not whole and (points or read.joined or read.bare or not own)
    if not goes_on:
        kept = "" if read.values else _kept(previous, read)
        return FollowUp(asked, False, named, False, f"{asked} ({kept})" if kept else "", " ".join(read.own))
    if not previous:
        return FollowUp(asked, True, named)
    subjects = [_subject(one) for one in earlier[-2:]]
    apart = len(subjects) > 1 and set(content_stems(subjects[0])).isdisjoint(content_stems(subjects[1]))
    unclear = apart and points and not read.values and sum(s.kind == "value" for s in slots_of(subjects[1])) != 1
    numbered = any(slot.label for slot in read.values)  # "Article 16" takes the place of another
    phrase = bool(own or read.values) and read.is_noun and not (points or foreign or read.corrects or numbered)
    previous = _root(read, earlier) if phrase else previous
    text = _standing(read, own, points, previous) or asked
    if not phrase:
        return FollowUp(text, True, named, unclear)
    names, dates = _kept(previous, read), _kept(previous, read, names=False)
    words = " ".join(tokens(_blanked(read.rest, [slot for slot in slots_of(read.rest) if slot.kind != "value"])))
    asked_for = " ".join(_Read(_subject(previous), frozenset()).own)
    stays, alone = (f"{read.rest} ({kept})" if kept else "" for kept in (names, dates))
    return FollowUp(text, True, named, unclear, stays, words, Phrase(words, asked_for, alone or read.rest, named))


def _root(read: _Read, earlier: Sequence[str]) -> str:
    """Question of ``earlier`` that a noun phrase goes on from: of one that went on from another by a phrase, as
    "footwear?" did, the one that it went on from, for "apparel?" is a part of that."""
    about = _subject(earlier[-1])
    for one in earlier[:-1]:
        before = _subject(one)
        if about.startswith(f"{before} ") and not read.slots and not slots_of(about.removeprefix(before)):
            return one
    return earlier[-1]


class _Read:
    """Parsed question. ``own`` are its words besides periods and names, ``rest`` is its text without leading
    conjunctions, and ``first`` the first word of that."""

    def __init__(self, text: str, foreign: frozenset[str]) -> None:
        self.text, self.foreign = text, foreign
        self.function = FUNCTION_WORDS | foreign
        self.words = tokens(text)
        opening = _OPENING.match(text)
        joining = tokens(opening.group()) if opening else []
        self.rest = text[opening.end() if opening else 0 :].strip(" ?.!,;")
        self.joined = not (_JOINING | _CORRECTING | {"i", "of"}).isdisjoint(joining)
        self.corrects = not _CORRECTING.isdisjoint(joining)
        self.slots = slots_of(text)
        self.values = [slot for slot in self.slots if slot.kind == "value"]
        said = tokens(_blanked(text, self.slots))
        labels = {slot.label for slot in self.values}
        self.own = [word for word in said if word not in _SAYS_LITTLE | foreign | labels and len(word) > 1]
        self.says = len(self.own) + len(self.values)
        self.verb = not _VERBS.isdisjoint(self.words)
        self.first = (tokens(self.rest) or [""])[0]
        least = 2 if self.first in ("who", "which", "what") else _WHOLE if self.first in _ASKING else 0
        self.sentence = self.verb or 0 < least <= self.says  # "Who makes KT-77?"

    @property
    def bare(self) -> bool:
        """Whether it does not begin like a sentence ("By segment?", "Why so little?") or has hardly a word."""
        return not self.sentence and (self.first in self.function | _NARROWING or len(self.words) <= FEW)

    @property
    def is_noun(self) -> bool:
        """Whether it is a noun phrase ("Total assets?"), as far as its first word and the lack of a verb show."""
        return (
            not self.verb
            and lex.SUPERLATIVES.keys().isdisjoint(self.words)
            and self.first not in (self.function | _NARROWING | _ASKING) - _ARTICLES
        )

    @property
    def of_value(self) -> bool:
        """Whether it may ask for a value, which is of a period; a reason or a way may be of any."""
        return self.first in ("what", "which") or answer_type(self.text).figures

    def points_back(self, known: Set[str]) -> bool:
        """Whether a pronoun has no antecedent in the question, whose earlier ones have the stems ``known``."""
        text = _blanked(self.text, [slot for slot in self.slots if slot.kind != "value"])
        words = tokens(text)
        for n, word in enumerate(words):
            before, after = words[:n], words[n + 1 :]
            if word not in _PRONOUNS or (after and after[0] in _DOCUMENT) or (word == "it" and "that" in after):
                continue  # "this document", "is it true that"
            if word in _ORDINALS and (self.values or not {"the", "which", *_ORDINALS} & set(before[-1:])):
                continue  # "one month"
            found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
            at = found.start() if found else -1
            clause = not {*_ARTICLES, "it", "they", "there", *_VERBS}.isdisjoint(after[:1])
            clause = clause or any(slot.start == at + len("that ") for slot in self.values)
            clause = clause or (self._are_new(after[:1], known) and self._are_new(after[1:2], frozenset()))
            if word == "that" and clause and before and before[-1] not in self.function:
                continue  # "states that Quill pays", "drugs that were withdrawn", "evidence that zinc helps"
            if self._has_own_subject(before):
                continue  # "How did inventories change and what drove it?"
            if not any(slot.end <= at for slot in self.values):
                return True
        return False

    def _are_new(self, words: Sequence[str], known: Set[str]) -> bool:
        """Whether there are ``words``, and each is a content word of which no earlier question has the stem."""
        return bool(words) and all(word in self.own and stem(word) not in known for word in words)

    def _has_own_subject(self, before: Sequence[str]) -> bool:
        """Whether the words ``before`` a pronoun end in a clause joined to one that has words of its own."""
        own, opening = set(self.own), _ASKING | _VERBS
        joins = (n for n, word in enumerate(before) if word in _COORDINATING)
        return any(not own.isdisjoint(before[:n]) and not opening.isdisjoint(before[n + 1 :]) for n in joins)


def _dated(text: str, previous: str) -> str:
    """``text`` with the year or quarter for a relative one of ``previous``: 2021 for "the year before", after 2022."""
    match, known = _RELATIVE.search(text), periods(previous)
    if match is None or not known.years:
        return text
    said = set(tokens(match.group()))
    step = 1 if said & _LATER else -1
    year = max(known.years) if step > 0 else min(known.years)
    if "quarter" not in said:
        return f"{text[: match.start()]}{year + step}{text[match.end() :]}"
    if len(known.quarters) != 1:
        return text
    count = 4 * year + min(known.quarters) - 1 + step
    return f"{text[: match.start()]}Q{count % 4 + 1} {count // 4}{text[match.end() :]}"


def gone_on_from(question: str) -> str:
    """Question in brackets behind a stand-alone one ("Why is that? (What did the bank repay)"); "" for none."""
    beside = _BESIDE.search(question)
    return beside["about"] if beside is not None and tokens(beside["about"])[0] in _ASKING | _VERBS else ""


def _subject(previous: str) -> str:
    """Question that a stand-alone question continues; itself if it continues none."""
    return gone_on_from(previous) or re.split(r"(?<=\?)\s+(?=\S)", previous, maxsplit=1)[0].rstrip(" ?.")


def _kept(previous: str, read: _Read, *, names: bool = True) -> str:
    """Names of ``previous``, and its periods if ``read`` has none; "" without a name. Its periods alone if ``names`` is
    false. To a whole question no number goes along ("grade 4"), and a period only if it may ask for a value."""
    dated = len(read.slots) > len(read.values) or (read.sentence and not read.of_value)
    slots = slots_of(_subject(previous))
    named = [slot for slot in slots if slot.kind == "value" and not (read.sentence and slot.label)] if names else []
    if names and not named:
        return ""
    kept = (slot for slot in slots if slot in named or not (dated or slot.kind == "value"))
    return ", ".join(dict.fromkeys(f"{slot.label} {slot.text}".strip() for slot in kept))


def _standing(read: _Read, own: Sequence[str], points: bool, previous: str) -> str:
    """Text to search for; "" if the question as typed is best."""
    about = _subject(previous)
    if not read.own and not read.slots and not points:
        if _RELATIVE.search(read.text):
            return f"{about} {read.rest}?"
        return f"{about}? {read.text}" if set(read.words) & (_ASKING | read.foreign) else previous
    put = _replaced(read, previous) if not own and "than" not in read.words else ""
    if put:
        return put
    if read.own and (read.is_noun and read.joined if not points else not _OWNING.isdisjoint(read.words)):
        if read.values and not (points or read.corrects):
            return _parallel(read, about)  # "And Quill's employees?" names its noun
        kept = "" if read.corrects else _kept(about, read)
        return f"{read.text} ({kept or about})"
    if points or read.verb:
        return f"{read.text} ({about})"
    first, _, new = read.rest.lower().partition(" ")
    before, same, other = about.rpartition(f" {first} ")
    old, behind = _parted(other)
    # "of lemon oil" gives way to "of orange oil", and "for the substance in a trial" to "for the product in a trial".
    opens = tokens(old)[:1]
    articles = opens == tokens(new)[:1] and not _ARTICLES.isdisjoint(opens)
    alike = first in _PREPOSITIONS and (articles or not behind)
    if same and alike and not (slots_of(old) or read.slots) and _VERBS.isdisjoint(tokens(other)):
        return f"{before} {read.rest}{behind}?"
    return f"{about} {read.rest}?"


def _parted(noun: str) -> tuple[str, str]:
    """``noun`` before its first preposition, and from there on."""
    words = noun.split(" ")
    at = next((n for n, word in enumerate(words) if word.lower() in _PREPOSITIONS), len(words))
    return " ".join(words[:at]), "".join(f" {word}" for word in words[at:])


def _parallel(read: _Read, about: str) -> str:
    """Question ``about`` something with "the Quill lease" in place of "the Norvane plan" at its end; "" if either has
    no such."""
    old, new = _named_thing(about), _named_thing(read.rest)
    return f"{about[:old]}{read.rest}?" if old >= 0 and new == 0 else ""


def _named_thing(text: str) -> int:
    """Beginning of the noun phrase that ends ``text`` and has a name before its noun, as "the Quill lease"; -1
    without one."""
    slot = next((one for one in reversed(slots_of(text)) if one.kind == "value"), None)
    noun = tokens(text[slot.end :]) if slot is not None else []
    if slot is None or slot.owner or not noun or not FUNCTION_WORDS.isdisjoint(noun):
        return -1
    start = slot.start - len("the ")
    return start if start >= 0 and text[start : slot.start].lower() == "the " else -1


def _replaced(read: _Read, previous: str) -> str:
    """``previous`` with the parts of ``read`` in place of those of their kind; "" if ambiguous."""
    old = slots_of(previous)
    put: list[tuple[int, int, str]] = []
    added: list[str] = []
    for kind in ("year", "day", "part"):
        new, those = ([slot for slot in slots if slot.kind == kind] for slots in (read.slots, old))
        said = read.text[new[0].start : new[-1].end] if new else ""
        if new and those:
            put.append((those[0].start, those[-1].end, said))
        elif new:
            added.insert(0, said)
    known = {(slot.label, slot.text.casefold()) for slot in old}
    fresh = [slot for slot in read.values if (slot.label, slot.text.casefold()) not in known]
    for slot in fresh:
        like = _same_kind(slot, [each for each in old if each.kind == "value"]) if len(fresh) == 1 else None
        if like is None:
            return ""
        put += [(each.start, each.end, slot.text) for each in old if (each.label, each.text) == (like.label, like.text)]
    for start, end, text in sorted(put, reverse=True):
        previous = f"{previous[:start]}{text}{previous[end:]}"
    if added:
        return f"{previous.rstrip(' ?.!')} in {' of '.join(added)}?"
    return previous if put else ""


def _same_kind(new: Slot, old: Sequence[Slot]) -> Slot | None:
    """The one slot of ``old`` that ``new`` can replace: after the same word or preposition, if any is, else an owner if
    it is one."""
    if new.label or new.behind in _NARROWING:
        alike = [slot for slot in old if (slot.label.casefold(), slot.behind) == (new.label.casefold(), new.behind)]
    else:
        behind = [slot for slot in old if slot.behind == new.behind]
        alike = behind or [slot for slot in old if slot.owner == new.owner] or list(old)
    return alike[0] if len({(slot.label, slot.text) for slot in alike}) == 1 else None


# Slots


@dataclass(frozen=True, slots=True)
class Slot:
    """Replaceable part of a question: a period, or a ``value``, which is a name or a number. ``label`` is the word
    before a number ("Article 15"), ``behind`` the function word before a name, and ``owner`` tells that it has
    something ("Quill's")."""

    kind: str
    text: str
    start: int
    end: int
    label: str = ""
    behind: str = ""
    owner: bool = False


def slots_of(text: str) -> list[Slot]:
    """Periods, names and numbers of ``text``, in order."""
    found = [Slot(kind, text[start:end], start, end) for kind, start, end in period_spans(text)]
    bare = _blanked(text, found)
    words = words_of(bare)
    alone = all(word.capital and word.plain not in STOP_WORDS for word in words)  # "Quill Energy?"
    last: Word | None = None
    for n, word in enumerate(words):
        before = words[n - 1] if n else None
        letter = len(word.plain) == 1 and word.capital and word.plain != "i"
        if before and not before.skipped and (word.number or letter or (word.marked and word.plain[0].isdigit())):
            if last is before:
                found.pop()  # "Unit 6" is a unit with a number
            found.append(Slot("value", bare[word.start : word.end], word.start, word.end, before.plain))
            last = None
        elif word.names and not word.skipped and (word.marked or alone):
            end = word.end - len("'s") * word.possessive
            between = " .&" if last and last.plain in lex.TITLES else " &"  # "Ms. Quill"
            if last and last is before and not bare[last.end : word.start].strip(between):
                found[-1] = replace(found[-1], text=bare[found[-1].start : end], end=end, owner=word.possessive)
            else:
                behind = next((one.plain for one in reversed(words[:n]) if one.plain not in _ARTICLES), "")
                found.append(Slot("value", bare[word.start : end], word.start, end, "", behind, word.possessive))
            last = word
    return sorted(found, key=lambda slot: slot.start)


def _blanked(text: str, slots: Iterable[Slot]) -> str:
    return blanked(text, ((slot.start, slot.end) for slot in slots))
