"""Records: figures with their baseline, the command that made them, and the date; docs/measured.md is made of them.

A record is a JSON file in ``benchmarks/records``. ``python -m benchmarks SCRIPT … --record NAME`` takes its figures
from the tables that the script prints: each row says where they stand there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchmarks.common import ROOT, Printed

FOLDER = Path(__file__).parent / "records"
DOCUMENT = ROOT / "docs" / "measured.md"
SUBJECTS = (
    "First look",
    "Answers without a model",
    "Citations",
    "Verification",
    "Reports",
    "Grid",
    "Retrieval",
    "Tables",
    "Reading",
    "Speed",
    "Survival",
)
HEAD = """# Measured

Figures with a baseline beside them, on two cores: read the ratios, not the seconds. `python -m benchmarks measured`
writes this page from the records beside the scripts; with `--run` it runs first what can run where you are, and records
it (`pip install '.[bench]'`; `GROUNDWORK_DATA` names the folder of data). The last column names the command.

*First look*: no rule and no weight was made on these documents and questions. *Looked at*: some were, so expect less
from your documents. *Before* is the figure before the change that was measured.
"""


class Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cells(Kept):
    """Cells of a printed table: of the ``table``-th, in the row whose first cells, joined by " / ", are ``row``."""

    table: int = 0
    row: str
    columns: tuple[str, ...] = Field(min_length=1)

    def read(self, tables: Sequence[Printed]) -> str:
        """The cells, joined by "/", or by ", " if they have one. Raises `LookupError` if they aren't there."""
        if self.table >= len(tables):
            raise LookupError(f"table {self.table + 1}")
        head, rows = tables[self.table]
        for row in rows:
            if self.row in (" / ".join(row[:n]) for n in range(1, len(row))):
                missing = [name for name in self.columns if name not in head]
                if missing:
                    raise LookupError(f"column {missing[0]!r}")
                found = [_short(row[head.index(name)]) for name in self.columns]
                return (", " if any("/" in one for one in found) else "/").join(found)
        raise LookupError(f"row {self.row!r}")


def _short(value: str) -> str:
    """``0.250`` as ``.250``, ``1.000`` as ``1``."""
    return re.sub(r"^(-?)0\.(?=\d)", r"\1.", value.removesuffix(".000"))


class Row(Kept):
    """Figure of ``what``: ``now``, and ``beside`` it a baseline; where a run prints them, with their ``unit``."""

    what: str
    now: str
    beside: str = ""
    cells: Cells | None = None
    baselines: Mapping[str, Cells] = {}
    unit: str = ""

    def taken(self, tables: Sequence[Printed]) -> Row:
        if self.cells is None:
            return self
        beside = ", ".join(f"{cells.read(tables)}{self.unit} {name}" for name, cells in self.baselines.items())
        return self.model_copy(update={"now": f"{self.cells.read(tables)}{self.unit}", "beside": beside})


class Record(Kept):
    """Figures of one command: ``script`` and its ``arguments`` ({home}: folder of libraries). ``needs`` says what it
    takes that isn't published; such a record is never run."""

    subject: Literal[SUBJECTS]  # type: ignore[valid-type]
    about: str
    script: str = ""
    arguments: tuple[str, ...] = ()
    needs: str = ""
    date: date
    standing: Literal["first look", "looked at", ""] = ""
    rows: tuple[Row, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _can_be_taken(self) -> Record:
        if not self.needs and not (self.script and all(row.cells for row in self.rows)):
            raise ValueError("a record that can be run names its script, and the cells of each row")
        return self

    @property
    def command(self) -> str:
        return " ".join([self.script, *self.arguments]).replace("{home}/", "").strip()

    def taken(self, tables: Sequence[Printed]) -> Record:
        """The record with the figures that were printed, as of today."""
        rows = tuple(row.taken(tables) for row in self.rows)
        return self.model_copy(update={"rows": rows, "date": date.today()})


def read(name: str) -> Record:
    return Record.model_validate_json((FOLDER / f"{name}.json").read_bytes())


def everything() -> dict[str, Record]:
    """Records by name, in the order of subjects, within one by name."""
    found = {path.stem: read(path.stem) for path in sorted(FOLDER.glob("*.json"))}
    return dict(sorted(found.items(), key=lambda item: SUBJECTS.index(item[1].subject)))


def write(name: str, record: Record) -> None:
    """A line for each field, and for each row."""
    fields = record.model_dump(mode="json", exclude_defaults=True)
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in fields.pop("rows"))
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n" for key, value in fields.items()]
    (FOLDER / f"{name}.json").write_text(f'{{\n{"".join(lines)} "rows": [\n  {rows}\n ]\n}}\n', "utf-8")


def rendered(records: Mapping[str, Record]) -> str:
    """docs/measured.md."""
    return "\n".join([HEAD, *(line for subject in SUBJECTS for line in _section(subject, records))]).rstrip() + "\n"


def _section(subject: str, records: Mapping[str, Record]) -> Iterator[str]:
    own = [record for record in records.values() if record.subject == subject]
    if not own:
        return
    yield from (f"## {subject}", "", "| | now | beside | |", "|---|---|---|---|")
    for number, record in enumerate(own, start=1):
        yield from (f"| {row.what} | {row.now} |{row.beside and f' {row.beside}'} | {number} |" for row in record.rows)
    yield ""
    for number, record in enumerate(own, start=1):
        told = [f"`{record.command}`" if record.command else "", f"{record.date:%-d %B %Y}", record.standing]
        needs = f" It needs {record.needs}." if record.needs else ""
        yield f"{number}. {', '.join(filter(None, told))}: {record.about}{needs}"
    yield ""
