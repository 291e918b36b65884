"""Conversations to export: answers of every kind, made by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragcore.export.manuscripts import of_conversation
from ragcore.export.tree import Manuscript, Note
from ragcore.index.conversations import StoredTurn
from ragcore.types import Answer, Citation, Claim, ClaimStatus, Mark, Usage

ASKED = 1_790_000_000.0
QUOTE = 400


def citation(n: int, quote: str = "", **fields: Any) -> Citation:
    given: dict[str, Any] = {
        "doc_id": "d1",
        "title": "3M 2018 Annual Report",
        "page": 40,
        "page_label": "38",
        "section": ("Item 7", "Capital spending"),
    }
    quote = quote or f"Purchases of property, plant and equipment were $1,577 million, note {n}."
    return Citation(n=n, quote=quote, start=0, end=len(quote), boxes=(), **(given | fields))


def claim(text: str, words: str, status: ClaimStatus, reason: str, *citations: int) -> Claim:
    start = text.index(words)
    return Claim(words, start, start + len(words), citations, status, reason)


def answer(text: str, citations: Sequence[Citation] = (), **fields: Any) -> Answer:
    """Every ``[n]`` of ``text`` with a citation of that number is a mark."""
    known = {each.n for each in citations}
    marks = tuple(Mark(m.start(), m.end(), int(m[1])) for m in re.finditer(r"\[(\d+)\]", text) if int(m[1]) in known)
    given: dict[str, Any] = {
        "question": "?",
        "queries": (),
        "refused": False,
        "claims": (),
        "marks": marks,
        "dropped": (),
        "sources": (),
        "model": "claude-sonnet-4-6",
        "extractive": False,
        "usage": Usage(),
        "cost_usd": None,
        "timings_ms": {},
        "settings_hash": "h",
        "created": ASKED,
    }
    return Answer(text=text, citations=tuple(citations), **(given | fields))


def exchange(question: str, given: Answer | None, later: float = 0.0) -> StoredTurn:
    return StoredTurn("t", question, given, ASKED + later)


def note(number: int, quote: str = "Quoted words", **fields: Any) -> Note:
    """A note to a page with the number that is printed on it."""
    page = {"title": "Doc", "page": 2, "page_label": "2", "section": ()}
    return Note(number, citation(number, quote, **(page | fields)))


def made(
    *exchanges: StoredTurn, title: str = "Capital spending of 3M", files: Mapping[str, str] | None = None
) -> Manuscript:
    names = {"d1": "3M_2018_10K.pdf"} if files is None else files
    return of_conversation(title, exchanges, names, quote_length=QUOTE)


RICH = """\
3M spent **$1,577 million** on property, plant and equipment in 2018 [1], up from `1,373` [2]. \
It expects *more* in 2019 [1] (see [the SEC](https://www.sec.gov/edgar?a=1&b=2)).

## By segment

| Segment | 2018 | 2017 |
|:--------|-----:|:----:|
| Industrial [3] | 12,267 | 11,866 |
| Safety & Graphics | 6,827 [4] | a \\| b |
| Health <Care> | 6,021 | ~~5,853~~ 5,813 |

1. First, sales rose [2]:
   - in the Americas
   - in EMEA, by
     1. price [5]
     2. volume
2. Then they fell.

   They fell again in 2 < 3 cases & so on.

7) Another list
8) goes on

> Quoted by the writer [5]
> over two lines.
>
> - with a list

```python
if a < b and c[1]:
    print("&amp;")
```

---

Last: 5 * 3 = 15, a_b_c, #hash, 1. not a list, $5 and $6 \\[9\\] <script>alert(1)</script>.
"""


def rich() -> Manuscript:
    """Every kind of block and look, every verdict and mark, several writers, and all ways of not answering."""
    cited = (
        citation(1),
        citation(2, "It was 1,373 in 2017 & <less> before.", page=41, page_label="41", section=()),
        citation(3, "Industrial 12,267", label="Industrial · Net sales 2018", doc_id="d2", title="10-K <2018> & more"),
        citation(4, "The bar for 2018 is the tallest.", generated=True, ocr=0.876),
        citation(
            5,
            " ".join(f"word{i}" for i in range(300)),
            page=7,
            page_label="vii",
            doc_id="d2",
            title="10-K <2018> & more",
        ),
    )
    first = answer(
        RICH,
        cited,
        claims=(
            claim(
                RICH,
                "3M spent **$1,577 million** on property, plant and equipment in 2018 [1], up from `1,373` [2].",
                "weak",
                "The year 2017 is not in the cited words.",
                1,
                2,
            ),
            claim(RICH, "Then they fell.", "uncited", ""),
            claim(RICH, "price [5]", "unsupported", "“price” is not in the cited words.", 5),
        ),
        dropped=("<<SOURCE 99>>",),
        standalone="What did 3M spend on property in 2018?",
        notes=("Two claims were not read by the judge.",),
    )
    quoted = "- **Purchases of PP&E**: “\\[1\\] were $1,577 million” [1]\n- “两亿元人民币” [2]\n"
    second = answer(
        quoted,
        (citation(1), citation(2, "资本支出为两亿元人民币。", title="年度报告", doc_id="d3", page=3, page_label="3")),
        model="offline",
        extractive=True,
    )
    refused = answer("The documents do not say. The nearest passage is about sales [1].", (citation(1),), refused=True)
    stopped = answer("It was begun [1] and", (citation(1),), status="stopped")
    failed = answer(
        "", status="failed", error={"code": "overloaded", "message": "The service is overloaded.", "hint": "Try again."}
    )
    hebrew = answer(
        "המכירות עלו ב־5% [1] לעומת 2017.", (citation(1, "המכירות עלו ב־5%", title="דוח שנתי", doc_id="d4"),)
    )
    return made(
        exchange("What did it spend in 2018?", first),
        exchange("And in <2019> & later? *Really*?", second, 60),
        exchange("Who is the CEO?", refused, 120),
        exchange("Long: " + "why and how much " * 20 + "?", stopped, 180),
        exchange("Fails?", failed, 240),
        exchange("כמה עלו המכירות?", hebrew, 300),
        exchange("Still writing?", None, 90_000),
        files={"d1": "3M_2018_10K.pdf", "d2": "other.pdf", "d3": "年度报告.pdf"},
    )
