"""The house is kept: how many rooms, how large each may be, how many settings, and where English is told by rules.

A figure here may fall; one that has to rise is a decision, made in the commit that raises it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ragcore
from ragcore.config.settings import catalogue

ROOT = Path(ragcore.__file__).resolve().parent
MODULES = 10  # at the top level, `__init__` aside
SETTINGS = 93  # with who reads, and [auth]: how people sign in, with accounts, a provider or a proxy
# Lines of each package, with some air.
LINES = {
    "": 2400,  # with watched folders, versions, checks, grids, structures, a person's engine and its protocol, limits
    "accounts": 1090,  # people, passwords, sessions, links, delays, the log; libraries, teams, roles; limits; tokens
    "answer": 1350,  # with places in originals, parts in tables, and the lifted budget, which check and report share
    "check": 3509,  # drafts read (5 kinds), recomputed, verdicts, quotations elsewhere, Claude's, written (4 kinds)
    "cli": 2337,  # with moves, watched folders, checks, grids, evaluation, accounts, libraries, teams, tokens, MCP
    "config": 549,  # with [structure], [auth]
    "context": 260,
    "evaluate": 2037,  # sets, one's own too, runs (in a browser without files), measures, judges, comparison, its files
    "explore": 318,  # with the map of connections
    "export": 1604,  # with pictures of places within a page of a PDF, and heights of rows
    "grid": 1490,  # rows, earlier versions, columns, cells by rules and the model, decisions, summaries, files
    "index": 6960,  # with PostgreSQL, object storage, jobs, moves, backups, broken additions, folders, checks, grids
    "ingest": 10600,  # with 2,410 for files that are no PDF: sheets, text, office, mail, books, pictures
    "offline": 5115,  # with relative years, rows told apart, captions, names, days, lists, values, comparisons
    "pipelines": 2217,  # with scans of folders, what became of cited words, made pages, structures: building, state
    "providers": 1343,
    "report": 1845,  # with values as data, the request for a section, and sections named by a requirement
    "retrieve": 2243,  # with overviews, what structures find, and what each of several documents is asked
    "serve": 1469,  # verbs, their models, MCP over two transports, imported late, the HTTP API, OpenAPI, late requests
    "structure": 1974,  # published trees and graphs
    "suggest": 449,
    "text": 2990,  # with tables of cells, formats, ranges, inverse units, years, clauses, names, parties, lexicon
    "types": 3029,  # with watched folders, places in the original, grids and their rows, parts of chunks, themes
    "verify": 2778,  # with periods of headings, spans of time, changes between versions, what figures follow from
}
# Of other rooms than ``offline`` and ``text``, the patterns with words that are no language: markup, and file formats.
FORMATS = {
    "answer/cite.py": {"_MARKER", "_UNCLOSED", "_BEGUN", "_CUT_SHORT", "_ITEM", "_PLACES"},  # our markers of citations
    "answer/render.py": {"_LOOKS_LIKE_DELIMITER", "_LOOKS_LIKE_TAG"},  # our marks in prompts
    "types/report.py": {"INSUFFICIENT"},  # our mark of what is missing
    "export/pdf.py": {"_DOUBLE"},  # an entity
    "ingest/ade/markup.py": {"_TABLE", "_BREAKS", "_TAGS"},  # HTML
    "ingest/convert/kinds.py": {"_HTML"},
    "ingest/convert/markup.py": {"_UNSEEN"},  # CSS
    "ingest/convert/workbook.py": {"_OWN_DELIMITER"},  # of CSV
    "ingest/legible.py": {"_CID"},  # a character's number in a font
}
_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_SYNTAX = re.compile(r"\(\?(?:P?<\w+>|P=\w+|[a-zA-Z]*-?[a-z]*:|<?[=!]|[>#])|\\.|\[[^\]]*\]")


@cache
def lines() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).parts
        found[parts[0] if len(parts) > 1 else ""] += len(path.read_text("utf-8").splitlines())
    return found


def patterns(module: ast.Module) -> Iterator[tuple[str, str]]:
    """What is given to `re`, with the module's own constants in it, and the name of the constant that it makes."""
    made = [each for each in module.body if isinstance(each, ast.Assign | ast.AnnAssign) and each.value]
    named = [(each.targets[0] if isinstance(each, ast.Assign) else each.target, each.value) for each in made]
    values = {name.id: value for name, value in named if isinstance(name, ast.Name) and value}
    called = {id(node): name for name, value in values.items() for node in ast.walk(value)}

    def said(node: ast.AST) -> str:
        if isinstance(node, ast.Name) and node.id in values:
            return said(values[node.id])
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        return text + "".join(map(said, ast.iter_child_nodes(node)))

    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS:
            of = node.func.value
            if isinstance(of, ast.Name) and of.id == "re" and node.args:
                yield called.get(id(node), ""), said(node.args[0])


def test_the_top_level_has_few_modules() -> None:
    found = sorted(path.stem for path in ROOT.glob("*.py") if path.stem != "__init__")
    assert len(found) <= MODULES, found


@pytest.mark.parametrize("package", sorted(LINES))
def test_a_package_stays_within_its_lines(package: str) -> None:
    assert lines()[package] <= LINES[package]


def test_every_package_has_a_budget() -> None:
    assert set(lines()) == set(LINES)


def test_the_picture_shows_the_floors_as_they_are_held() -> None:
    tools = tomllib.loads((ROOT.parent / "pyproject.toml").read_text("utf-8"))["tool"]
    floors = tools["importlinter"]["contracts"][0]["layers"]
    held = [{room.strip().removeprefix("ragcore.") for room in floor.split("|")} for floor in floors]
    picture = (ROOT.parent / "docs" / "architecture.md").read_text("utf-8").split("```")[3]
    shown: list[set[str]] = []
    for number, room, size in re.findall(r"^([ \d]\d|  )  (\w+) +([\d,]+)  \S", picture, re.MULTILINE):
        if number.strip():
            shown.append(set())
        shown[-1].add(room)
        alone = ROOT / f"{room}.py"
        own = len(alone.read_text("utf-8").splitlines()) if alone.is_file() else lines()[room]
        assert abs(int(size.replace(",", "")) - own) <= max(own / 10, 10), f"{room} has {own} lines"
    assert shown == held


def test_settings_stay_few() -> None:
    assert len(catalogue()) <= SETTINGS


def test_rules_of_english_stand_in_their_rooms() -> None:
    found: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT)
        for name, pattern in patterns(ast.parse(path.read_text("utf-8"))):
            if place.parts[0] not in ("offline", "text") and re.search("[A-Za-z]{3}", _SYNTAX.sub(" ", pattern)):
                found.setdefault(place.as_posix(), set()).add(name or pattern)
    assert found == FORMATS


def test_words_are_found_in_groups_and_in_constants() -> None:
    module = ast.parse(
        'A = "cat|dog"\nB = re.compile(rf"^(?:{A})$")\nre.sub(r"(?:hen)\\b", "", text)\nre.match(r"(?P<hen>\\d)", x)'
    )
    told = [(name, re.search("[A-Za-z]{3}", _SYNTAX.sub(" ", said)) is not None) for name, said in patterns(module)]
    assert sorted(told) == [("", False), ("", True), ("B", True)]
