"""A local server that speaks the Messages API, and misbehaves on request.

In tests it is scripted: ``server.reply(Reply(...))`` queues what the next request gets, and ``server.requests`` keeps
what was asked. With nothing queued it answers from the prompt: one sentence of source 1, one of source 2, each cited,
and one invented source. Requests for a form (a tool that must be called) have a queue of their own, ``server.plan``;
with nothing in it the form says that the question is one and that nothing is missing.
``python -m tests.messages_server --port 8899`` serves that for a whole app.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
PICTURE = "A picture with one plain area of a single colour. Nothing is printed in it."
_NAMES = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)+")
_UNIT = re.compile(r"\[(\d+)\.(\d+)\] (.*?)(?=\s*(?:\||\[\d+\.\d+\]|$))", re.MULTILINE)


@dataclass
class Reply:
    """One answer of the server. ``text`` is streamed in ``chunks`` pieces (or as the given list of pieces).

    ``status`` other than 200 sends an error; ``disconnect_after`` cuts the connection after so many pieces,
    ``error_after`` sends an error event (of HTTP status ``error_status``) there, ``end_after`` just ends the body;
    ``delay`` waits before each piece and ``first_delay`` before the headers; ``tool`` is a (name, input) to call
    after the text, its input as an object or as text that need not be JSON, sent in ``chunks`` pieces or, with
    ``at_once``, where the tool's block begins. ``delay`` and the cuts count its pieces after those of the text.
    ``raw`` is sent as the whole body, of ``content_type``; ``insert`` has bytes that are put into the stream of
    events before so many pieces; ``headers_end`` cuts the connection after so many bytes of the response's head;
    without ``counts`` no usage is told, and with ``ends`` off the stream's own end does not come. With ``pings`` a
    ping comes every 50 ms of ``delay``. The last piece of the text waits ``until`` this is set.
    """

    text: str | list[str] = ""
    chunks: int = 8
    status: int = 200
    message: str = "as scripted"
    headers: dict[str, str] = field(default_factory=dict)
    stop_reason: str = "end_turn"
    stop_details: dict[str, Any] | None = None
    delay: float = 0.0
    first_delay: float = 0.0
    until: threading.Event | None = None
    disconnect_after: int | None = None
    error_after: int | None = None
    error_status: int = 529
    end_after: int | None = None
    tool: tuple[str, dict[str, Any] | str] | None = None
    at_once: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    model: Any = None
    raw: bytes | None = None
    content_type: str = "text/html"
    insert: dict[int, bytes] = field(default_factory=dict)
    headers_end: int | None = None
    counts: bool = True
    ends: bool = True
    pings: bool = False

    def pieces(self) -> list[str]:
        if isinstance(self.text, list):
            return self.text
        return _cut(self.text, self.chunks)

    def tool_pieces(self) -> list[str]:
        if self.tool is None or self.at_once:
            return []
        given = self.tool[1]
        return _cut(given if isinstance(given, str) else json.dumps(given), self.chunks)


def _cut(text: str, chunks: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, chunks)))
    return [text[i : i + size] for i in range(0, len(text), size)]


class MessagesServer:
    """``with MessagesServer() as server:`` serves on ``server.url`` until the block ends. No other server has its URL,
    not even a later one on the same port, for which answers that a library keeps would be taken."""

    _made = itertools.count(1)

    def __init__(self, port: int = 0) -> None:
        self.requests: list[dict[str, Any]] = []
        self.hung_up = threading.Event()
        self.asked = threading.Event()
        self.closed = threading.Event()
        self._replies: deque[Reply] = deque()
        self._plans: deque[Reply] = deque()
        owner = self

        class Handler(_Handler):
            server_owner = owner

        self._http = _Server(("127.0.0.1", port), Handler)
        self._name = next(self._made)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{self._name}"

    def reply(self, *replies: Reply) -> None:
        """Queue what the next requests get, in order."""
        self._replies.extend(replies)

    def plan(self, *replies: Reply) -> None:
        """Queue what the next requests for a form get, in order."""
        self._plans.extend(replies)

    def forget(self) -> None:
        """Take back what is queued and was not asked for."""
        self._replies.clear()
        self._plans.clear()

    @property
    def forms(self) -> list[dict[str, Any]]:
        """The bodies of the requests for a form."""
        return [request["body"] for request in self.requests if "tools" in request["body"]]

    def next_reply(self, body: dict[str, Any]) -> Reply:
        if "tools" in body:
            return self._plans.popleft() if self._plans else Reply(tool=form_from_prompt(body))
        if self._replies:
            return self._replies.popleft()
        return Reply(text=answer_from_prompt(body))

    def __enter__(self) -> MessagesServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._http.serve_forever()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def answer_from_prompt(body: dict[str, Any]) -> str:
    """An answer that cites what the prompt holds: a sentence of source 1, one of source 2, and an invented source; of a
    picture `PICTURE`."""
    if any(isinstance(part, dict) and part.get("type") == "image" for part in body["messages"][-1]["content"]):
        return PICTURE
    prompt = json.dumps([message["content"] for message in body["messages"]], ensure_ascii=False)
    prompt = prompt.replace("\\n", "\n").replace('\\"', '"')
    units: dict[int, list[tuple[int, str]]] = {}
    for source, unit, text in _UNIT.findall(prompt):
        units.setdefault(int(source), []).append((int(unit), text.strip()))
    if not units:
        return "<<NO ANSWER>> The sources say nothing about it."
    sentences = []
    for source in sorted(units)[:2]:
        number, text = next((item for item in units[source] if len(item[1].split()) > 5), units[source][0])
        sentences.append(f"{text.rstrip('.')} <<SOURCE {source}.{number}>>.")
    return " ".join(sentences) + " This last sentence rests on nothing <<SOURCE 99>>."


def form_from_prompt(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The form that is asked for: the question stands alone and is one, nothing is missing, each claim is supported,
    a sentence of a draft is confirmed by the first passage, the first two names of a sentence are related, and each
    sentence is a claim, entailed by a text that has it."""
    name = body["tools"][0]["name"]
    if name == "list_entities":
        asked, _ = json.JSONDecoder().raw_decode(body["messages"][-1]["content"].split("\n", 1)[1].lstrip())
        found = [(one["n"], _NAMES.findall(one["text"])) for one in asked["sentences"]]
        entities = [{"name": each, "about": f"{each} as told.", "n": [n]} for n, names in found for each in names]
        related = [(n, names) for n, names in found if len(names) > 1]
        relations = [{"source": a, "target": b, "what": f"{a} with {b}.", "n": [n]} for n, (a, b, *_) in related]
        return name, {"entities": entities, "relations": relations}
    if name in ("list_claims", "judge_claims"):
        asked, _ = json.JSONDecoder().raw_decode(body["messages"][-1]["content"].split("\n", 1)[1].lstrip())
        if name == "list_claims":
            told = [part.split(" ", 1) for part in re.split(r"(?<=[.!?])\s+", asked["text"]) if " " in part]
            return name, {"claims": [{"subject": a, "relation": "is told of", "object": b} for a, b in told]}
        held = {one["claim"]: one["object"] in asked["text"] for one in asked["claims"]}
        verdicts = [{"claim": n, "verdict": "Entailment" if says else "Neutral"} for n, says in held.items()]
        return name, {"verdicts": verdicts}
    if name == "give_verdicts":
        asked, _ = json.JSONDecoder().raw_decode(body["messages"][-1]["content"])
        verdicts = [{"claim": one["claim"], "verdict": "supported", "reason": "As cited."} for one in asked["claims"]]
        return name, {"verdicts": verdicts}
    if name == "give_verdict":
        return name, {"verdict": "confirmed", "passages": [1], "wrong": [], "missing": [], "reason": "As cited."}
    if name == "stand_alone":
        asked, _ = json.JSONDecoder().raw_decode(body["messages"][-1]["content"])
        return name, {"question": asked["question"]}
    if name != "search_for":
        return name, {"missing": []}
    question = json.loads(body["messages"][-1]["content"].split("\n")[1])
    return name, {"sub_queries": [{"query": question, "reason": "the whole question"}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_owner: MessagesServer

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        owner = self.server_owner
        owner.requests.append({"path": self.path, "headers": dict(self.headers.items()), "body": body})
        owner.asked.set()
        if not self.path.split("?")[0].endswith("/v1/messages"):
            self._send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": self.path}}, {})
            return
        reply = owner.next_reply(body)
        try:
            self._wait(reply.first_delay)
            self._answer(reply, body)
        except (BrokenPipeError, ConnectionResetError):
            owner.hung_up.set()
            self.close_connection = True

    def _wait(self, seconds: float) -> None:
        """Let time pass. A server that is closed hangs up instead, so that no client waits for it to the end."""
        if self.server_owner.closed.wait(max(0.0, seconds)):
            raise ConnectionResetError

    def _answer(self, reply: Reply, body: dict[str, Any]) -> None:
        if reply.headers_end is not None:
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self.wfile.write(head[: reply.headers_end])
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif reply.raw is not None:
            self.send_response(reply.status)
            for name, text in reply.headers.items():
                self.send_header(name, text)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.raw)))
            self.end_headers()
            self.wfile.write(reply.raw)
        elif reply.status != 200:
            self._send_json(reply.status, _error(reply.status, reply.message), reply.headers)
        elif body.get("stream"):
            self._stream(reply, body)
        else:
            self._send_json(200, _message(reply, body), reply.headers)

    def _send_json(self, status: int, value: dict[str, Any], headers: dict[str, str]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in _events(reply, body):
            if name == "disconnect":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if name == "end":
                break
            if name == "wait":
                until = time.monotonic() + float(data["seconds"])
                while reply.pings and time.monotonic() < until:
                    self._event(b'event: ping\ndata: {"type": "ping"}\n\n')
                    self._wait(0.05)
                self._wait(until - time.monotonic())
                continue
            self._event(data["bytes"] if name == "raw" else f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
        if reply.ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _event(self, event: bytes) -> None:
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


def _events(reply: Reply, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": 100, "output_tokens": 1, **reply.usage}
    final = usage["output_tokens"] if "output_tokens" in reply.usage else max(1, len("".join(reply.pieces())) // 4)
    start = _message(Reply(model=reply.model), body)
    start.update(content=[], stop_reason=None, usage={**usage, "output_tokens": 1})
    if not reply.counts:
        del start["usage"]
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.tool is None or reply.pieces():
        text = {"type": "text", "text": ""}
        blocks.append((text, [{"type": "text_delta", "text": piece} for piece in reply.pieces()]))
    if reply.tool is not None:
        at_once = reply.tool[1] if reply.at_once else {}
        block = {"type": "tool_use", "id": "toolu_1", "name": reply.tool[0], "input": at_once}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": piece} for piece in reply.tool_pieces()]))
    count = 0
    for index, (block, deltas) in enumerate(blocks):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
        last = [None] if index == len(blocks) - 1 else []
        for delta in [*deltas, *last]:
            if count in reply.insert:
                yield "raw", {"bytes": reply.insert[count]}
            if reply.disconnect_after == count:
                yield "disconnect", {}
            if reply.end_after == count:
                yield "end", {}
            if reply.error_after == count:
                yield "error", _error(reply.error_status, reply.message)
                yield "end", {}
            count += 1
            if delta is not None:
                yield "wait", {"seconds": reply.delay}
                while reply.until is not None and delta is deltas[-1] and not reply.until.is_set():
                    yield "wait", {"seconds": 0.05}
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    reason = "tool_use" if reply.tool is not None and reply.stop_reason == "end_turn" else reply.stop_reason
    ended = {"stop_reason": reason, "stop_sequence": None, "stop_details": reply.stop_details}
    counted = {"usage": {"output_tokens": final}} if reply.counts else {}
    yield "message_delta", {"type": "message_delta", "delta": ended, **counted}
    yield "message_stop", {"type": "message_stop"}


def _message(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "".join(reply.pieces())}]
    if reply.tool is not None:
        content.append({"type": "tool_use", "id": "toolu_1", "name": reply.tool[0], "input": reply.tool[1]})
    return {
        "id": "msg_local",
        "type": "message",
        "role": "assistant",
        "model": reply.model or body.get("model", "local"),
        "content": content,
        "stop_reason": "tool_use" if reply.tool is not None else reply.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10, **reply.usage},
    }


def _error(status: int, message: str) -> dict[str, Any]:
    kind = ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_local"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the Messages API locally with canned, citing answers.")
    parser.add_argument("--port", type=int, default=8899)
    server = MessagesServer(parser.parse_args().port)
    print(f"ANTHROPIC_BASE_URL={server.url}", flush=True)
    server.serve()


if __name__ == "__main__":
    main()
