"""JSON payload of the conversation list and of conversation costs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

from ragcore.engine import Engine
from ragcore.index.conversations import ConversationInfo
from ragcore.text.numbers import plural
from ragcore.types import Spending
from ragcore.types.json import Json
from ui.chat.payload import dollars, model_name

PURPOSES = {
    "answer": "answers",
    "report": "reports",
    "plan": "planning searches",
    "rewrite": "rewriting questions",
    "judge": "checking claims",
    "figures": "describing figures",
    "contexts": "summaries",
    "structure": "reading relations",
    "evaluate": "judging answers",
}


def listed(infos: Sequence[ConversationInfo], limit: int | None) -> Json:
    """First ``limit`` conversations (None: all), grouped by day; ``total`` counts all of them. Those that
    others share come last."""
    own, shared = [info for info in infos if info.own], [info for info in infos if not info.own]
    shown = own if limit is None else own[:limit]
    days = [{"day": day, "items": [_line(info) for info in items]} for day, items in groupby(shown, key=_day)]
    if shared:
        days.append({"day": "Shared", "items": [_line(info) for info in shared[:limit]]})
    return {"total": len(own) + len(shared[:limit]), "days": days}


def _line(info: ConversationInfo) -> Json:
    found = "" if info.found == info.title else info.found  # the title is there already
    return {"id": info.conversation_id, "title": info.title, "found": found}


def _day(info: ConversationInfo) -> str:
    day = datetime.fromtimestamp(info.updated).date()
    ago = (date.today() - day) / timedelta(days=1)
    return "Today" if ago < 1 else "Yesterday" if ago < 2 else "Last 7 days" if ago < 7 else day.strftime("%B %Y")


def spending(engine: Engine, conversation_id: str) -> Json:
    """Cost of a conversation's answers, including hidden versions, and ``all`` spending ever, itemised. Empty when
    nothing was paid."""
    spent = engine.spending()
    if not spent.calls:
        return {}
    here = engine.conversations.cost(conversation_id)
    return {"here": dollars(here), "all": dollars(spent.usd), "parts": parts(spent)}


def parts(spent: Spending) -> list[str]:
    """Itemised costs such as ``Claude Sonnet 4.6, answers: $0.12, 3 calls``, dearest first."""
    return [
        f"{model_name(entry.model)}, {PURPOSES[entry.purpose]}: {dollars(entry.usd)}, {plural(entry.calls, 'call')}"
        for entry in spent.entries
    ]
