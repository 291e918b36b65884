"""Questions about a document as a whole, "What is this document about?" or "Why was this filed?", and the sentences
that say it.

None of the words of such a question stand in its answer, and those that do ("file", "document") stand everywhere else.
What a document reports is said where it opens.
"""

from __future__ import annotations

import re

from ragcore.offline.beyond_quoting import task_of

_KINDS = (
    r"(?:documents?|filings?|reports?|papers?|articles?|stud(?:y|ies)|files?|pdfs?|agreements?|contracts?|leases?|"
    r"guidances?|letters?|texts?|forms?|releases?|manuals?|8-?k|10-?[kq]|press\s+releases?)"
)
_THIS = rf"(?:this|these|the|it|that)(?:\s+(?:[\w-]+\s+)?{_KINDS})?"
_WHOLE = rf"(?:this|these|the|that)\s+(?:[\w-]+\s+)?{_KINDS}"
_OF_WHOLE = re.compile(rf"\b{_WHOLE}\b", re.IGNORECASE)
_NAMED = rf"(?:(?:this|these|the|that)\s+)?(?:[\w’'&.-]+\s+){{0,4}}?{_KINDS}"  # the Foot Locker filing, Adobe's 10-K
_ASKED = re.compile(
    "|".join(
        (
            rf"^what(?:\s+(?:is|are|was)|['’]s)\s+(?:{_NAMED}|this|it)\s+(?:all\s+)?about$",
            rf"^what(?:\s+(?:is|are|was)|['’]s)\s+(?:(?:this|these)(?:\s+{_KINDS})?|it)\s+for$",
            rf"^what\s+(?:do|does|did)\s+{_WHOLE}\s+(?:say|cover|report|describe|announce|deal\s+with|disclose)$",
            rf"^why\s+(?:was|were)\s+{_NAMED}\s+(?:filed|written|issued|published|submitted|made)$",
            rf"^(?:why|for\s+what\s+reason)\s+(?:was|were|is|did\s+\w+(?:\s+\w+)?)\s+{_THIS}\s+(?:being\s+)?"
            r"(?:filed|file|written|write|issued|issue|published|publish|submitted|submit|made|make|drawn\s+up)$",
            rf"^why\s+did\s+[^?]{{2,60}}?\s+(?:file|write|issue|publish|submit|make)\s+(?:{_WHOLE}|this|it)$",
            rf"^what(?:\s+(?:is|was)|['’]s)\s+the\s+(?:main\s+|overall\s+)?"
            rf"(?:purpose|subject|topic|aim|point|gist|subject\s+matter)\s+of\s+{_WHOLE}$",
            rf"^what\s+(?:is|was|does\s+\w+(?:\s+\w+)?)\s+(?:reported|announced|disclosed|report|announce|disclose)\s+"
            rf"(?:in|by|with)\s+{_WHOLE}$",
            rf"^(?:please\s+)?(?:summari[sz]e|describe|(?:give|write)\s+(?:me\s+)?an?\s+(?:short\s+|brief\s+)?"
            rf"(?:summary|overview)\s+of)\s+(?:{_WHOLE}|this|it)$",
        )
    ),
    re.IGNORECASE,
)
_DONE = (
    r"(?:announced|reported|entered\s+into|appointed|elected|issued|approved|adopted|completed|acquired|notified|"
    r"received|terminated|resigned|retired?|stepped\s+down|held|declared|amended|agreed|informed|released)"
)
_SAYS = (
    r"(?:describes?|provides?|presents?|sets?\s+(?:out|forth)|explains?|covers?|reports?|is\s+intended|are\s+intended|"
    r"summari[sz]es?|discuss(?:es)?|examines?|clarif(?:y|ies)|address(?:es)?|introduces?|investigates?|outlines?|"
    r"details?|reviews?)"
)
# A sentence that says what its document reports, is for, or is.
SAYS_WHAT_IT_IS = re.compile(
    "|".join(
        (
            rf"\b(?:purpose|aim|objective|goal)s?\s+of\s+(?:this|these|the\s+present|our|the)\s+(?:[\w-]+\s+)?{_KINDS}\b",
            rf"\b(?:this|the\s+present)\s+(?:[\w-]+\s+)?(?:{_KINDS}|guide|handbook|policy|review|survey|work|section\s+1)"
            rf"\s+(?:\w+\s+)?{_SAYS}\b",
            rf"\bin\s+this\s+(?:[\w-]+\s+)?{_KINDS},?\s+we\b",
            r"\b(?:here,?\s+)?we\s+(?:aimed|present|propose|introduce|investigated|evaluated|assessed|examined|studied)\b",
            r"\btoday\s+(?:announced|reported)\b",
            rf"^(?:\([a-z\d]\)\s+)?(?:on|effective|as\s+of)\s+[a-z]+\s+\d{{1,2}},?\s+(?:19|20)\d\d\b.*\b{_DONE}\b",
            r"\bthis\s+(?:[\w-]+\s+){0,4}(?:agreement|lease|contract|deed)\b.*\b(?:made|dated|entered\s+into|between)\b",
            r"\b(?:inspection|audit|visit)\s+(?:was\s+carried\s+out|took\s+place)\b",
        )
    ),
    re.IGNORECASE,
)
# What covers say of the filing, the filer and the form, and what stands under all of them.
_COVER = re.compile(
    r"^(?:pursuant\s+to|\(?exact\s+name|securities\s+registered|date\s+of\s+report|[☐☒□■\[])|\bcheck\s+(?:mark|the\s+appropriate)|"
    r"\bcommission\s+file|\btelephone\s+number|\bemerging\s+growth\s+company|\bhereunto\s+duly|\baggregate\s+market\s+value|"
    r"\bincorporated\s+(?:herein\s+)?by\s+reference\b|\ball\s+rights\s+reserved|\bopen\s+access\s+article|\bcopyright\b",
    re.IGNORECASE,
)
_LEAST = 8  # words of a sentence that says something


def opens_text(sentence: str) -> bool:
    """Whether ``sentence`` may be one of those with which what a document has to say opens, and none of its cover."""
    ends = sentence.rstrip("”\"')").endswith((".", "!", "?", ":"))
    return ends and len(sentence.split()) >= _LEAST and not _COVER.search(sentence)


def asks_about_whole(question: str) -> bool:
    """Whether ``question`` asks what a document is about, or why it was made, as a whole, or for a summary of it."""
    text = " ".join(question.split()).rstrip(" ?.!")
    return _ASKED.match(text) is not None or (task_of(text) == "summarise" and _OF_WHOLE.search(text) is not None)
