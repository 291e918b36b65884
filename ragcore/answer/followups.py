"""Follow-up questions made to stand alone, by rules (English), so that retrieval finds what they are about.

A question that names its own subject is left as it is: a needless rewrite does more harm than a missed one. So is one
in another language, whose words the rules do not know.
"""

from __future__ import annotations

import re

from ragcore.answer.fragments import INTERROGATIVE, continued
from ragcore.answer.referents import MEASURES, QUESTION_WORDS, about, names, periods, thing, timeless
from ragcore.words import FUNCTION_WORDS, STOP_WORDS, content_stems, tokens, word_set

LONGEST = 1000  # characters: what says more is no follow-up, and nothing that one could be put into

_JOINERS = r"(?:(?:and|but|so|ok(?:ay)?|then|also|now|well|please)\b[\s,]*)*"
_PREPOSITIONS = r"(?:in|for|during|of|on|by|at|from|under|with|within|among|between|per|to|as\s+of)\b"
OPENING = re.compile(
    rf"^\s*{_JOINERS}(?:(?P<about>(?:what|how)\s+about|what\s+of|same\s+(?=for|in))\s+)?{_JOINERS}(?P<in>{_PREPOSITIONS}\s+)?",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    r"^\s*(?:and|but|so|then|also|what\s+about|how\s+about|what\s+of|same\s+(?:for|in)|why|how\s+so|how\s+(?:much|many|often|"
    r"long|far|soon)|since\s+when|by\s+(?:how|what|when|whom)|when|where|who|which\s+(?:one|ones)|excluding|including|without|only|just|before|"
    r"after|compared|except|besides)\b",
    re.IGNORECASE,
)
# Asks for the same once more, or in other words.
_AGAIN = re.compile(
    rf"^\s*{_JOINERS}(?:(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?(?:tell\s+me|explain|elaborate|expand|clarify|"
    r"summari[sz]e|go\s+on|continue|give\s+(?:me\s+)?|repeat|more|yes|thanks?|thank\s+you|again|really|sure|are\s+you\s+sure)\b"
    r"(?:\s*(?:on|about|in|a|bit|more|little|some|any|further|other|simpler|plain|detail\w*|words?|terms?|it|this|that|these|"
    r"those|please|for|me|again|short|briefly|simply|answer|information|english)\b)*"
    r"|where\s+(?:does|do|did|is|was)\s+(?:it|that|this|they|you)(?:\s+(?:say|said|stated?|written|from|find|get|see|it|that|this))*"
    r"|(?:on\s+)?(?:which|what)\s+pages?(?:\s+is\s+(?:it|that|this)(?:\s+on)?)?|is\s+(?:that|this|it)\s+(?:right|correct|true|all)"
    r"|(?:what|which)\s+(?:is|are)\s+(?:the|your)\s+sources?|(?:what|anything)\s+else"
    r"|show\s+(?:me\s+)?(?:the|its)?\s*(?:source|page|passage|place|table|figure|text))?[\s.?!,]*$",
    re.IGNORECASE,
)
_WHAT_WAS = re.compile(r"(?:and\s+)?(?:what|how\s+(?:much|many|high|large))\s+(?:is|are|was|were)\b", re.IGNORECASE)
_LEFT_OPEN = re.compile(r"(?:\s+(?:in|for|during|of|at|on|the|fiscal|year))+$", re.IGNORECASE)
_GREETING = re.compile(
    r"^(?:(?:thanks(?:\s+a\s+lot)?|thank\s+you(?:\s+very\s+much)?)\b[\s,.!:–-]*"
    r"|(?:great|good|perfect|interesting|i\s+see|sorry|hello|hi)(?:\s*[,.!:–-]+\s*|\s*$))+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|the\s+(?:same|former|latter|"
    r"other|others|above|previous|company|study|trial|drug|compound|agreement|contract|paper|authors|number|figure|amount|"
    r"change|increase|decrease))\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"\b(?:its|their|his|her)\b(?=\s+[a-z])", re.IGNORECASE)
# Someone who did something, after a question on what is someone's.
_ACTOR = re.compile(
    r"\b(?:they|he|she|it)\b(?=\s+(?:have|had|own|pay|paid|spend|spent|earn|report|sell|sold|buy|acquire|plan|expect|hold|employ|"
    r"invest|say|state|disclose|recogni[sz]e|operate|borrow|issue|hire|settle|headquartered|based|located|incorporated|listed|"
    r"founded|owned|regulated|approved|safe|effective|tolerated|toxic|available|marketed|manufactured|indicated|licensed)\w*\b)",
    re.IGNORECASE,
)
_HOLDER = re.compile(r"\bthe\s+(?:company|study|trial|drug|compound|agreement|contract|paper)\b(?P<own>['’]s)?", re.I)
_PLAIN = re.compile(
    r"\b(?:it|they|them|he|him|she|(?:this|that|these|those)(?=\s*[?.!]*$|\s+(?:is|are|was|were|have|has|had|do|does|did|"
    r"compares?|differs?|changes?|more|less|higher|lower|larger|smaller|longer|shorter|better|worse|greater|rises?|falls?|"
    r"in|for|to|with|than|as|\w+ed|due|last|lasts|apply|applies|mean|means|include|includes)\b))(?![\w'’])",
    re.IGNORECASE,
)
# "that" and "this" that join a clause or point inside the question itself refer to nothing before it.
_INNER = re.compile(
    r"\b(?:(?:says?|said|states?|stated|shows?|shown|means?|reports?|reported|so|such)\s+that"
    r"|(?:that|those)\s+(?:of|from|in)\s+(?!(?:19|20)\d\d)[A-Z]"
    r"|(?:is|was)\s+it\s+(?:true|possible|required|necessary|allowed|permitted|likely)\s+(?:that|to)"
    r"|it\s+(?:is|was)\s+\w+\s+(?:that|to)"
    r"|\w+\s+that\s+(?:are|is|was|were|have|has|can|must|may|will|do|does|did|apply|applies))\b",
    re.IGNORECASE,
)
_DOCUMENTS = re.compile(
    r"\b(?:this|these|that|those|the)\s+(?:documents?|reports?|filings?|pdfs?|files?|texts?)\b"
    r"|\b(?:this|these|that|those)\s+papers?\b",
    re.I,
)
_VERBS = word_set("is are was were do does did has have had can could will would must may should")
_WHOLE = re.compile(r"^\s*(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+\w", re.IGNORECASE)
_BARE = re.compile(
    r"^(?:and\s+)?what(?:\s+(?:is|are|was|were)|['’]s)\s+the\s+(?P<thing>[^,;:]+?)\s*[?.!]*$", re.IGNORECASE
)
_CHOICE = re.compile(
    r"^(?:and\s+)?(?:which|who)(?:\s+(?:one|of\s+(?:them|these|those|the\s+two)))?\s+(?:is|was|are|were|has|had)\s+(?:the\s+)?"
    r"(?:more|less|most|least|better|best|worse|worst|earlier|later|\w+(?:er|est))\b(?P<rest>[^?]*)[?.!\s]*$",
    re.IGNORECASE,
)
# Short words that are common in a language other than English and no word or part of a name in English.
_FOREIGN = word_set("""
    und oder wie viel viele welche welcher welches ist sind der das dem eine einer für nicht wurde hat wer wann warum
    mit
    et ou le les une est sont quel quelle quels quelles au aux pour dans avec qui quand pourquoi combien où
    y el las una es cuál cual cuánto qué por para cuándo quién
    e o os as dos em qual quanto não foi quem quando
    il lo gli della che è sono quanto quale perché
    och vad är hur på het een wat hoe wie welke hoeveel og hvad hvor som
""")


def standalone(question: str, previous: str) -> str:
    """``question`` so that it can be understood without ``previous``, the question before it as made to stand alone.

    - A fragment ("And in 2021?", "What about Converse?", "Why?") → the previous question with what it changes.
    - A pronoun with nothing in the question to refer to → what the previous question asked for, or about.
    - "What was the operating margin?" of nobody → of whom the previous question named, where it is one.
    - Anything else → the question unchanged.
    """
    question = " ".join(question.split())
    if not previous or max(len(question), len(previous)) > LONGEST or foreign(question):
        return question
    said = _GREETING.sub("", question)
    if not tokens(said) and tokens(question):
        return question  # "Thanks." asks for nothing, least of all for the same again
    if not tokens(said) or _AGAIN.match(said):
        return previous
    found = _standalone(said, previous)
    return question if found == said else found


def _standalone(question: str, previous: str) -> str:
    if is_fragment(question):
        return continued(question, _rest(question), _preposition(question), previous)
    if _CHOICE.match(question) and not names(question):
        return f"{question.rstrip('?. ')} ({about(previous, question)})?"
    if _refers_back(question):
        return _resolved(question, previous)
    if _is_bare(question, previous):
        return f"{question.rstrip('?. ')} ({_frame(question, previous)})?"
    return question


def foreign(question: str) -> bool:
    """Whether it is in a language other than English, as far as its short words tell."""
    words = re.findall(r"[^\W\d_]+", question.lower())
    other = sum(word in _FOREIGN for word in words)
    letters = [character for character in question if character.isalpha()]
    beyond = sum(ord(character) > 0x24F and not 0x370 <= ord(character) < 0x400 for character in letters)
    return "¿" in question or beyond * 2 > len(letters) or other > sum(word in FUNCTION_WORDS for word in words)


def is_fragment(question: str) -> bool:
    """Whether it begins like a fragment and says little of its own, or has hardly a word."""
    own = [word for word in tokens(timeless(_rest(question))) if word not in STOP_WORDS]
    words = tokens(question)
    if words[0] in _VERBS or any(word in _VERBS and i > 0 and len(words) - i > 2 for i, word in enumerate(words)):
        return False  # a verb with something on both sides
    if _WHOLE.match(question) or (INTERROGATIVE.match(question) and names(question)):
        return False  # "Who manufactures ZX-410?" names what it is about
    if _ELLIPSIS.match(question) or _preposition(question):
        return len(own) <= 6
    return (len(own) <= 1 and len(words) <= 3) or not own


def _rest(question: str) -> str:
    """The question without the words that only join it to the one before ("And what about")."""
    opening = OPENING.match(question)
    return question[opening.end() :].strip(" ?.!,") if opening else question


def _preposition(question: str) -> str:
    opening = OPENING.match(question)
    return (opening["in"] or "").strip().lower() if opening else ""


def _refers_back(question: str) -> bool:
    """Whether a pronoun of the question has nothing before it in the question to stand for."""
    bare = _bare(question)
    match = _PRONOUN.search(bare)
    if match is None:
        return False
    before = [w for w in tokens(bare[: match.start()]) if w not in STOP_WORDS and w not in QUESTION_WORDS]
    named = re.search(r"(?<!^)\b[A-Z][\w-]+", bare[: match.start()]) is not None
    return not named and len(before) <= 2


def _bare(question: str) -> str:
    """The question with what points to nothing before it blanked out, so that places stay the same."""
    for pattern in (_INNER, _DOCUMENTS):
        question = pattern.sub(lambda match: " " * len(match.group()), question)
    return question


def _resolved(question: str, previous: str) -> str:
    """The pronoun replaced by what it stands for, or, where that is not plain, followed by what was asked before."""
    question = re.sub(rf"^{_JOINERS}", "", question, flags=re.IGNORECASE)
    question = question[:1].upper() + question[1:]
    bare = _bare(question)
    named = names(previous)
    pronouns = {match.group().lower() for match in _PRONOUN.finditer(bare)}
    if len(pronouns) == 1 and len(named) == 1:
        for pattern in (_OWNER, _HOLDER, _ACTOR):
            match = pattern.search(bare)
            if match is not None:
                owns = pattern is _OWNER or (pattern is _HOLDER and match["own"])
                name = _owner(named[0].text) if owns else named[0].text
                put = f"{question[: match.start()]}{name}{question[match.end() :]}"
                return _with_period(put, previous)
    meant = thing(previous)
    if _WHAT_WAS.match(question) and timeless(question) != " ".join(question.split()):
        # "What was it in 2015?" asks for the thing in 2015 and not in the year asked for before.
        meant = _LEFT_OPEN.sub("", timeless(meant))
    match = _PLAIN.search(bare)
    if len(pronouns) == 1 and match is not None and meant and not meant.lower().startswith(("it ", "this ", "that ")):
        return f"{question[: match.start()]}{_determined(meant, previous)}{question[match.end() :]}"
    context = about(previous, question)
    return f"{question.rstrip('?. ')} ({context})?" if context else question


def _determined(meant: str, previous: str) -> str:
    """ "investigational new drug" asked for as "an …" is "the …" when it comes again."""
    return re.sub(r"^an?\s+", "the ", meant, flags=re.IGNORECASE)


def _owner(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _with_period(question: str, previous: str) -> str:
    """A measure is asked for of the period that was talked of."""
    when = periods(previous)
    if len(when) != 1 or periods(question) or not MEASURES.search(question):
        return question
    inside = when[0] if re.match(r"(?i)(?:in|for|during|at|as|on|between|from)\b", when[0]) else f"in {when[0]}"
    return f"{question.rstrip('?. ')} {inside.removeprefix('of ')}?"


def _is_bare(question: str, previous: str) -> bool:
    """Whether it asks for a measure or a part of something without saying of what, and the question before has one
    name."""
    match = _BARE.match(question)
    if match is None or names(question) or len(names(previous)) != 1:
        return False
    inner = timeless(match["thing"])
    alone = re.search(r"\b(?:of|in|for|from|between|under|to|by|with|on)\s+\w", inner) is None
    return alone and 1 <= len(content_stems(inner)) <= 4


def _frame(question: str, previous: str) -> str:
    """The name of the question before, with its period where that is wanted."""
    name = names(previous)[0].text
    when = periods(previous)
    wanted = len(when) == 1 and not periods(question) and MEASURES.search(question)
    return f"{name}, {when[0].removeprefix('of ')}" if wanted else name
