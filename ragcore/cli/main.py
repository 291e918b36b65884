"""Command line: parse arguments, make one engine call, print text or one JSON object.

Exit codes: 0 done, 1 the work failed, 2 wrong usage. Progress and logs go to stderr.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import ragcore
from ragcore.accounts.libraries import ROLES
from ragcore.accounts.limits import MEASURES as LIMITED
from ragcore.accounts.tokens import DAYS, MOST_DAYS, SCOPES
from ragcore.check.files import KINDS as CHECK_KINDS
from ragcore.cli import admin, asking, checking, doors, evaluation, grids, library, watching, worker
from ragcore.cli.common import plain_output, print_json, say_error
from ragcore.config.settings import SearchMode
from ragcore.errors import Cancelled, ConfigError, GroundworkError, InputError
from ragcore.evaluate.cases import FORMS
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.ragchecker import JUDGES
from ragcore.export import KINDS
from ragcore.export.sheets import SHEET_KINDS
from ragcore.grid.files import KINDS as GRID_KINDS
from ragcore.report.files import TEXT_KINDS
from ragcore.report.template import own_templates
from ragcore.types import ChunkKind, ElementKind
from ragcore.types.report import YEARS
from ragcore.types.scope import page_ranges
from ragcore.types.spending import MAX_USD
from ragcore.types.watch import EVERY

if TYPE_CHECKING:
    from ragcore.engine import Engine


# Not argparse's defaults: those of a command would replace options given before it.
_DEFAULTS = {"run": None, "home": None, "config": None, "json": False, "port": None, "browser": True}


class Parser(argparse.ArgumentParser):
    """Parser whose error is one line, with what to type next in place of the usage."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}. `{self.prog} --help` says what it takes.", file=sys.stderr)
        sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the console scripts ``groundwork`` and ``ragcore``; returns the exit code. Without a command it
    starts the app."""
    with plain_output():
        parser = _parser()
        options, unknown = parser.parse_known_args(arguments, argparse.Namespace(**_DEFAULTS))
        if unknown:
            options.parser.error(f"unknown: {' '.join(unknown)}")
        if options.run is None and (options.config is not None or options.json):
            parser.error("--config and --json need a command; the app reads config.toml in the home folder")
    # The app's server prints colours.
    with nullcontext() if options.run is None else plain_output():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        if options.run is None:
            return start(options)
        if options.run in (*admin.WITHOUT_ENGINE, worker.work):
            return int(options.run(options))
        from ragcore.engine import Engine

        # The settings given as options of a command are those stored under their dotted keys.
        overrides = {key: value for key, value in vars(options).items() if "." in key and value is not None}
        with Engine.open(options.home, options.config, overrides) as engine:
            code: int = options.run(engine, options)
            return code
    except (GroundworkError, KeyboardInterrupt) as raised:
        error = raised if isinstance(raised, GroundworkError) else Cancelled("Stopped from the keyboard.")
        if options.json:
            print_json({"error": error.as_dict()})
        else:
            say_error(error)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone
    return 1


def _count(text: str, least: int = 1, most: int | None = None) -> int:
    if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
        raise argparse.ArgumentTypeError(f"must be a whole number from {least} {f'to {most}' if most else 'up'}")
    return int(text)


def _pages(text: str) -> tuple[tuple[int, int], ...]:
    try:
        found = page_ranges(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{error.message} {error.hint}") from error
    if not found:
        raise argparse.ArgumentTypeError("has no page number")
    return found


def _ending(kinds: Sequence[str]) -> Callable[[str], Path]:
    """Argument type: a file name with one of the extensions in ``kinds``."""

    def path(text: str) -> Path:
        if Path(text).suffix.lower()[1:] not in kinds:
            endings = ", ".join(f".{each}" for each in kinds)
            raise argparse.ArgumentTypeError(f"{text!r} must end in {'one of ' if len(kinds) > 1 else ''}{endings}")
        return Path(text)

    return path


def _folder(text: str) -> Path:
    """Argument type: a folder that is named."""
    if not text.strip():
        raise argparse.ArgumentTypeError("names no folder")
    return Path(text)


def _amount(text: str) -> float:
    """Argument type: a finite number of at least 0."""
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise ValueError
    return value


def _limit(text: str) -> float | None:
    """Argument type: an `_amount`, or ``none``."""
    return None if text.lower() == "none" else _amount(text)


def _text(text: str) -> str:
    """Argument type: text in UTF-8. Other bytes reach Python as surrogates, which later stages reject."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _add_scope(parser: argparse.ArgumentParser, *, passages: bool = False) -> None:
    if passages:
        parser.add_argument("-p", "--passages", action="store_true", help="also print the quotes")
    _add_doc(parser)
    parser.add_argument("--pages", type=_pages, default=(), metavar="P", help="search only these pages, such as 3-7,12")
    kinds = get_args(ChunkKind)
    parser.add_argument("--kind", action="append", choices=kinds, default=[], help="search only this kind of passage")
    heading = "search only the section with this heading; may be repeated"
    parser.add_argument("--section", type=_text, action="append", default=[], metavar="HEADING", help=heading)


def _add_doc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--doc", type=_text, action="append", metavar="DOC", help="only this document; may be repeated")


def _add_limit(parser: argparse.ArgumentParser) -> None:
    limit = "limit of what Claude may cost, default %(default)s US dollars"
    parser.add_argument("--max-usd", type=_amount, default=MAX_USD, metavar="N", help=limit)


def _add_output(parser: argparse.ArgumentParser, kinds: Sequence[str]) -> None:
    endings = f"{', '.join(f'FILE.{kind}' for kind in kinds)}; else Markdown on stdout"
    parser.add_argument("-o", "--output", type=_ending(kinds), metavar="FILE", help=endings)


def _parser() -> argparse.ArgumentParser:
    # Global options are accepted before and after the command; the app takes --home alone.
    home = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    home.add_argument("--home", type=Path, metavar="DIR", help="where the library is kept")
    common = Parser(add_help=False, argument_default=argparse.SUPPRESS, parents=[home])
    common.add_argument("--config", type=Path, metavar="FILE", help="settings file instead of <home>/config.toml")
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")

    parser = Parser(
        prog="groundwork",
        description="Ask your documents; every claim opens its place on the page. Without a command, starts the app.",
        parents=[common],
    )
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run: Callable[..., int], text: str, within: Any = commands) -> Parser:
        sub: Parser = within.add_parser(name, help=text, description=text, parents=[common])
        sub.set_defaults(run=run, parser=sub)
        return sub

    sub = commands.add_parser(
        "app", help="start the app in the browser", description="Start the app in the browser.", parents=[home]
    )
    sub.set_defaults(parser=sub)
    sub.add_argument("--port", type=partial(_count, most=65535), metavar="N", help="use port N instead of 8501")
    sub.add_argument("--no-browser", dest="browser", action="store_false", help="don't open the browser")

    sub = command("ingest", library.ingest, "add files to the library: PDF, Word, Excel, e-mail, text, ...")
    sub.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a file, a folder, or ADE JSON with its PDF beside it"
    )
    sub.add_argument("--index", action="store_true", help="also index them")
    sub.add_argument("--password", help="the password of encrypted files")

    sub = command("index", library.index, "index new documents")
    sub.add_argument("--rebuild", action="store_true", help="rebuild the whole index")

    sub = command("structure", library.structure, "show, build or forget trees and graphs over the library")
    doing = sub.add_mutually_exclusive_group()
    doing.add_argument("--estimate", action="store_true", help="say what relations would cost; nothing is sent")
    doing.add_argument("--build", nargs="+", type=_text, metavar="NAME", help="build what these structures lack")
    forget = "delete these structures, or all but the graph of names"
    doing.add_argument("--forget", nargs="*", type=_text, metavar="NAME", help=forget)

    command("documents", library.documents, "list the library")

    sub = command("remove", library.remove, "remove a document")
    sub.add_argument("document", type=_text, metavar="DOC", help="full id, or file name")

    sub = command("tables", library.tables, "list a document's tables, or export them")
    sub.add_argument("document", type=_text, metavar="DOC")
    sub.add_argument("--table", type=_count, metavar="N", help="only this table, counted from 1")
    sub.add_argument("-o", "--output", type=_ending(SHEET_KINDS), metavar="FILE", help="FILE.xlsx or FILE.csv")

    sub = command("elements", library.elements, "show what was read: headings, paragraphs, tables")
    sub.add_argument("document", type=_text, metavar="DOC")
    sub.add_argument("--page", type=_count, metavar="N")
    sub.add_argument("--kind", choices=get_args(ElementKind), metavar="K")
    sub.add_argument("--outline", action="store_true", help="show its sections instead, as a tree")

    sub = command("chunks", library.chunks, "show how a document is cut into chunks")
    sub.add_argument("document", type=_text, metavar="DOC")

    sub = command("retrieve", asking.retrieve, "find passages")
    sub.add_argument("-q", "--question", type=_text, required=True, metavar="Q")
    sub.add_argument("--mode", dest="retrieve.mode", choices=get_args(SearchMode))
    sub.add_argument("--top-k", dest="retrieve.top_k", type=_count, metavar="K")
    decompose = ("auto", "rules", "off")
    sub.add_argument(
        "--decompose", dest="agentic.decompose", choices=decompose, help="how questions are split in parts"
    )
    gaps = "let the model search for what is missing"
    sub.add_argument("--gaps", dest="agentic.gaps", action=argparse.BooleanOptionalAction, help=gaps)
    _add_scope(sub)

    sub = command("graph", asking.graph, "show where a name stands, and the names beside it")
    sub.add_argument("--name", type=_text, required=True, metavar="NAME")

    sub = command("ask", asking.generate, "answer a question with citations")
    sub.add_argument("question", type=_text, metavar="QUESTION")
    sub.add_argument("--mode", dest="retrieve.mode", choices=get_args(SearchMode))
    _add_scope(sub, passages=True)

    sub = command("generate", asking.generate, "same as ask, for scripts: -q QUESTION")
    sub.add_argument("-q", "--question", type=_text, required=True, metavar="Q")
    sub.add_argument("--mode", dest="retrieve.mode", choices=get_args(SearchMode))
    _add_scope(sub, passages=True)

    sub = command("conversation", asking.conversation, "start a conversation, one question per line")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--resume", type=_text, metavar="ID", help="go on; --doc, --pages … replace its scope")
    listed = "list conversations, latest first; with WORDS, those that contain them all"
    which.add_argument("--list", type=_text, nargs="?", const="", metavar="WORDS", help=listed)
    _add_scope(sub, passages=True)

    sub = command("export", asking.export, "export a conversation as Markdown, Word or PDF with footnotes")
    sub.add_argument("conversation", type=_text, metavar="ID", help="as `groundwork conversation` prints it")
    _add_output(sub, KINDS)

    sub = command("template", asking.fill, "fill a report from a template, with evidence and gaps")
    kinds = f"JSON, a Markdown outline or a Word document; or one of {', '.join(own_templates())}"
    sub.add_argument("-t", "--template", type=_text, required=True, metavar="FILE", help=kinds)
    _add_output(sub, TEXT_KINDS)
    sub.add_argument("--about", type=_text, default="", metavar="NAME", help="the company or subject of the report")
    year = partial(_count, least=YEARS[0], most=YEARS[1])
    said = "the year to report on; default: each document's latest"
    sub.add_argument("--year", type=year, default=0, help=said)
    cited = "also save the cited pages with highlights"
    sub.add_argument("--annex", type=_ending(("pdf",)), metavar="FILE.pdf", help=cited)
    _add_doc(sub)

    sub = command("check", checking.check, "check a draft, sentence by sentence, against the documents")
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument("draft", nargs="?", type=Path, metavar="DRAFT", help="Word, PDF, Excel, Markdown or text")
    which.add_argument("--resume", type=_text, metavar="ID", help="go on with a check; with --doc, check anew")
    which.add_argument("--list", action="store_true", help="list checks, latest first")
    endings = f"{', '.join(f'FILE.{each}' for each in CHECK_KINDS)}; else the problems on stdout"
    sub.add_argument("-o", "--output", type=_ending(CHECK_KINDS), metavar="FILE", help=endings)
    asked = "also have Claude read each sentence beside the passages nearest to it"
    sub.add_argument("--ask", action="store_true", help=asked)
    _add_limit(sub)
    _add_doc(sub)

    sub = command("grid", grids.grid, "put typed questions to every document, or section, one a column")
    which = sub.add_mutually_exclusive_group(required=True)
    columns = "the columns, as JSON: name, question, type and unit of each"
    which.add_argument("-t", "--template", type=Path, metavar="FILE.json", help=columns)
    which.add_argument("--resume", type=_text, metavar="ID", help="go on with a grid; with --doc, of these documents")
    which.add_argument("--list", action="store_true", help="list grids, latest first")
    endings = f"{', '.join(f'FILE.{each}' for each in GRID_KINDS)}; else the values on stdout"
    sub.add_argument("-o", "--output", type=_ending(GRID_KINDS), metavar="FILE", help=endings)
    asked = "also ask Claude for what rules leave not stated; counts what its cited words support"
    sub.add_argument("--ask", action="store_true", help=asked)
    _add_limit(sub)
    rows = "one row for each document, or for each of its uppermost sections; default: document"
    sub.add_argument("--by", choices=("document", "section"), help=rows)
    below = "one row for each section directly below this heading; may be repeated"
    sub.add_argument("--section", type=_text, action="append", default=[], metavar="HEADING", help=below)
    _add_doc(sub)

    sub = command("watch", watching.watch, "keep the library in step with a folder: new, changed and removed files")
    which = sub.add_mutually_exclusive_group(required=True)
    which.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    which.add_argument("--list", action="store_true", help="list the folders that are watched")
    which.add_argument("--remove", type=Path, metavar="FOLDER", help="watch it no longer; its documents stay")
    sub.add_argument("--once", action="store_true", help="look once, read what differs, and end")
    every = "look so often, default %(default)g; the app does too, while it runs"
    sub.add_argument("--every", type=_amount, default=EVERY, metavar="SECONDS", help=every)
    sub.add_argument("--flat", action="store_true", help="leave out the folders in it")
    only = "only files with such names, as *.pdf; may be repeated"
    sub.add_argument("--pattern", type=_text, action="append", default=[], metavar="NAME", help=only)

    sub = command("worker", worker.work, "read what waits in libraries in PostgreSQL, on any machine")
    sub.add_argument("--once", action="store_true", help="end as soon as nothing waits")

    def group(name: str, text: str, within: Any = commands) -> Any:
        made = within.add_parser(name, help=text, description=text, parents=[common])
        return made.add_subparsers(title="commands", metavar="COMMAND", required=True)

    step = partial(command, within=group("evaluate", "measure answers"))
    people = group("admin", "accounts, libraries, moves, backups")

    sub = step("import", evaluation.add, "add a set of questions with their answers")
    sub.add_argument("file", type=Path, metavar="FILE", help="CSV, XLSX, JSON or JSONL")
    sub.add_argument("--as", dest="form", choices=tuple(FORMS), help="its format; default: told by its first line")
    step("list", evaluation.listed, "list sets and runs")
    sub = step("run", evaluation.run, "answer a set's questions and measure the answers; goes on where it was stopped")
    sub.add_argument("set", type=_text, metavar="SET", help="name of a set, or its file")
    config = "settings to run it with: default, key=value,key=value or @FILE.toml; may be repeated"
    sub.add_argument("-c", dest="configuration", type=_text, action="append", metavar="CONFIG", help=config)
    sub.add_argument("--within", action="store_true", help="ask each question of its own documents only")
    sub.add_argument("--search", action="store_true", help="only search: no answers are written")
    sub = step(
        "judge", evaluation.judge, "RAGChecker's metrics of a run, by a judge of claims; goes on where it stopped"
    )
    sub.add_argument("what", type=_text, metavar="RUN")
    sub.add_argument("--by", choices=JUDGES, default=JUDGES[0], help="default: %(default)s, which needs no model")
    sub.add_argument("--estimate", action="store_true", help="say what Claude would cost; nothing is sent")
    _add_limit(sub)
    sub = step("compare", evaluation.compare, "compare two runs, question by question")
    sub.add_argument("first", type=_text, metavar="RUN")
    sub.add_argument("second", type=_text, metavar="RUN")
    sub.add_argument("--html", type=Path, metavar="FILE", help="also write a page to hand on")
    sub = step("gate", evaluation.gate, "exit with 1 if a run is worse than another beyond chance, with 2 if unknown")
    sub.add_argument("run_id", type=_text, metavar="RUN")
    sub.add_argument("--against", type=_text, required=True, metavar="RUN")
    sub.add_argument(
        "--measure", choices=tuple(MEASURES), action="append", default=[], help="only this; may be repeated"
    )
    sub.add_argument("--loss", type=_amount, default=0.0, metavar="POINTS", help="loss that is accepted, in points")
    sub.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML")
    sub = step("export", evaluation.export, "a run as CSV, or for RAGChecker; or a set as JSONL or CSV")
    sub.add_argument("what", type=_text, metavar="RUN|SET")
    sub.add_argument("--as", dest="form", choices=("csv", "ragchecker", "set", "table"), default="csv")
    sub.add_argument("--by", choices=JUDGES, help="with ragchecker: the claims and verdicts of this judge too")
    sub.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: stdout")
    sub = step("score", evaluation.score, "RAGChecker's metrics of the verdicts in its checking outputs")
    sub.add_argument("file", type=Path, metavar="FILE", help='JSON: {"results": [...]}')

    command("users", admin.users, "list who may sign in", people)
    sub = command("invite", admin.invite, "make a link by which somebody joins", people)
    sub.add_argument("email", type=_text, metavar="EMAIL")
    sub.add_argument("--admin", action="store_true", help="as administrator")
    sub = command("reset", admin.reset, "make a link by which somebody chooses a new password", people)
    sub.add_argument("email", type=_text, metavar="EMAIL")
    sub = command("block", admin.block, "sign somebody out, and let them in no more", people)
    sub.add_argument("email", type=_text, metavar="EMAIL")
    sub.add_argument("--undo", action="store_true", help="let them in again")
    command("log", admin.log, "list what happened, latest first", people)
    sub = command("move", admin.move_libraries, "move all libraries of the home folder to another database", people)
    sub.add_argument("to", type=_text, metavar="sqlite|postgresql://…", help="files in the home folder, or a server")
    sub = command("files", admin.move_files, "copy the files of all libraries to object storage, or back", people)
    sub.add_argument("do", choices=("upload", "download"), help="those that the storage lacks, or the home folder")
    sub = command("check", admin.check, "read every file and passage, and list what is not whole", people)
    sub.add_argument("--tidy", action="store_true", help="first delete files of no document")
    sub = command(
        "backup", admin.backup, "copy the home folder, while it is used, or what is new since the last copy", people
    )
    sub.add_argument("to", type=_folder, metavar="FOLDER", help="new, empty, or of an earlier backup")
    token = people.add_parser("token", help="let programs in, by the HTTP API").add_subparsers(required=True)
    sub = command("add", admin.add_token, "make a token, which is shown once", token)
    sub.add_argument("name", type=_text, metavar="NAME", help="of the program that will use it")
    may = f"what it may do: {', '.join(SCOPES)}; may be repeated; default: read and ask"
    sub.add_argument("--scope", choices=SCOPES, action="append", help=may)
    sub.add_argument(
        "--for", dest="email", type=_text, default="", metavar="EMAIL", help="whose it is, if people sign in"
    )
    one = "the one library that it is for, if people sign in; default: the first"
    sub.add_argument("--library", type=_text, default="", metavar="LIBRARY", help=one)
    lasts = "days that it lasts, default %(default)s"
    sub.add_argument("--days", type=partial(_count, most=MOST_DAYS), default=DAYS, metavar="N", help=lasts)
    command("list", admin.tokens, "list tokens", token)
    sub = command("revoke", admin.revoke_token, "end a token", token)
    sub.add_argument("token", type=_text, metavar="ID", help="as the list has it")

    def change(within: Any, run: Callable[[Engine, argparse.Namespace], int], do: str, text: str, *given: str) -> Any:
        made = command(do, run, text, within)
        made.set_defaults(do=do)
        for each in given:
            made.add_argument(each.lower(), type=_text, metavar=each)
        return made

    of, run = group("library", "who may use which library", people), admin.libraries
    change(of, run, "list", "list libraries with who may use them")
    sub = change(of, run, "add", "make a library", "NAME")
    sub.add_argument("--owner", type=_text, required=True, metavar="EMAIL|TEAM", help="who manages it")
    change(of, run, "rename", "give it another name", "LIBRARY", "NAME")
    sub = change(of, run, "remove", "close it to everybody; its files stay", "LIBRARY")
    sub.add_argument("--undo", action="store_true", help="open it again")
    sub = change(of, run, "grant", "give a person or a team a role in it", "LIBRARY")
    sub.add_argument("to", type=_text, metavar="EMAIL|TEAM", help="or Everyone")
    sub.add_argument("role", choices=ROLES)
    sub = change(of, run, "revoke", "take the role from a person or a team", "LIBRARY")
    sub.add_argument("to", type=_text, metavar="EMAIL|TEAM")
    of, run = group("team", "people who are given roles together", people), admin.teams
    change(of, run, "list", "list teams with their members")
    change(of, run, "add", "make a team", "TEAM")
    change(of, run, "remove", "remove a team, with the roles that it was given", "TEAM")
    sub = change(of, run, "join", "put somebody into a team", "TEAM", "EMAIL")
    sub.add_argument("--manager", action="store_true", help="manages the libraries that the team owns")
    change(of, run, "leave", "take somebody out of a team", "TEAM", "EMAIL")
    of, run = group("limit", "what people may ask, and libraries store, read and spend", people), admin.limits
    change(of, run, "list", "list limits, and what is used of them")
    sub = change(of, run, "set", "limit each, or one person or library")
    said = "questions a day of a person; bytes, pages a month and dollars a month of a library"
    sub.add_argument("measure", choices=LIMITED, help=said)
    sub.add_argument("most", type=_limit, metavar="N|none")
    sub.add_argument("--for", dest="of", type=_text, default="", metavar="EMAIL|LIBRARY", help="default: each")
    sub = command("mcp", doors.mcp, "serve the library to an MCP client, on standard input and output")
    allow = "files in this folder may be added; may be repeated; default: none"
    sub.add_argument("--allow", type=Path, action="append", default=[], metavar="FOLDER", help=allow)

    command("spending", library.spending, "show what models have cost, in tokens and US dollars")

    command("feedback", library.feedback, "show feedback on answers; --json for everything")

    command("config", library.settings, "show all settings and where each comes from")
    return parser


def start(options: argparse.Namespace) -> int:
    """Run the app until it is stopped; returns the exit code. Raises `ConfigError` if the app is not installed."""
    script = app_script()
    if importlib.util.find_spec("streamlit") is None:
        raise ConfigError("The app needs the package `streamlit`.", hint="Install it with `pip install streamlit`.")
    if options.home is not None:
        os.environ["GROUNDWORK_HOME"] = str(options.home.expanduser().resolve())
    port = [] if options.port is None else ["--server.port", str(options.port)]
    headless = [] if options.browser else ["--server.headless", "true"]
    sys.argv = ["streamlit", "run", str(script), *port, *headless]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def app_script() -> Path:
    """Path of ``app.py``: in the folder ``groundwork`` beside an installed `ragcore`, or in the checkout. Raises
    `ConfigError`."""
    beside = Path(ragcore.__file__).resolve().parent.parent
    for folder in (beside / "groundwork", beside):
        if (folder / "app.py").is_file() and (folder / "ui").is_dir():
            return folder / "app.py"
    raise ConfigError(
        "This installation lacks the app's files.",
        hint="Reinstall Groundwork, or run `streamlit run app.py` in a clone.",
    )
