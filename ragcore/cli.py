"""The command line, thin: arguments in, one engine call, text or one JSON object out.

Exit codes: 0 done, 1 the work failed, 2 wrong usage. Progress and logs go to stderr.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ragcore import printing, wire
from ragcore.config import default_home, load
from ragcore.errors import Cancelled, GroundworkError, InputError, UnknownDocument
from ragcore.scopes import page_ranges, within
from ragcore.types import EVERYTHING, ChunkKind, ElementKind, Scope

if TYPE_CHECKING:
    from ragcore.engine import Engine, IngestReport, Progress
    from ragcore.types import Answer

Json = dict[str, Any]
ID_START = 4  # characters that name a document by the start of its id, at least


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the ``ragcore`` console script; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if getattr(options, "picture", None) is not None and options.page is None:
        parser.error("--picture needs --page")
    as_json: bool = getattr(options, "json", False)
    try:
        from ragcore.engine import Engine

        preset = getattr(options, "rse", None)
        if preset is not None and preset not in (presets := _presets(options)):
            parser.error(f"argument --rse: invalid choice: {preset!r} (choose from {', '.join(map(repr, presets))})")
        with Engine.open(
            home=getattr(options, "home", None),
            config=getattr(options, "config", None),
            overrides=None if preset is None else {"rse.preset": preset},
        ) as engine:
            code: int = options.run(engine, options, as_json)
            return code
    except GroundworkError as error:
        if as_json:
            print(json.dumps({"error": error.as_dict()}, ensure_ascii=False))
        else:
            print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        stopped = Cancelled("Stopped from the keyboard.")
        if as_json:
            _print({"error": stopped.as_dict()})
        print(f"{stopped.message} {stopped.hint}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; there is nobody to tell
        return 1


def _ingest(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    reports: list[IngestReport] = []
    for path in engine.pdf_paths(options.paths):
        name = path.name or str(path)
        print(f"{name}: reading", file=sys.stderr)
        report = engine.ingest_path(path, password=options.password, on_progress=_progress(name))
        reports.append(report)
        for error in (report.error, report.figures.error, report.context.error):
            if error:
                print(f"{name}: {error['message']} {error['hint']}", file=sys.stderr)
        if report.note and not report.error:
            print(f"{name}: {report.note}", file=sys.stderr)
    failure: GroundworkError | None = None
    if options.index:
        try:
            engine.index(on_progress=_progress("index"))
        except GroundworkError as error:  # the files' reports are still worth printing
            failure = error
    if as_json:
        _print(
            {"documents": [asdict(report) for report in reports]} | ({"error": failure.as_dict()} if failure else {})
        )
    else:
        printing.ingested(reports)
        if failure:
            print(f"{failure.message} {failure.hint}", file=sys.stderr)
    return 1 if failure or any(report.status == "failed" for report in reports) else 0


def _index(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    if options.estimate:
        return _estimate(engine, as_json)
    report = engine.index(rebuild=options.rebuild, on_progress=_progress("index"))
    if as_json:
        _print(asdict(report))
    else:
        printing.indexed(report)
    left = [(info.name, info.context) for info in engine.documents() if info.context.unfinished]
    for name, context in left:
        print(f"{name}: {context.words}", file=sys.stderr)
    return 0


def _estimate(engine: Engine, as_json: bool) -> int:
    estimates = engine.estimate()
    if as_json:
        _print(wire.estimates(estimates))
    else:
        printing.estimated(estimates, engine.models.context_model)
    return 0


def _documents(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    infos = engine.documents()
    if as_json:
        _print({"documents": [wire.document_info(info) for info in infos]})
    else:
        printing.documents(infos)
        if not infos:
            print("The library is empty. Add a PDF: ragcore ingest FILE --index", file=sys.stderr)
    return 0


def _remove(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    info = _find(engine, options.document, whole=True)
    engine.remove(info)
    if as_json:
        _print({"documents": [wire.document_info(item) for item in engine.documents()]})
    else:
        print(f"Removed {info}.")
    return 0


def _elements(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    document = engine.document(_find(engine, options.document))
    if options.page is not None and options.page > len(document.pages):
        raise InputError(f"{document.name} has {len(document.pages)} pages.", hint="Give a page that it has.")
    if options.picture is not None:
        _save(options.picture, engine.page_picture(document.doc_id, options.page))
    chosen = [
        element
        for element in document.elements
        if (options.page is None or options.page in document.element_pages(element))
        and (options.kind is None or element.kind == options.kind)
    ]
    if as_json:
        _print(wire.elements(document, chosen))
    else:
        printing.elements(document, chosen)
    return 0


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.", hint="Give another place.") from error


def _chunks(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    document = engine.document(_find(engine, options.document))
    chunks = engine.chunks(document.doc_id)
    if as_json:
        _print({"doc_id": document.doc_id, "chunks": [wire.chunk(document, item) for item in chunks]})
    else:
        printing.chunks(chunks)
    return 0


def _retrieve(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    found = engine.retrieve(
        options.question,
        mode=options.mode,
        top_k=options.top_k,
        doc_ids=_documents_asked(engine, options.doc),
        pages=options.pages,
        kinds=options.kind,
        decompose=options.decompose,
        gaps=options.gaps,
    )
    nothing = not found.hits and not as_json  # then the last note is all there is to print
    for note in found.notes[:-1] if nothing else found.notes:
        print(note, file=sys.stderr)
    if as_json:
        _print(wire.retrieval(found, engine.document))
    else:
        printing.retrieval(found, engine.document, engine.settings.rerank.max_ms)
        if nothing:
            print(found.notes[-1])
    return 0


def _generate(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    doc_ids = _documents_asked(engine, options.doc)
    answer = engine.ask(options.question, doc_ids=doc_ids, pages=options.pages, kinds=options.kind).run()
    _show(answer, as_json, passages=options.passages)
    return 1 if answer.status == "failed" else 0


def _conversation(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    if options.resume is not None:
        conversation_id = _resume(engine, options)
    else:
        scope = Scope(_documents_asked(engine, options.doc), options.pages, tuple(options.kind))
        conversation_id = engine.new_conversation(scope)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    print(f"Conversation {conversation_id}. An empty line or Ctrl-D ends it.", file=sys.stderr)
    code = 0
    while True:
        if sys.stdin.isatty():
            print("\n? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line or (sys.stdin.isatty() and not line.strip()):
            return code
        if not line.strip():
            continue
        try:
            answer = engine.chat(conversation_id, line.strip()).run()
        except GroundworkError as error:
            code = 1
            if as_json:
                _print({"question": line.strip(), "error": error.as_dict()})
            else:
                print(f"{error.message} {error.hint}", file=sys.stderr)
            continue
        code = 1 if answer.status == "failed" else code
        _show(answer, as_json, passages=options.passages, extra={"conversation_id": conversation_id})


def _resume(engine: Engine, options: argparse.Namespace) -> str:
    """The conversation to go on with; what is given of documents, pages and kinds stands from now on for what it had
    of them."""
    conversation = engine.conversation(options.resume)
    scope = replace(
        conversation.scope,
        doc_ids=_documents_asked(engine, options.doc) if options.doc else conversation.scope.doc_ids,
        pages=options.pages or conversation.scope.pages,
        kinds=tuple(options.kind) or conversation.scope.kinds,
    )
    if scope != conversation.scope:
        engine.set_scope(options.resume, scope)
    for turn in conversation.turns:
        print(f"> {turn.question}", file=sys.stderr)
    if scope != EVERYTHING:
        searched = len(engine.documents() if scope.doc_ids is None else scope.doc_ids)
        print(f"Searches {within(scope, searched)}.", file=sys.stderr)
    return conversation.info.conversation_id


def _config(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    settings = engine.settings.model_dump(mode="json")
    if as_json:
        _print(
            {
                "home": str(engine.home),
                "settings": settings,
                "origins": engine.origins,
                "hash": engine.settings.hash(),
            }
        )
    else:
        printing.settings(settings, engine.origins)
    return 0


def _show(answer: Answer, as_json: bool, *, passages: bool, extra: Json | None = None) -> None:
    if as_json:
        _print(wire.answer(answer) | (extra or {}))
        return
    printing.answer(answer, passages=passages)
    for note in answer.trace.notes if answer.trace else ():
        print(note, file=sys.stderr)
    if answer.error:
        print(f"{answer.error['message']} {answer.error['hint']}", file=sys.stderr)


def _presets(options: argparse.Namespace) -> list[str]:
    """The names of the sets that --rse may choose among. Raises `ConfigError`."""
    home = getattr(options, "home", None) or default_home()
    # Whatever the settings choose is not asked for, so that it need not be there.
    settings, _ = load(file=getattr(options, "config", None), home=home, overrides={"rse.preset": "balanced"})
    return list(settings.rse.presets)


def _find(engine: Engine, given: str, *, whole: bool = False) -> str:
    """A doc id, or the start of one (`ID_START` characters or more), or a file's name."""
    found = [
        info
        for info in engine.documents()
        if given in (info.name, info.doc_id) or (not whole and len(given) >= ID_START and info.doc_id.startswith(given))
    ]
    if len(found) == 1:
        return found[0].doc_id
    if found:
        raise UnknownDocument(
            f"{given!r} fits {len(found)} documents.", hint="Give the whole id; `ragcore documents` lists them."
        )
    raise UnknownDocument(f"There is no document {given!r} in this library.")


def _documents_asked(engine: Engine, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """The documents named by --doc; says on stderr which of those asked are not searched yet."""
    chosen = tuple(_find(engine, item) for item in given) if given else None
    waiting = [
        info.name for info in engine.documents() if not info.indexed and (chosen is None or info.doc_id in chosen)
    ]
    if waiting:
        print(f"Not indexed, so not searched: {', '.join(waiting)}.", file=sys.stderr)
    return chosen


def _progress(name: str) -> Callable[[Progress], None]:
    """Prints at most one line per stage and tenth of the way."""
    last: list[tuple[str, int]] = []

    def show(progress: Progress) -> None:
        tenth = progress.done * 10 // max(progress.total, 1)
        if [(progress.stage, tenth)] != last:
            last[:] = [(progress.stage, tenth)]
            print(f"{name}: {progress.stage} {progress.done} of {progress.total}", file=sys.stderr)

    return show


def _print(value: Json) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _pages(text: str) -> tuple[tuple[int, int], ...]:
    try:
        found = page_ranges(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{error.message} {error.hint}") from error
    if not found:
        raise argparse.ArgumentTypeError("names no page")
    return found


def _text(text: str) -> str:
    """An argument that is not UTF-8 reaches Python with surrogates, which nothing after this can take."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _add_scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--doc", action="append", metavar="DOC", help="only in this document; may be repeated")
    parser.add_argument("--pages", type=_pages, default=(), metavar="P", help="only what touches these, such as 3-7,12")
    parser.add_argument(
        "--kind", action="append", choices=get_args(ChunkKind), default=[], help="only such passages; may be repeated"
    )


def _parser() -> argparse.ArgumentParser:
    # The global options are taken before and after the command alike.
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--home", type=Path, metavar="DIR", help="where the library is kept")
    common.add_argument("--config", type=Path, metavar="FILE", help="settings file instead of <home>/config.toml")
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")

    parser = argparse.ArgumentParser(
        prog="ragcore", description="Questions over PDFs, every claim with its place on the page.", parents=[common]
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[Engine, argparse.Namespace, bool], int], text: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, parents=[common])
        sub.set_defaults(run=run)
        return sub

    sub = command("ingest", _ingest, "read PDFs, and ADE JSON with its PDF, into the library")
    sub.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a PDF, the JSON of LandingAI's ADE, or a folder of them"
    )
    sub.add_argument("--index", action="store_true", help="index them as well")
    sub.add_argument("--password", help="for encrypted files")

    sub = command("index", _index, "embed and index what is new")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--rebuild", action="store_true", help="make the index anew from the library")
    which.add_argument("--estimate", action="store_true", help="only say what Claude's contexts for it will cost")

    command("documents", _documents, "list the library")

    sub = command("remove", _remove, "remove a document")
    sub.add_argument("document", metavar="DOC", help="whole id, or file name")

    sub = command("elements", _elements, "what was read: headings, paragraphs, tables with their cells")
    sub.add_argument("document", metavar="DOC")
    sub.add_argument("--page", type=_count, metavar="N")
    sub.add_argument("--kind", choices=get_args(ElementKind), metavar="K")
    sub.add_argument("--picture", type=Path, metavar="OUT.png", help="draw them over the page (with --page) as well")

    sub = command("chunks", _chunks, "how a document was cut for retrieval")
    sub.add_argument("document", metavar="DOC")

    sub = command("retrieve", _retrieve, "find passages")
    sub.add_argument("-q", "--question", type=_text, required=True, metavar="Q")
    sub.add_argument("--mode", choices=("hybrid", "vector", "bm25", "reference"))
    sub.add_argument("--top-k", type=_count, metavar="K")
    sub.add_argument(
        "--decompose", choices=("auto", "rules", "model", "off"), help="how a question of several parts is cut"
    )
    sub.add_argument(
        "--gaps",
        action=argparse.BooleanOptionalAction,
        help="let the model ask for what is missing in what was found",
    )
    sub.add_argument(
        "--rse", metavar="PRESET", help="how segments are chosen: default, balanced, precision, find_all or your own"
    )
    _add_scope(sub)

    sub = command("generate", _generate, "answer a question with citations")
    sub.add_argument("-q", "--question", type=_text, required=True, metavar="Q")
    sub.add_argument("-p", "--passages", action="store_true", help="print the cited passages as well")
    _add_scope(sub)

    sub = command("conversation", _conversation, "a conversation: one question per line")
    sub.add_argument("-p", "--passages", action="store_true")
    sub.add_argument("--resume", metavar="ID", help="go on with this one; documents, pages and kinds replace its own")
    _add_scope(sub)

    command("config", _config, "the settings in force and where each came from")
    return parser


if __name__ == "__main__":
    sys.exit(main())
