"""Follow-up questions made to stand alone, by rules (English), so that retrieval finds what they are about.

A question that names its own subject is left as it is: a needless rewrite does more harm than a missed one. So is one
in another language, but for a fragment that changes a year or a name (`ragcore.offline.abroad`).
"""

from __future__ import annotations

import re

from ragcore.offline.abroad import continued_abroad
from ragcore.offline.carried import carried
from ragcore.offline.fragments import INTERROGATIVE, continued
from ragcore.offline.referents import MEASURES, QUESTION_WORDS, moved, names, periods, timeless
from ragcore.offline.things import beside, chosen, first_question, owner, several, thing, when
from ragcore.text.words import FUNCTION_WORDS, STOP_WORDS, content_stems, tokens, word_set

LONGEST = 1000  # characters: what says more is no follow-up, and nothing that one could be put into

_JOINERS = r"(?:(?:and|but|so|ok(?:ay)?|then|also|now|well|please)\b[\s,]*)*"
_PREPOSITIONS = r"(?:in|for|during|of|on|by|at|from|under|with|within|among|between|per|to|as(?:\s+of)?)\b"
_SAME = r"(?:the\s+)?same(?:\s+(?:thing|question|figures?|numbers?|again))?\s+(?=(?:for|in|at|of|with|on|by)\b)"
OPENING = re.compile(
    rf"^\s*{_JOINERS}(?:(?P<about>(?:what|how)\s+about\s+|what\s+of\s+|{_SAME}))?{_JOINERS}(?P<in>{_PREPOSITIONS}\s+)?",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    rf"^\s*(?:and|but|so|then|also|what\s+about|how\s+about|what\s+of|{_SAME}|ok(?:ay)?\s+and|why|how\s+so|how\s+(?:much|many|often|"
    r"long|far|soon)|since\s+when|by\s+(?:how|what|when|whom)|when|where|who|which\s+(?:one|ones)|excluding|including|without|only|just|before|"
    r"after|compared|except|besides)\b",
    re.IGNORECASE,
)
# Asks for the same once more, or in other words.
_AGAIN = re.compile(
    rf"^\s*{_JOINERS}(?:(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?(?:tell\s+me|explain|elaborate|expand|clarify|"
    r"go\s+on|continue|give\s+(?:me\s+)?|repeat|more|yes|thanks?|thank\s+you|again|really|sure|are\s+you\s+sure)\b"
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
# "I meant 2021", "No, for Adobe": what follows takes the place of what was said.
_CORRECTION = re.compile(
    r"^(?:(?:(?:no|nope|sorry|oops|actually|rather|wait|i\s+(?:mean|meant)|i['’]m\s+asking\s+(?:about|for)|make\s+(?:it|that))\b"
    r"|not\s+[^,;]{1,60}?(?:,\s*(?:but\s+)?|;\s*|\s+but\s+))[\s,.!:;–-]*)+(?=\w)",
    re.IGNORECASE,
)
_PLEASE = re.compile(r"[\s,]+please[\s.?!]*$", re.IGNORECASE)
_ONLY = re.compile(rf"^(?:only|just)\s+(?={_PREPOSITIONS})|(?<=\w)\s+(?:only|alone)(?=[\s.?!]*$)", re.IGNORECASE)
# "How many at Verizon?": the number is asked for again, of another.
_NUMBER_AGAIN = re.compile(
    rf"^{_JOINERS}how\s+(?:many|much)\s+(?=(?:at|for|in|by|during|with)\b(?![^?]*\b(?:is|are|was|were|do|does|did|has|have)\b))",
    re.IGNORECASE,
)
_COUNTED_THING = re.compile(
    r"^(?:\W|and\b|but\b|so\b)*how\s+(?:many|much)\s+(?!(?:at|for|in|by|during|with|of|per|more|less|is|are|was|were|do|does|did)\b)"
    r"\w[^?]*?\b(?:is|are|was|were|do|does|did|has|have|had|must|may|can|will)\s+\w",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"^compare\s+(?:it|that|this|them|these|those)\s+(?:with|to|and|against)\s+(?P<other>[^?.]+?)[\s.?!]*$",
    re.IGNORECASE,
)
_TASK = re.compile(r"^(?:summari[sz]e|list|describe|explain|compare|name|show|tell|give)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"^(?:(?:thanks(?:\s+a\s+lot)?|thank\s+you(?:\s+very\s+much)?)\b[\s,.!:–-]*"
    r"|(?:great|good|perfect|interesting|i\s+see|sorry|hello|hi)(?:\s*[,.!:–-]+\s*|\s*$))+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|the\s+(?:same|former|latter|"
    r"other|others|above|previous|(?:first|second|third|fourth|fifth|last)\s+(?:one|two|three)|company|study|trial|drug|compound|agreement|contract|paper|authors|number|figure|amount|"
    r"change|increase|decrease))\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"\b(?:its|their|his|her)\b(?=\s+[a-z])", re.IGNORECASE)
_THEIR = re.compile(r"\btheir\b(?=\s+[\w&])", re.IGNORECASE)
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
# "The paper on seed oils", "the agreement with Tessera": the question says itself which one.
_SAID_WHICH = re.compile(
    r"\bthe\s+(?:company|study|trial|drug|compound|agreement|contract|paper|authors)\s+"
    r"(?:(?:on|about)\s+(?!pages?\b|p\.|it\b|this\b|that\b)|between\s+|(?:called|named|titled|entitled)\s+"
    r"|(?:with|by|of|from|against)\s+(?:the\s+)?(?=(?-i:[A-Z])))",
    re.I,
)
_WHEN_ELSE = re.compile(
    r"^(?:and\s+)?(?:what|how\s+(?:much|many|high|large))\s+(?:is|are|was|were)\s+(?:it|that|this|they|those)\s+"
    r"(?P<rest>(?:in|for|during|at|on|as\s+of)\b[^?]*)[?.!\s]*$",
    re.IGNORECASE,
)
_WHICH_OF = re.compile(
    r"^(?:and\s+)?which(?:\s+(?:one|of\s+(?:them|these|those)))?\s+(?P<rest>(?:is|was)\s[^?]*?)[\s.?!]*$", re.I
)
_VERBS = word_set("is are was were do does did has have had can could will would must may should")
_WHOLE = re.compile(r"^\s*(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+\w", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\b(?:of|in|for|under|with|to|on|by|at|from|between)\s+\w", re.IGNORECASE)
_BARE = re.compile(
    r"^(?:and\s+)?what(?:\s+(?:is|are|was|were)|['’]s)\s+the\s+(?P<thing>[^,;:]+?)\s*[?.!]*$", re.IGNORECASE
)
# "Who is the supplier?" asks for a party, and "Which is the larger?" for one of several.
_DEGREE = (
    r"(?:more|less|most|least|best|worst|better|worse|earlier|later|larger|bigger|smaller|higher|lower|greater|longer|shorter|"
    r"older|newer|younger|faster|slower|quicker|cheaper|dearer|stronger|weaker|heavier|lighter|safer|riskier|wider|narrower|"
    r"deeper|richer|poorer|closer|nearer|easier|harder|simpler|cleaner|purer|warmer|hotter|colder|taller|stricter|broader|"
    r"tighter|thicker|thinner|(?!(?:inter|t|cont|requ|prot|b|inv|beh|gu|for|har|arr|conqu)est\b)\w+est)"
)
_CHOICE = re.compile(
    r"^(?:and\s+)?(?:which|who)(?:\s+(?:one|of\s+(?:them|these|those|the\s+two)))?\s+(?:is|was|are|were|has|had)\s+(?:the\s+)?"
    rf"{_DEGREE}\b(?P<rest>[^?]*)[?.!\s]*$",
    re.IGNORECASE,
)
_EXTREME = re.compile(rf"(?:the\s+)?{_DEGREE}(?:\s+ones?)?", re.IGNORECASE)
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


def standalone(question: str, previous: str, *, several: bool = False) -> str:
    """``question`` so that it can be understood without ``previous``, the question before it as made to stand alone.

    - A fragment ("And in 2021?", "What about Converse?", "Why?") → the previous question with what it changes, and so
      a correction ("I meant 2021", "No, for Adobe").
    - A pronoun with nothing in the question to refer to → what the previous question asked for, or about.
    - "What was the operating margin?" of nobody → of whom the previous question named, where it is one.
    - "Which segment grew fastest?" → at the company of the previous question, where ``several`` documents are asked.
    - Anything else → the question unchanged.
    """
    question = " ".join(question.split())
    if not previous or max(len(question), len(previous)) > LONGEST:
        return question
    if foreign(question):
        return continued_abroad(question, previous) if foreign(previous) else question
    said = _GREETING.sub("", question)
    if not tokens(said) and tokens(question):
        return question  # "Thanks." asks for nothing, least of all for the same again
    if not tokens(said) or _AGAIN.match(said):
        return previous
    corrected = _corrected(question, previous)
    if corrected:
        return corrected
    found = _standalone(said, previous)
    if found == said and several:
        found = carried(said, previous)
    return question if found == said else found


def follows(question: str) -> bool:
    """Whether it plainly goes on from a question before it, which its own words do not tell."""
    said = _GREETING.sub("", " ".join(question.split()))
    if foreign(said) or not tokens(said) or len(said) > LONGEST:
        return False
    return is_fragment(_PLEASE.sub("", said)) or _refers_back(said)


def unclear(question: str, previous: str, before: str) -> bool:
    """Whether a pronoun of ``question`` could be about ``previous`` or the question ``before`` that: the two have no
    word in common, and neither the question nor ``previous`` has a name that settles it."""
    said = _GREETING.sub("", " ".join(question.split()))
    if not (previous and before) or max(len(said), len(previous)) > LONGEST or foreign(said):
        return False
    if not tokens(said) or _AGAIN.match(said) or not _refers_back(said) or names(said):
        return False
    subjects = (set(content_stems(timeless(text))) for text in (previous, before))
    return set.isdisjoint(*subjects) and len(names(first_question(previous))) != 1


def _corrected(question: str, previous: str) -> str:
    """``previous`` put right by ``question``, "" where it corrects nothing."""
    rest = _PLEASE.sub("", _CORRECTION.sub("", question))
    if rest == _PLEASE.sub("", question) or not tokens(rest):
        return ""
    words = tokens(rest)
    if INTERROGATIVE.match(rest) or len(words) > 8 or any(word in _VERBS for word in words):
        found = _standalone(rest, previous)
        return "" if found == rest else found
    return _put_in(rest, previous)


def _put_in(fragment: str, previous: str) -> str:
    return continued(fragment, _rest(fragment), _preposition(fragment), previous)


def _standalone(question: str, previous: str) -> str:
    plain = _PLEASE.sub("", question)
    again = _NUMBER_AGAIN.match(plain)
    if again is not None and tokens(plain[again.end() :]):
        return _put_in(_ONLY.sub("", plain[again.end() :]), previous)
    moment = _WHEN_ELSE.match(question)
    if moment is not None and not names(moment["rest"]) and not _told(moment["rest"]):
        return moved(moment["rest"], previous) or question
    compared = _COMPARED.match(question)
    if compared is not None:
        meant = thing(first_question(previous))
        if meant:
            return f"How {'do' if several(meant) else 'does'} {_determined(meant)} compare with {compared['other']}?"
        return beside(question, first_question(previous))
    if is_fragment(plain) and not (_refers_back(plain) and (INTERROGATIVE.match(plain) or _TASK.match(plain))):
        whole = _ONLY.sub("", plain)
        put = _put_in(whole, previous)
        if put != whole:
            return put
        if _EXTREME.fullmatch(_rest(whole)):
            return beside(question, thing(first_question(previous)) or first_question(previous))
    if _CHOICE.match(question) and not names(question):
        return _choice(question, previous)
    if _refers_back(question):
        return _resolved(question, previous)
    if _is_bare(question, previous):
        return _of_whom(question, previous)
    return question


def _told(rest: str) -> list[str]:
    """The words of ``rest`` that are no part of a period."""
    return [word for word in tokens(timeless(rest)) if word not in STOP_WORDS and word not in ("fiscal", "year")]


def _choice(question: str, previous: str) -> str:
    """ "Which is the biggest?" of several things that were asked for, or behind the question before."""
    meant, match = thing(first_question(previous)), _WHICH_OF.match(question)
    if meant and match is not None and several(meant) and not MEASURES.search(meant):
        return f"Which of {_determined(meant)} {match['rest']}?"
    return beside(question, meant or first_question(previous))


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
    if INTERROGATIVE.match(question) and _SAID_WHICH.search(question):
        return False
    if _COUNTED_THING.match(question):
        return False  # "How many stores were closed?"
    if _is_name(question):
        return True
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
    for pattern in (_INNER, _DOCUMENTS, _SAID_WHICH):
        question = pattern.sub(lambda match: " " * len(match.group()), question)
    return question


def _is_name(question: str) -> bool:
    """Whether it is a name and nothing else ("Quill Energy?")."""
    bare = question.rstrip(" ?.!")
    return len(bare.split()) <= 4 and [name.text for name in names(f"x {bare}")] == [bare]


def _resolved(question: str, previous: str) -> str:
    """The pronoun replaced by what it stands for, or, where that is not plain, behind the question before."""
    question = re.sub(rf"^{_JOINERS}", "", question, flags=re.IGNORECASE)
    question = question[:1].upper() + question[1:]
    bare, before = _bare(question), first_question(previous)
    named = names(before)
    pronouns = {match.group().lower() for match in _PRONOUN.finditer(bare)}
    if len(pronouns) == 1 and (len(named) == 1 or (len(named) == 2 and _THEIR.search(bare))) and not chosen(before):
        for pattern in (_OWNER, _HOLDER, _ACTOR):
            match = pattern.search(bare)
            if match is not None:
                owns = pattern is _OWNER or (pattern is _HOLDER and match["own"])
                name = " and ".join(owner(one.text) if owns else one.text for one in named)
                put = f"{question[: match.start()]}{name}{question[match.end() :]}"
                return _with_period(put, previous)
    if not named and pronouns and all(_HOLDER.fullmatch(pronoun) for pronoun in pronouns) and _says_enough(bare):
        return question  # the one contract that is talked of has no name that the question before would add
    meant = thing(before)
    if _WHAT_WAS.match(question) and timeless(question) != " ".join(question.split()):
        # "What was it in 2015?" asks for the thing in 2015 and not in the year asked for before.
        meant = _LEFT_OPEN.sub("", timeless(meant))
    match = _PLAIN.search(bare)
    if meant.lower().startswith(("it ", "this ", "that ")):
        meant = ""
    if len(pronouns) == 1 and match is not None and meant and not _OF_ANOTHER.search(timeless(meant)):
        return f"{question[: match.start()]}{_determined(meant)}{question[match.end() :]}"
    # The notice period in a lease, or the lease? Nobody can tell, so both are searched for beside the question.
    return beside(question, meant or before)


def _says_enough(question: str) -> bool:
    """Whether it has a word of its own beside the thing that it is asked of."""
    return any(word not in STOP_WORDS for word in tokens(_HOLDER.sub(" ", question)))


def _determined(meant: str) -> str:
    """ "investigational new drug" asked for as "an …" is "the …" when it comes again."""
    return re.sub(r"^an?\s+", "the ", meant, flags=re.IGNORECASE)


def _with_period(question: str, previous: str) -> str:
    """A measure is asked for of the period that was talked of."""
    period = when(previous, question) if MEASURES.search(question) else ""
    return f"{question.rstrip('?. ')} {period}?" if period else question


def _is_bare(question: str, previous: str) -> bool:
    """Whether it asks for a measure or a part of something without saying of what, and the question before has one
    name."""
    match = _BARE.match(question)
    if match is None or names(question) or len(names(previous)) != 1:
        return False
    if not (MEASURES.search(question) and MEASURES.search(previous)):
        return False  # a notice period is not asked of the company whose sales were talked of
    inner = timeless(match["thing"])
    alone = re.search(r"\b(?:of|in|for|from|between|under|to|by|with|on)\s+\w", inner) is None
    return alone and 1 <= len(content_stems(inner)) <= 4


def _of_whom(question: str, previous: str) -> str:
    """The question of the name of the one before, and of its period where that is wanted."""
    name = names(previous)[0].text
    body, said = question.rstrip(" ?.!"), periods(question)
    end = said[0] if len(said) == 1 and body.endswith(said[0]) else ""
    return _with_period(f"{body.removesuffix(end).rstrip()} of {name}{' ' + end if end else ''}?", previous)
