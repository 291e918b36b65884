"""Question analysis by rules of English, run once for retrieval, refusal and writer. The lists are data
(`intents.toml`)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache

from ragcore.offline.comparison import asked_of_each
from ragcore.offline.followups import follow_up, gone_on_from
from ragcore.offline.intents import about_whole, answer_type
from ragcore.offline.lists import listed
from ragcore.text import lexicon as lex
from ragcore.text.languages import language_of
from ragcore.text.names import Word, is_period, words_of
from ragcore.text.periods import period_spans, years
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import FUNCTION_WORDS, OTHER_FUNCTION_WORDS, STOP_WORDS, tokens, word_set
from ragcore.types import SubQuery
from ragcore.types.question import AnswerType, FollowUp, Name, Question

LONGEST = 1500  # characters of a question that is split
_LEAST = 2  # content words that must remain
_MOST_PARTS = 3
_FEW = 8  # words of a question about a whole document that does not name it
_CURRENCY = ("$", "€", "£", "¥")
ASKING = word_set("how who whom whose where when why is are was were does do did has have had")  # open other questions
_LONGEST_KIND = 3  # words before the document's kind ("the exclusive supply agreement")


class RuleAnalyser:
    """`QuestionAnalyser` by rules, without a model."""

    def read(self, text: str, documents: Sequence[str] = ()) -> Question:
        return read(text, tuple(documents))

    def follow_up(self, text: str, earlier: Sequence[str]) -> FollowUp:
        return _follow_up(text, tuple(earlier))


_follow_up = lru_cache(maxsize=256)(follow_up)  # clarity is tested before meaning


@lru_cache(maxsize=256)
def read(text: str, documents: tuple[str, ...] = ()) -> Question:
    """Analyse the question ``text``, in which ``documents`` are words for documents."""
    asked = " ".join(text.split())
    about = gone_on_from(asked)
    asked = asked.removesuffix(f"({about})").rstrip() if about else asked
    sentences = [asked[start:end] for start, end in sentence_spans(asked)]
    said = [sentence for sentence in sentences if not _is_form(sentence)]
    focus = " ".join(said)
    if sum(word not in STOP_WORDS for word in tokens(focus)) < _LEAST:
        said, focus = sentences, asked
    main = " ".join(sentence for sentence in said if "?" in sentence) or focus
    words = tokens(main)
    compares = not listed("question", "compares").isdisjoint(words)
    task = _task(words)
    names = names_in(main)
    content = _content(words, (*(name.text for name in names), *documents))
    points = bool(documents) or _points_at_document(words)
    whole = points and (_is_whole(words, content) or (task == "summarise"))
    answer = about_whole() if whole else answer_type(main)
    rest = content | _content(tokens(f"{focus} {about}"), (*(name.text for name in names), *documents))
    broad = rest <= frozenset().union(*(listed("overview", name) for name in ("things", "sets", "beside")))
    return Question(
        text,
        main,
        f"{focus} ({about})" if about else focus,
        parts=tuple(_parts(main, answer)),
        composed=len(sentences) > 1 or _may_be_composed(words, main),
        names=tuple(names),
        years=frozenset(years(main) or years(about)),
        answer=answer,
        task=task,
        polar=not listed("follow_up", "verbs").isdisjoint(words[:1]),
        changes=not listed("question", "changes").isdisjoint(words),
        compares=compares,
        extreme=_extreme(words),
        whole=whole,
        overview=broad and _asks_for_themes(words, task, points),
        topic="" if broad or (whole and task != "summarise") else main,
        language=language_of(main),
        about=about,
        each=asked_of_each(main, documents),
    )


def requirement(text: str) -> Question:
    """Analyse a report section's requirement: it is no question, so all of its words count."""
    return Question(text, text, text, years=frozenset(years(text)), answer=answer_type(text))


def _is_form(sentence: str) -> bool:
    """Whether no part of ``sentence`` could be in a document: it is an instruction on how to answer, or a greeting."""
    words = [word for word in tokens(sentence) if not (word.isdigit() and len(word) < 3)]
    return bool(words) and "?" not in sentence and all(w in listed("question", "form") | FUNCTION_WORDS for w in words)


def _task(words: Sequence[str]) -> str:
    """Verb of the task, "" for a plain question."""
    rest = list(words)
    while rest and rest[0] in listed("task", "polite"):
        rest.pop(0)
    if not rest:
        return ""
    for task in ("summarise", "compare", "explain", "advise", "write"):
        verbs, things = listed(task, "verbs"), listed(task, "things")
        if rest[0] in verbs or (rest[0] in listed("task", "opening") and not things.isdisjoint(rest[1:])):
            return task
    if words[0] in ("should", "shall") and {*words[1:2]} & {"i", "we", "one", "you", "they"}:
        return "advise"
    return "compare" if words[0] == "how" and words[-1] == "compare" else ""


def _extreme(words: Sequence[str]) -> int:
    """1 for a superlative such as "highest", -1 for one such as "lowest", 0 for none ("at least") or both."""
    signs = {lex.SUPERLATIVES.get(word, 0) for before, word in zip(("", *words), words) if before != "at"} - {0}
    return signs.pop() if len(signs) == 1 else 0


def _is_whole(words: Sequence[str], content: Set[str]) -> bool:
    """Whether the question is about a document's subject or purpose, so that the answer has none of its words."""
    asked = {"about", "for", "why"} | listed("whole", "says")
    opens = words[:1] in (["what"], ["why"])
    return opens and not asked.isdisjoint(words) and content <= asked


def _asks_for_themes(words: Sequence[str], task: str, points: bool) -> bool:
    """Whether it asks for the themes of documents ("Which topics do the reports cover?", not "Which reports cover these
    topics?"), or for a summary of them."""
    if task == "summarise" and (points or not listed("overview", "sets").isdisjoint(words)):
        return True
    of = [place for place, word in enumerate(words) if word in lex.KINDS]
    themes = [place for place, word in enumerate(words) if word in listed("overview", "things")]
    rest = [word for word in words if word not in listed("task", "polite")]
    return bool(themes) and themes[0] < min(of, default=len(words)) and rest[:1] != [] and rest[0] not in ASKING


def _content(words: Sequence[str], names: Sequence[str]) -> set[str]:
    """Content words without ``names`` and the kinds of documents."""
    own = {word for name in names for word in tokens(name)}
    return {word.removesuffix("'s") for word in words if word not in STOP_WORDS} - own - lex.KINDS


def _points_at_document(words: Sequence[str]) -> bool:
    """Whether the words refer to a document: "this", "it", "the annual report", "Adobe's 10-K"; not "which form"."""
    if len(words) < _FEW and not {"this", "it", "these"}.isdisjoint(words):
        return True
    at = (place for place, word in enumerate(words) if word in lex.KINDS)
    before = (words[max(0, place - _LONGEST_KIND - 1) : place] for place in at)
    return any(one in listed("whole", "points") or one.endswith("'s") for near in before for one in near)


def _parts(main: str, answer: AnswerType) -> list[SubQuery]:
    """Questions of one text, at most three; for a term whose meaning is asked, the words that define it."""
    asked = [main[start:end] for start, end in sentence_spans(main)] if len(main) <= LONGEST else []
    if len(asked) > 1:
        return [SubQuery(text, "rules", f"one of the {len(asked)} questions asked") for text in asked[:_MOST_PARTS]]
    return [SubQuery(f"{answer.term} means", "rules", "what defines the term")] if answer.term else []


def _may_be_composed(words: Sequence[str], main: str) -> bool:
    """Whether a model may find parts: a conjunction, a comparison, a clause, a chain of genitives or several years."""
    several = not listed("question", "composes").isdisjoint(words[1:]) or words.count("of") > 1
    return several or len(years(main)) > 1


# Names, by spelling alone


def names_in(question: str) -> list[Name]:
    """Names in ``question``, in order: consecutive words spelled like one ("University of Oslo")."""
    words = words_of(question)
    language = language_of(question)
    dates = period_spans(question)  # "at Dec 31 2017"
    like = [
        _is_like(question, words, place, plain=language != "German")
        and not any(start <= word.start < end for _, start, end in dates)
        for place, word in enumerate(words)
    ]
    found: dict[str, Name] = {}
    place = 0
    while place < len(words):
        if not like[place]:
            place += 1
            continue
        end = place + 1
        while end < len(words) and not words[end - 1].possessive:
            of = int(words[end].plain == "of")
            if end + of >= len(words) or not like[end + of]:
                break
            if question[words[end - 1].end : words[end + of].start].replace("of", "", of).strip(" &"):
                break
            end += of + 1
        name = _name(question, words, place, end)
        # All capitals are often an abbreviation of the requested quantity: "cash conversion cycle (CCC)".
        capitals = end - place == 1 and words[place].capitals and name.text.isalpha()
        if not capitals or (name.owner and f"({name.text})" not in question):
            found.setdefault(name.text, name)
        place = end
    return list(found.values())


def _is_like(question: str, words: Sequence[Word], place: int, *, plain: bool) -> bool:
    """Whether a word is spelled like a name: capitalised inside a sentence, or with an inner capital or digit anywhere;
    the first word only with a possessive or as the start of a longer name; not how somebody is addressed ("Ms.")."""
    word = words[place]
    spelled = question[word.start : word.end]
    never = STOP_WORDS | lex.TITLES | listed("proper", "never")
    if not word.names or word.plain in never or is_period(word.plain):
        return False
    if any(character.isdigit() for character in spelled):
        amount = question[: word.start].rstrip().endswith(_CURRENCY)
        return word.marked and any(map(str.isupper, spelled)) and not amount
    if word.marked or place == 0:
        known = any(word.plain in own for own in OTHER_FUNCTION_WORDS.values()) or word.plain in listed(
            "task", "opening"
        )
        following = words[place + 1] if place + 1 < len(words) else None
        goes_on = following is not None and following.names and following.capital and not following.skipped
        opens = place == 0 and not word.possessive and not word.capitals
        inner = any(map(str.isupper, spelled[1:]))
        return (plain or inner) and not (place == 0 and known) and (not opens or goes_on or inner)
    return False


def _name(question: str, words: Sequence[Word], first: int, end: int) -> Name:
    last = words[end - 1]
    text = question[words[first].start : last.end - 2 * last.possessive]
    start = first - int(first > 0 and words[first - 1].plain in lex.TITLES)
    before = words[start - 1].plain if start else ""
    owner = last.possessive or before in listed("proper", "before") or start == 0
    single = end - first == 1 and text.isalpha() and text[1:].islower()
    # A first word is capitalised anyway, and "of Goodwill" is no one's name.
    common = single and first > 0 and (last.possessive or before == "at")
    return Name(text, owner=bool(owner), common=bool(common))
