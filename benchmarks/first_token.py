"""How long from a question to the first word of its answer, beside the bare client?

    python -m benchmarks first_token --home HOME [--set financebench-dev] [--questions 20] [--scope document|library]
    python -m benchmarks first_token --home HOME --offline

``--home`` is a home into which the set was ingested and indexed; it is written to (the ledger, kept answers), so give a
copy. A local server answers at once, so what is left is retrieval, the bare `anthropic` client (the same request, sent
again by itself, to its first piece of text) and our own: sources, prompt, look-up, threads, events. ``processor`` is
what of it the asking thread worked, which other work on the machine changes less. Each question is asked twice, each
time searched for and written anew: ``cold`` with no document in memory, ``warm`` with those of the first time.

``--offline`` gives whole answers without a model instead: seconds by the clock, of the processor in all threads, and of
it without the reranker, and how many texts it read.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.common import questions, table
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.index.shared import saved
from ragcore.index.store import OpenDocuments
from ragcore.types import Found, Retrieval, Text
from tests.messages_server import MessagesServer, Reply

Times = dict[str, float]
OWN = ("our own", "our own, processor")
ANSWER = Reply(text="It was measured in June <<SOURCE 1.1>>. It was high.", chunks=10)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--set", default="financebench-dev")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--scope", choices=("document", "library"), default="library")
    parser.add_argument("--offline", action="store_true")
    options = parser.parse_args()

    if options.offline:
        settings, origins = load(saved=saved(options.home), overrides={"llm.model": "offline"})
        with Engine(options.home, settings, origins) as quoting:
            offline(quoting, chosen(quoting, options))
        return
    with MessagesServer() as server:
        overrides = {
            "llm.model": "claude-sonnet-4-6",
            "llm.base_url": server.url,
            "agentic.decompose": "rules",
        }
        settings, origins = load(saved=saved(options.home), overrides=overrides)
        with Timed(options.home, settings, origins, api_key="none") as engine:
            asked = chosen(engine, options)
            first_token(engine, server, *asked[0])  # loads the client
            times: dict[str, list[Times]] = {"cold": [], "warm": []}
            for question, doc_ids in asked:
                engine.store.opened = OpenDocuments(1 << 28)  # as if they had not been opened yet
                for state in ("cold", "warm"):
                    measured = first_token(engine, server, question, doc_ids)
                    if measured is not None:
                        times[state].append(measured)
    rows = []
    for state, each in times.items():
        for name in ("retrieval", "to the sources", "to the first word", "bare client", *OWN):
            values = sorted(one[name] for one in each)
            middle, ninth = statistics.median(values), values[int(0.9 * (len(values) - 1))]
            rows.append((state, name, *(f"{value:.1f}" for value in (middle, ninth, values[-1]))))
    print(f"{len(times['warm'])} questions, {options.scope}; ms")
    print(table(rows, ("documents", "what", "median", "90%", "most")))


def chosen(engine: Engine, options: argparse.Namespace) -> list[tuple[str, list[str] | None]]:
    """Questions with the documents that they are asked of (None: all)."""
    engine.warm()
    ids = {info.name: info.doc_id for info in engine.documents() if info.indexed}
    known = [one for one in questions(options.set) if one["doc"] in ids]
    known = known[:: max(1, len(known) // options.questions)][: options.questions]
    return [(one["question"], [ids[one["doc"]]] if options.scope == "document" else None) for one in known]


def offline(engine: Engine, asked: list[tuple[str, list[str] | None]]) -> None:
    reranker = engine.models.reranker
    assert reranker is not None
    score, used, texts = reranker.score, 0.0, 0

    def counted(query: str, passages: Sequence[str]) -> Any:
        nonlocal used, texts
        working = time.process_time()
        scores = score(query, passages)
        used, texts = used + time.process_time() - working, texts + len(passages)
        return scores

    rows = []
    with mock.patch.object(reranker, "score", counted):
        for question, doc_ids in asked:
            used, texts = 0.0, 0
            started, working = time.perf_counter(), time.process_time()
            engine.ask(question, doc_ids=doc_ids).run()
            spent = time.process_time() - working
            rows.append((time.perf_counter() - started, spent, spent - used, texts))
    head = ("", "seconds", "processor", "without the reranker", "texts read")
    print(table([("median", *map(statistics.median, zip(*rows))), ("mean", *map(statistics.mean, zip(*rows)))], head))


class Timed(Engine):
    """An engine that says how long its last retrieval took."""

    took = worked = 0.0

    def retrieve(self, *given: Any, **named: Any) -> Retrieval:
        started, working = time.perf_counter(), time.thread_time()
        try:
            return super().retrieve(*given, **named)
        finally:
            self.took, self.worked = _ms(started), (time.thread_time() - working) * 1000


def first_token(engine: Timed, server: MessagesServer, question: str, doc_ids: list[str] | None) -> Times | None:
    """Milliseconds of each part for one question; None where it was refused before anything was sent."""
    server.reply(ANSWER)
    before = len(server.requests)
    found = first = worked = 0.0
    started, working = time.perf_counter(), time.thread_time()
    run = engine.ask(question, doc_ids=doc_ids)
    for event in run:
        if isinstance(event, Found):
            found = _ms(started)
        elif isinstance(event, Text) and not first:
            first, worked = _ms(started), (time.thread_time() - working) * 1000
    if len(server.requests) == before:
        server.forget()
        return None
    server.reply(ANSWER)
    bare = _bare(server.url, server.requests[-1]["body"])
    return {
        "retrieval": engine.took,
        "to the sources": found - engine.took,
        "to the first word": first,
        "bare client": bare,
        "our own": first - engine.took - bare,
        "our own, processor": worked - engine.worked,
    }


def _bare(url: str, body: dict[str, Any]) -> float:
    """The same request through the client alone, to its first piece of text, on a connection that is open."""
    client = _client(url)
    temperature = body.pop("temperature", None)
    started = time.perf_counter()
    stream = client.messages.create(**body, extra_body=None if temperature is None else {"temperature": temperature})
    for event in stream:
        if event.type == "content_block_delta":
            took = _ms(started)
            break
    for _ in stream:
        pass
    return took


_clients: dict[str, Any] = {}


def _client(url: str) -> Any:
    import anthropic

    if url not in _clients:
        _clients[url] = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
    return _clients[url]


def _ms(started: float) -> float:
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
