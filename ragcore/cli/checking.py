"""Command ``check``: a draft against the library, sentence by sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ragcore.check.files import KINDS, VERDICTS, places, quoted_as, told
from ragcore.cli.common import (
    counted_progress,
    documents_asked,
    moment,
    print_json,
    read_file,
    resumable,
    show,
    write_out,
)
from ragcore.errors import InputError, ModelError
from ragcore.export import kind
from ragcore.text.numbers import plural
from ragcore.types import Scope
from ragcore.types import json as wire
from ragcore.types.check import STATUSES, Check, CheckInfo
from ragcore.types.json import plain

if TYPE_CHECKING:
    from ragcore.engine import Engine


def check(engine: Engine, options: argparse.Namespace) -> int:
    """Check a draft, or go on with a check. Raises `Cancelled`, which says how to go on, and what checking raises."""
    checks = engine.checks
    if options.list:
        found = checks.all()
        show(options, lambda: {"checks": plain(found)}, map(_listed, found))
        return 0
    scope = Scope(documents_asked(engine, options.doc))
    if options.resume is None:
        info = checks.add(options.draft.name, read_file(options.draft), scope)
    else:
        info = checks.again(options.resume, scope) if options.doc else checks.info(options.resume)
    print(f"Check {info.check_id}: {plural(info.total, 'sentence')} of {info.name}", file=sys.stderr)

    def done() -> str:
        read = f", {info.total - checks.estimate_asking(info.check_id).parts} read" if options.ask else ""
        return f"{checks.info(info.check_id).done} of {plural(info.total, 'sentence')} checked{read}"

    going_on, failure = f"check --resume {info.check_id}{' --ask' if options.ask else ''}", None
    with resumable(going_on, done) as stopped:
        progress = counted_progress("read" if options.ask and info.finished else "checked")
        try:
            checks.run(info.check_id, progress, stopped, options.max_usd, ask=options.ask)
        except (InputError, ModelError) as error:
            if not (options.ask and checks.info(info.check_id).finished):
                raise
            failure = error  # what is there is told first
    if options.output is not None:
        write_out(options.output, checks.export(info.check_id, kind(options.output.suffix[1:], KINDS)))
    result = engine.versions.told(checks.get(info.check_id))
    if options.json:
        print_json(wire.check(result))
    elif options.output is None:
        where = places(result.draft, [start for start, _ in result.spans])
        for line in chain(*(_problem(result, n, place) for n, place in enumerate(where) if result.is_problem(n))):
            print(line)
    if not options.json:
        print(_counts(result.info))
    if failure is not None:
        raise failure
    return 0


def _problem(check: Check, n: int, place: str) -> Iterator[str]:
    """Lines on a sentence with a problem: its words, what is said of it, and the documents' words."""
    (start, end), one = check.spans[n], check.sentences[n]
    text = check.draft.text[start:end] if one is None else one.text
    cited = one.citations if one is not None else ()
    yield f"{n + 1:4}  {' '.join(text.split())}{f'  ({place})' if place else ''}"
    yield from (f"      {line}" for line in told(check, n))
    yield from [f"      {quoted_as(one)}"] if cited else []
    for each in cited:
        yield f"      {each.title}, {each.where}: “{' '.join(each.quotation.split())}” {each.since}".rstrip()
    yield ""


def _counts(info: CheckInfo) -> str:
    return ", ".join(f"{info.counts.get(status, 0)} {VERDICTS[status].lower()}" for status in STATUSES)


def _listed(info: CheckInfo) -> str:
    left = "" if info.finished else f"  ({info.done} of {info.total} checked)"
    return f"{info.check_id}  {moment(info.created)}  {info.name}: {_counts(info)}{left}"
