"""What the contexts of a document will cost, before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from ragcore.config.settings import Settings
from ragcore.context.requests import Ask
from ragcore.context.write import Work
from ragcore.protocols import ContextCache
from ragcore.text.sentences import count_tokens
from ragcore.types import Chunk, Document, Usage
from ragcore.types.library import Estimate
from ragcore.types.prices import cost

# The service's tokens are smaller than cl100k's: in English prose by about this.
FINER = 1.25
# Shorter material is not kept by the service's prompt cache (1,024 to 4,096 tokens, by model).
CACHE_MINIMUM = 2048
TYPICAL_OUTPUT = 0.7  # of the longest text allowed


def estimate(
    document: Document, chunks: Sequence[Chunk], *, model: str, cache: ContextCache, settings: Settings
) -> Estimate:
    """Requests of which nothing is cached, counted as they would be sent: the first of a material writes the service's
    cache and the others read it there."""
    work = Work(document, chunks, cache, settings)
    auto = settings.context.summaries == "auto"
    summaries = [ask for ask in work.summaries.values() if auto and not work.known(ask, model)]
    spent = [_alone(ask) for ask in summaries]
    passages = 0
    for group in work.groups():
        asks = {ask.key: ask for ask, _chunk in group if not work.known(ask, model)}
        passages += len(asks)
        spent += [_in_row(ask, first=place == 0) for place, ask in enumerate(asks.values())]
    usage = Usage(
        sum(each.input_tokens for each in spent),
        sum(each.output_tokens for each in spent),
        sum(each.cache_read_tokens for each in spent),
        sum(each.cache_write_tokens for each in spent),
    )
    limit = max(0.0, settings.context.max_usd - cache.spent(document.doc_id))
    price = cost(usage, model, settings.llm.prices)
    return Estimate(
        document.doc_id,
        document.title,
        len(chunks),
        len(summaries),
        passages,
        model,
        usage,
        None if price is None else round(price, 4),
        round(limit, 4),
    )


def _alone(ask: Ask) -> Usage:
    return Usage(_tokens(ask.request.system) + _tokens(ask.request.messages[-1].text), _output(ask))


def _in_row(ask: Ask, *, first: bool) -> Usage:
    material, question = ask.request.messages
    kept, asked = _tokens(ask.request.system) + _tokens(material.text), _tokens(question.text)
    if kept < CACHE_MINIMUM:
        return Usage(kept + asked, _output(ask))
    return Usage(asked, _output(ask), 0 if first else kept, kept if first else 0)


def _output(ask: Ask) -> int:
    return math.ceil(ask.request.max_tokens * TYPICAL_OUTPUT)


@lru_cache(maxsize=8)  # many requests in a row have one material
def _tokens(text: str) -> int:
    return math.ceil(count_tokens(text) * FINER)
