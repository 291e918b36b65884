"""A library of made reports, and a client of ``groundwork mcp``, a process of its own, called without ``await``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from ragcore.engine import Engine
from ragcore.index.database import URL
from tests import pdfs

OFFLINE = {"GROUNDWORK_LLM__MODEL": "offline"}
# Facts of the reports, each with a question and what an answer has to have.
FACTS = {
    "Larkfield water survey": [
        ("The survey sampled 214 wells in Larkfield county.", "How many wells did the survey sample?", "214"),
        ("The highest nitrate reading was 61.4 milligrams per litre.", "What was the highest nitrate reading?", "61.4"),
        ("Orchard Lane pump was closed on 3 March 2021.", "When was Orchard Lane pump closed?", "3 March 2021"),
        ("The laboratory in Northtown analysed all samples.", "Where were the samples analysed?", "Northtown"),
        ("Repairs of the pumps cost 182,000 dollars.", "What did the repairs of the pumps cost?", "182,000"),
    ],
    "Fernhill Bakery annual report": [
        ("Fernhill Bakery had revenues of 4.7 million dollars in 2022.", "What revenues had Fernhill Bakery?", "4.7"),
        ("The bakery employs 63 people at two sites.", "How many people does the bakery employ?", "63"),
        ("Mara Voss has led the bakery since 2016.", "Who leads the bakery?", "Mara Voss"),
        ("A new oven for rye bread was bought in Millbrook.", "Where was the new oven bought?", "Millbrook"),
        ("The dividend was 1.20 dollars a share.", "How high was the dividend?", "1.20"),
    ],
    "Trial of drug ZK-114": [
        ("The trial enrolled 480 patients in nine hospitals.", "How many patients did the trial enrol?", "480"),
        ("The dose of ZK-114 was 25 milligrams twice a day.", "What was the dose of ZK-114?", "25 milligrams"),
        ("Headache was the most frequent adverse event.", "What was the most frequent adverse event?", "Headache"),
        ("Median survival was 14.3 months in the treated group.", "What was the median survival?", "14.3"),
        ("The trial was stopped early for benefit.", "Why was the trial stopped early?", "benefit"),
    ],
    "Harbour bridge inspection": [
        ("The bridge is 612 metres long and has four lanes.", "How long is the bridge?", "612"),
        ("Inspectors found corrosion on 17 of 96 hangers.", "On how many hangers was corrosion found?", "17"),
        ("The deck was last resurfaced in 2009.", "When was the deck last resurfaced?", "2009"),
        ("Traffic is limited to 60 kilometres per hour.", "What is the speed limit for traffic?", "60"),
        ("Dr. Iva Lund signed the inspection report.", "Who signed the inspection report?", "Lund"),
    ],
}


def reports() -> dict[str, bytes]:
    """The files of the library: a heading and a sentence between others for each fact."""
    made = {}
    for title, facts in FACTS.items():
        parts = {f"Part {n}": [f"{said} This is told in more detail below."] for n, (said, _, _) in enumerate(facts, 1)}
        made[f"{title.split()[0].lower()}.pdf"] = pdfs.report(title, parts)
    return made


@dataclass
class Tools:
    """Connected client."""

    portal: BlockingPortal
    client: Client
    progress: list[str]

    def names(self) -> list[str]:
        return [tool.name for tool in self.portal.call(self.client.list_tools).tools]

    def result(self, name: str, **arguments: Any) -> CallToolResult:
        self.progress.clear()

        async def told(_done: float, _total: float | None, message: str | None) -> None:
            self.progress.append(message or "")

        return self.portal.call(lambda: self.client.call_tool(name, arguments, progress_callback=told))

    def call(self, name: str, **arguments: Any) -> Any:
        """What a tool says; it must not be an error."""
        found = self.result(name, **arguments)
        assert not found.is_error, found.content
        return found.structured_content

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        """An error of a tool, which says the same in words, on one line."""
        found = self.result(name, **arguments)
        assert found.is_error, found.content
        told: dict[str, Any] = found.structured_content["error"]
        assert [part.type == "text" and part.text for part in found.content] == [f"{told['message']} {told['hint']}"]
        assert "\n" not in told["message"] + told["hint"]
        return told


@contextmanager
def connected(
    home: Path, *arguments: str, env: Mapping[str, str] = OFFLINE, heard: Path | None = None
) -> Iterator[Tools]:
    """Client of the server's process; all that it writes to its standard output is also in the file ``heard``."""
    command: Sequence[str] = [sys.executable, "-m", "ragcore.cli", "--home", str(home), "mcp", *arguments]
    if heard is not None:
        command = ["sh", "-c", 'out="$1"; shift; "$@" | tee "$out"', "sh", str(heard), *command]
    there = {URL: os.environ[URL]} if URL in os.environ else {}
    parameters = StdioServerParameters(
        command=command[0],
        args=list(command[1:]),
        env={**env, **there},
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(parameters)) as client:
        yield Tools(portal, client, [])


def placed(told: Any) -> list[dict[str, Any]]:
    """All places in a reply, however deep."""
    if isinstance(told, list):
        return [place for each in told for place in placed(each)]
    if not isinstance(told, dict):
        return []
    own = [told] if {"doc_id", "quote", "start", "end"} <= told.keys() else []
    return own + [place for each in told.values() for place in placed(each)]


def valid(engine: Engine, told: Any) -> int:
    """The number of places in a reply, each of which must be what it says."""
    places = placed(told)
    for place in places:
        read = engine.document(place["doc_id"])
        start, end = place["start"], place["end"]
        assert place["quote"] == read.text[start:end] != ""
        assert place["boxes"] == [box.as_dict() for box in read.boxes(start, end)] != []
        assert place["page"] in {box["page"] for box in place["boxes"]}
        assert (place["title"], place["page_label"]) == (read.title, read.pages[place["page"] - 1].label)
    return len(places)


Call = Callable[..., Any]


def asks(ask: Call, locate: Call, engine: Engine, questions: int) -> str:
    """What a program finds that asks questions and locates each first quotation; every place must be valid."""
    places = right = 0
    facts = [fact for nth in zip(*FACTS.values()) for fact in nth][:questions]
    assert len(facts) == questions
    for _, question, wanted in facts:
        answer = ask(question=question)
        places += valid(engine, answer)
        assert answer["status"] == "complete"
        assert {n for claim in answer["claims"] for n in claim["citations"]} <= {c["n"] for c in answer["citations"]}
        right += any(wanted in citation["quote"] for citation in answer["citations"])
        first = answer["citations"][0]
        located = locate(quotation=first["quote"], documents=[first["doc_id"]])
        places += valid(engine, located)
        assert (first["start"], first["page"]) in {(one["start"], one["page"]) for one in located["places"]}
    assert places >= 2 * questions
    assert right >= 0.8 * questions
    return f"{questions} questions, {right} with the fact cited, {places} places, all valid"
