"""Question commands: ``retrieve``, ``generate``, ``conversation``, ``export`` of a conversation, and ``template``: a
report."""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli.common import (
    documents_asked,
    moment,
    print_json,
    say_error,
    scope_asked,
    show,
    stopped_in_order,
    write_file,
)
from ragcore.errors import GroundworkError
from ragcore.export import KINDS, kind
from ragcore.report.files import TEXT_KINDS
from ragcore.report.template import load_template
from ragcore.text.markdown import plain as without_markdown
from ragcore.text.mentions import key_of
from ragcore.text.numbers import plural
from ragcore.types import AS_TYPED, EVERYTHING, GENERATED_MARKS
from ragcore.types import json as wire
from ragcore.types.json import Json, plain
from ragcore.types.report import Focus
from ragcore.types.scope import within

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.index.conversations import Conversation
    from ragcore.types import Answer, NamePath
    from ragcore.types.report import Report

MOST_BESIDE = 12  # names that `graph` lists


def retrieve(engine: Engine, options: argparse.Namespace) -> int:
    asked = scope_asked(engine, options)
    found = engine.retrieve(
        options.question, doc_ids=asked.doc_ids, pages=asked.pages, kinds=asked.kinds, sections=asked.sections
    )
    # Without hits, people get the last note on stdout.
    for note in found.notes if found.hits or options.json else found.notes[:-1]:
        print(note, file=sys.stderr)
    lines = [f"Searched first: {engine.document(route.doc_id).title} ({route.reason})" for route in found.routes[:3]]
    for number, query in enumerate(found.queries, start=1):
        lines += [f"Query {number} ({query.origin}): {query.text} ({query.reason})"] if number > 1 else []
        lines += [f"Following {', '.join(query.names)}"] if query.names else []
    for theme in found.overview.themes if found.overview is not None else ():
        size = f"{plural(theme.size, 'passage')}, {plural(len(theme.doc_ids), 'document')}"
        lines.append(f"Theme: {'; '.join(theme.labels)} ({size})")
    for hit in found.hits:
        source = engine.document(hit.chunk.doc_id)
        shown = found.scope.cut(hit.chunk)
        pages = ", ".join(str(page) for page in source.pages_of(shown.start, shown.end))
        text = " ".join(shown.text.split())
        lines.append(f"{hit.rank:3}  {hit.score:.3f}  {source.title}, p. {pages}  {text[:100]}")
        lines += [f"{'':12}{_told(path, engine)}" for path in found.paths if path.chunk_id == hit.chunk.chunk_id]
    show(options, lambda: wire.retrieval(found, engine.document), lines if found.hits else [*lines, found.notes[-1]])
    return 0


def _told(path: NamePath, engine: Engine) -> str:
    """Path on one line: ``Hello Love → Graham Parker (Song, p. 3) → this passage (Deepcut, p. 1)``."""
    told = []
    for step in path.steps:
        source = engine.document(step.doc_id) if step.doc_id else None
        last = step is path.steps[-1]
        where = f" ({source.title}, p. {source.page_at(step.start, step.end)})" if source is not None else ""
        told.append(f"{step.name or ('this passage' if last else 'a passage')}{where}")
    return " → ".join(told)


def graph(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.sentences_with(options.name)
    own = key_of(options.name)
    counted = Counter(key for one in found for key in one.names if key != own)
    printed = {key: words for one in reversed(found) for key, words in one.names.items()}
    beside = [{"name": printed[key], "sentences": count} for key, count in counted.most_common(MOST_BESIDE)]
    mentions, lines = list[Json](), list[str]()
    for doc_id, sentences in groupby(found, key=lambda one: one.doc_id):
        source = engine.document(doc_id)
        lines.append(source.title)
        for one in sentences:
            page, boxes = source.page_at(one.start, one.end), plain(source.boxes(one.start, one.end))
            place = {"page": page, "start": one.start, "end": one.end, "quote": one.quote, "boxes": boxes}
            mentions.append({"doc_id": doc_id, "title": source.title} | place)
            lines.append(f"  p. {page}  {' '.join(one.quote.split())}")
    if beside:
        lines.append(f"In the same sentence: {', '.join('{name} ({sentences})'.format(**one) for one in beside)}")
    if not found:
        lines = [f"No document names {options.name}."]
    show(options, lambda: {"name": options.name, "mentions": mentions, "neighbours": beside}, lines)
    return 0


def generate(engine: Engine, options: argparse.Namespace) -> int:
    asked = scope_asked(engine, options)
    run = engine.ask(
        options.question, doc_ids=asked.doc_ids, pages=asked.pages, kinds=asked.kinds, sections=asked.sections
    )
    with stopped_in_order(run.stop):
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
        conversation_id = engine.conversations.new(scope_asked(engine, options))

    def ask(question: str) -> int:
        nonlocal after, stopped
        try:
            run = engine.chat(conversation_id, question, after=after)
            after = run.turn_id or after
            with stopped_in_order(run.stop):
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
            if not (sys.stdin.isatty() or options.json):
                print(f"? {line.strip()}\n")  # who reads a list of answers sees what each is to
            code = max(code, ask(line.strip()))
    return code


def _conversations(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.conversations.all(options.list)
    lines = []
    for info in found:
        questions = "question " if info.turns == 1 else "questions"
        lines.append(f"{info.conversation_id}  {moment(info.updated)}  {info.turns:3} {questions}  {info.title}")
        lines += [f"{'':14}{info.found}"] if info.found else []
    show(options, lambda: {"conversations": plain(found)}, lines)
    if not found and not options.json:
        said = "No conversation contains these words." if options.list.strip() else "There are no conversations."
        print(said, file=sys.stderr)
    return 0


def _resume(engine: Engine, options: argparse.Namespace) -> Conversation:
    """Conversation to continue; a scope given now replaces its own."""
    conversation = engine.conversations.get(options.resume)
    given = scope_asked(engine, options)
    scope = conversation.scope if given == EVERYTHING else given
    if scope != conversation.scope:
        engine.conversations.set_scope(options.resume, scope)
    for turn in conversation.turns:
        version = turn.versions.index(turn.turn_id) + 1
        of = f" ({version} of {len(turn.versions)})" if len(turn.versions) > 1 else ""
        print(f"> {turn.question}{of}", file=sys.stderr)
    if scope != EVERYTHING:
        searched = sum(scope.holds(info.doc_id) for info in engine.documents())
        print(f"Searches {within(scope, searched, engine.store.titles())}.", file=sys.stderr)
    return conversation


def export(engine: Engine, options: argparse.Namespace) -> int:
    path: Path | None = options.output
    chosen = kind("md" if path is None else path.suffix[1:], KINDS)
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
    if answer.rewritten_by == AS_TYPED:
        print("Searched as you typed it.\n")
    elif answer.standalone:
        print(f"Understood as: {answer.standalone}\n")
    if answer.extractive and not answer.refused:
        print("Quotes from your documents:\n")
    print(without_markdown(answer.text))
    for claim in answer.claims:
        if claim.status in ("weak", "unsupported"):
            print(f"  ! {claim.status}: {claim.text} ({claim.reason})")
    print()
    for citation in answer.citations:
        label = f" ({citation.label})" if citation.label else " (AI description)" if citation.generated else ""
        print(f"[{citation.n}] {citation.title}, {citation.where}{label}")
        if options.passages:
            quote = " ".join(citation.quotation.split())
            bare = citation.generated and GENERATED_MARKS[0] not in quote
            print(f"    {GENERATED_MARKS[0]}{quote}{GENERATED_MARKS[1]}" if bare else f"    “{quote}”")
    for note in (*(answer.trace.notes if answer.trace else ()), *answer.notes):
        print(note, file=sys.stderr)
    if answer.error:
        say_error(answer.error)


def fill(engine: Engine, options: argparse.Namespace) -> int:
    """Fill a template and write it, and its cited pages to ``--annex``. Returns 1 if a required section is empty, and
    if interrupted: the sections filled so far are written."""
    template = load_template(options.template)
    focus = Focus(options.about, options.year)
    run = engine.fill(template, doc_ids=documents_asked(engine, options.doc), focus=focus)
    try:
        with stopped_in_order(run.stop):
            for section in run:
                told = section.status + (f", {len(section.gaps)} missing" if section.gaps else "")
                print(f"{section.number} {section.heading}: {told}", file=sys.stderr)
    except KeyboardInterrupt:
        run.stop()
    except GroundworkError:
        if run.report.sections:
            _write(engine, run.report, options, "Sections filled earlier are in")
        raise
    report = run.report
    if run.stopped:
        done = sum(section.status != "stopped" for section in report.sections)
        print(f"\nInterrupted: {done} of {len(list(template.places()))} sections are done.", file=sys.stderr)
    _write(engine, report, options, "Wrote")
    if options.json:
        print_json(wire.report(report))
    elif options.output is None:
        print(engine.write_report(report, "md").decode(), end="")
    _say_gaps(report)
    return 1 if run.stopped or any(section.missed for section in report.sections) else 0


def _write(engine: Engine, report: Report, options: argparse.Namespace, said: str) -> None:
    if options.output is not None:
        write_file(options.output, engine.write_report(report, kind(options.output.suffix[1:], TEXT_KINDS)))
        print(f"{said} {options.output}.", file=sys.stderr)
    if options.annex is not None:
        write_file(options.annex, engine.write_report(report, "annex"))
        print(f"The cited pages are in {options.annex}.", file=sys.stderr)


def _say_gaps(report: Report) -> None:
    """Print a report's gaps on stderr, since its text goes to stdout."""
    gaps = [(section, gap) for section in report.sections for gap in section.gaps]
    if gaps:
        print("Missing:", file=sys.stderr)
    for section, gap in gaps:
        note = "" if section.required else " (optional)"
        print(f"  {section.number} {section.heading}{note}: {gap.what}", file=sys.stderr)
    for section in report.sections:
        if section.answer is not None and section.answer.error:
            print(f"  {section.number} {section.heading}: {section.answer.error['message']}", file=sys.stderr)
