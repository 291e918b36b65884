"""Question commands: ``retrieve``, ``generate``, ``conversation``, and ``export`` of a conversation."""

from __future__ import annotations

import argparse
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli import output as printing
from ragcore.cli.common import Json, documents_asked, print_json, say_error, show, stopped_by_ctrl_c, write_file
from ragcore.errors import GroundworkError
from ragcore.export import kind
from ragcore.types import EVERYTHING, Scope
from ragcore.types import json as wire
from ragcore.types.json import plain
from ragcore.types.scope import within

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.index.conversations import Conversation
    from ragcore.types import Answer


def retrieve(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.retrieve(
        options.question,
        doc_ids=documents_asked(engine, options.doc),
        pages=options.pages,
        kinds=options.kind,
    )
    nothing = not found.hits and not options.json  # then only the last note is printed
    for note in found.notes[:-1] if nothing else found.notes:
        print(note, file=sys.stderr)
    if options.json:
        print_json(wire.retrieval(found, engine.document))
    else:
        printing.retrieval(found, engine.document)
        if nothing:
            print(found.notes[-1])
    return 0


def generate(engine: Engine, options: argparse.Namespace) -> int:
    doc_ids = documents_asked(engine, options.doc)
    run = engine.ask(options.question, doc_ids=doc_ids, pages=options.pages, kinds=options.kind)
    with stopped_by_ctrl_c(run.stop):
        answer = run.run()
    _show(answer, options)
    return 0 if answer.status == "complete" else 1


def conversation(engine: Engine, options: argparse.Namespace) -> int:
    if options.list is not None:
        return _conversations(engine, options)
    after, stopped = "", False
    if options.resume is not None:
        resumed = _resume(engine, options)
        conversation_id = resumed.info.conversation_id
        after = resumed.turns[-1].turn_id if resumed.turns else ""
    else:
        scope = Scope(documents_asked(engine, options.doc), options.pages, tuple(options.kind))
        conversation_id = engine.conversations.new(scope)

    def ask(question: str) -> int:
        nonlocal after, stopped
        try:
            run = engine.chat(conversation_id, question, after=after)
            after = run.turn_id or after
            with stopped_by_ctrl_c(run.stop):
                answer = run.run()
        except GroundworkError as error:
            if options.json:
                print_json({"question": question, "error": error.as_dict()})
            else:
                say_error(error)
            return 1
        extra = {"conversation_id": conversation_id, "turn_id": run.turn_id}
        _show(answer, options, extra)
        stopped = answer.status == "stopped"
        if run.unsaved is not None:
            say_error(run.unsaved, "This answer couldn't be saved")
        return 0 if answer.status == "complete" and run.unsaved is None else 1

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    print(f"Conversation {conversation_id}. Press Enter on an empty line, or Ctrl-D, to end it.", file=sys.stderr)
    code = 0
    # Stopping a list of questions also cancels the next ones.
    while sys.stdin.isatty() or not stopped:
        if sys.stdin.isatty():
            print("\n? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line or (sys.stdin.isatty() and not line.strip()):
            return code
        if line.strip():
            code = max(code, ask(line.strip()))
    return code


def _conversations(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.conversations.all(options.list)
    show(options, {"conversations": plain(found)}, lambda: printing.conversations(found))
    if not found and not options.json:
        said = "No conversation contains these words." if options.list.strip() else "There are no conversations."
        print(said, file=sys.stderr)
    return 0


def _resume(engine: Engine, options: argparse.Namespace) -> Conversation:
    """Conversation to continue; given documents, pages and kinds replace those of its scope from now on."""
    conversation = engine.conversations.get(options.resume)
    scope = replace(
        conversation.scope,
        doc_ids=documents_asked(engine, options.doc) if options.doc else conversation.scope.doc_ids,
        pages=options.pages or conversation.scope.pages,
        kinds=tuple(options.kind) or conversation.scope.kinds,
        without=() if options.doc else conversation.scope.without,
    )
    if scope != conversation.scope:
        engine.conversations.set_scope(options.resume, scope)
    for turn in conversation.turns:
        version = turn.versions.index(turn.turn_id) + 1
        of = f" ({version} of {len(turn.versions)})" if len(turn.versions) > 1 else ""
        print(f"> {turn.question}{of}", file=sys.stderr)
    if scope != EVERYTHING:
        searched = sum(scope.holds(info.doc_id) for info in engine.documents())
        print(f"Searches {within(scope, searched)}.", file=sys.stderr)
    return conversation


def export(engine: Engine, options: argparse.Namespace) -> int:
    path: Path | None = options.output
    chosen = kind("md" if path is None else path.suffix[1:])
    data = engine.export(options.conversation, chosen)
    if path is not None:
        write_file(path, data)
    written = {"markdown": data.decode()} if path is None else {"path": str(path)}
    if options.json:
        print_json({"conversation_id": options.conversation, "kind": chosen, "bytes": len(data)} | written)
    elif path is None:
        print(data.decode(), end="")
    else:
        print(f"Wrote {path}.", file=sys.stderr)
    return 0


def _show(answer: Answer, options: argparse.Namespace, extra: Json | None = None) -> None:
    if options.json:
        print_json(wire.answer(answer) | (extra or {}))
        return
    printing.answer(answer, passages=options.passages)
    for note in (*(answer.trace.notes if answer.trace else ()), *answer.notes):
        print(note, file=sys.stderr)
    if answer.error:
        say_error(answer.error)
