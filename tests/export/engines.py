"""A library with a conversation in it, stored as an answer is when it is finished."""

from __future__ import annotations

from ragcore.engine import Engine
from ragcore.index.conversations import Conversations
from tests.export import samples


def told(engine: Engine, question: str = "What did it spend?") -> str:
    """The id of a conversation with two questions, the second without an answer."""
    conversations = Conversations(engine.store.database)
    conversation_id = conversations.new()
    text = "It spent **$1,577 million** [1]."
    first = conversations.add_turn(conversation_id, question)
    conversations.put_answer(first, samples.answer(text, (samples.citation(1),)))
    conversations.add_turn(conversation_id, "And later?")
    return conversation_id
