"""Command ``template``: a report filled from the library."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli.common import documents_asked, print_json, stopped_by_ctrl_c, write_file
from ragcore.errors import BadTemplate, FileMissing, GroundworkError
from ragcore.report.files import report_kind
from ragcore.types import json as wire
from ragcore.types.report import Focus

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.report.template import Template
    from ragcore.types.report import Report

KINDS = ("md", "docx", "pdf", "html", "json")


def own_templates() -> dict[str, str]:
    """Built-in templates: name → JSON."""
    folder = files("ragcore.report") / "library"
    found = {path.name.removesuffix(".json"): path.read_text("utf-8") for path in folder.iterdir()}
    return dict(sorted(found.items()))


def load_template(given: str) -> Template:
    """Template from the file ``given`` (JSON, a Markdown outline or a Word document), or the built-in one of that name.
    Raises `FileMissing`, `BadTemplate`."""
    from ragcore.report.read_template import MAX_BYTES, read_template
    from ragcore.report.template import from_json

    path = Path(given)
    own = own_templates()
    if given in own and not path.exists():
        return from_json(own[given], given)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadTemplate(f"{path.name} is too large for a template.", hint="Remove its pictures.")
        data = path.read_bytes()
    except OSError as error:
        raise FileMissing(
            f"{given} can't be read: {error.strerror}.", hint=f"Name a file, or one of {', '.join(own)}."
        ) from error
    return read_template(data, path.name)


def fill(engine: Engine, options: argparse.Namespace) -> int:
    """Fill a template and write it, and its cited pages to ``--annex``. Returns 1 if a required section is empty, and
    if interrupted: the sections filled so far are written."""
    template = load_template(options.template)
    focus = Focus(options.about, options.year)
    run = engine.fill(template, doc_ids=documents_asked(engine, options.doc), focus=focus)
    try:
        with stopped_by_ctrl_c(run.stop):
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
        write_file(options.output, engine.write_report(report, report_kind(options.output.suffix.removeprefix("."))))
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
