"""Cases: questions with what is known of their answers, read from the published sets' own files or one's own table.

A document is named by its file, with or without its ending. Pages count from 1.
"""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ragcore.errors import InputError
from ragcore.export.sheets import safe, unsafe

Row = Mapping[str, Any]
COLUMNS = ("question", "answer", "document", "page", "quote", "answerable", "id", "tag", "asked")
_HEAD = (
    'A table needs the column "question"; "answer", "document", "page", "quote" and "answerable" may stand beside it.'
)
_NO = {"no", "false", "0", "n"}
_YES = {"yes", "true", "1", "y", ""}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Place of an answer: a ``document``, its ``page`` (0: any) and the words there ("": not known)."""

    document: str
    page: int = 0
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Question with its reference ``answer`` ("": not known) and ``evidence``; ``answerable``: the documents hold the
    answer. ``documents`` are those that it is about, ``rubric`` what a good answer says, ``tag`` a group of cases."""

    case_id: str
    question: str
    answer: str = ""
    evidence: tuple[Evidence, ...] = ()
    answerable: bool = True
    documents: tuple[str, ...] = ()
    rubric: str = ""
    tag: str = ""


@dataclass(frozen=True)
class CaseSet:
    """Cases of one file, in its order, under its ``name``. Equal cases have one ``digest``."""

    name: str
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        data = TypeAdapter(tuple[Case, ...]).dump_json(self.cases)
        return sha256(data).hexdigest()[:16]

    def to_jsonl(self) -> str:
        """One case on a line, as `read_cases` takes it back."""
        kept = TypeAdapter(Case)
        return "".join(f"{kept.dump_json(case).decode()}\n" for case in self.cases)

    def to_csv(self) -> str:
        """One case on a line, as `read_cases` takes it back; ``asked`` has its documents. Raises `InputError` for a
        file name with a semicolon, and for evidence of which only some has a page."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        writer.writerows(map(_line, self.cases))
        return out.getvalue()


def _line(case: Case) -> list[str]:
    documents = [one.document for one in case.evidence]
    pages = [str(one.page) for one in case.evidence if one.page]
    if any(";" in name for name in (*documents, *case.documents)) or (pages and len(pages) < len(documents)):
        raise InputError(f"The evidence of {case.case_id!r} fits no table.", hint="Export the set as JSONL.")
    quotes = [" ".join(one.quote.split()) for one in case.evidence]
    quote = "\n".join(quotes) if all(quotes) else ""
    answerable = "yes" if case.answerable else "no"
    texts = (case.question, case.answer, "; ".join(documents), "; ".join(pages), quote, answerable, case.case_id)
    return [safe(text) for text in (*texts, case.tag, "; ".join(case.documents))]


def read_cases(path: Path, form: str = "") -> CaseSet:
    """Cases of a CSV, XLSX, JSON or JSONL file; ``form`` is one of `FORMS`, "" to tell it by the first row. Raises
    `InputError` that names the line at fault."""
    rows = list(_rows(path))
    if not rows:
        raise InputError(f"{path.name} has no questions.", hint=_HEAD)
    form = form or next((name for name, known in FORMS.items() if known.fits(rows[0][1])), "")
    if form not in FORMS:
        said = f"There is no format {form!r}." if form else f"{path.name} is in no known format."
        raise InputError(said, hint=f"{_HEAD} Or choose one of {', '.join(FORMS)}.")
    made: list[Case] = []
    known: dict[str, int] = {}
    for line, row in rows:
        try:
            case = FORMS[form].made(row)
        except (KeyError, TypeError, ValueError, AttributeError, SyntaxError, ValidationError, InputError) as error:
            raise InputError(f"{path.name}, line {line}: {_fault(error)}", hint="Correct the line.") from error
        if not case.question.strip():
            raise InputError(f"{path.name}, line {line}: the question is empty.", hint="Write one, or delete the line.")
        case_id = case.case_id or f"{line}"
        if case_id in known:
            raise InputError(
                f"{path.name}, line {line}: {case_id!r} is on line {known[case_id]} too.", hint="Rename one."
            )
        known[case_id] = line
        made.append(replace(case, case_id=case_id))
    return CaseSet(path.stem, tuple(made))


def _fault(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"“{error.args[0]}” is missing."
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."
    return error.message if isinstance(error, InputError) else f"{error}."


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Rows with their lines, from 1."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", hint="Check the path.") from error
    ending = path.suffix.lower()
    if ending == ".xlsx":
        yield from _table(enumerate(_cells(data, path), start=1))
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} isn't UTF-8 text.", hint="Save it as UTF-8.") from error
    if ending in (".csv", ".tsv"):
        try:
            yield from _table(_lines(text, "\t" if ending == ".tsv" else ","))
        except csv.Error as error:
            raise InputError(f"{path.name} isn't a readable table: {error}.", hint="Save it as CSV again.") from error
    elif ending == ".jsonl":
        for line, part in enumerate(text.split("\n"), start=1):
            if part.strip():
                yield line, _object(part, f"{path.name}, line {line}")
    elif ending == ".json":
        whole = _json(text, path.name)
        results = whole.get("results") or whole.get("input_data") if isinstance(whole, dict) else whole
        if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
            raise InputError(f"{path.name} has no list of questions.", hint='Write [{"question": …}, …].')
        yield from enumerate(results, start=1)
    else:
        raise InputError(f"{path.name} is no CSV, XLSX, JSON or JSONL file.", hint=_HEAD)


def _cells(data: bytes, path: Path) -> Iterable[Sequence[object]]:
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
        raise InputError(f"{path.name} can't be opened as a workbook.", hint="Save it as .xlsx again.") from error
    return [] if book.active is None else list(book.active.iter_rows(values_only=True))


def _lines(text: str, delimiter: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Rows of CSV, each with the line that it begins on."""
    reader, line = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1
    for row in reader:
        yield line, row
        line = reader.line_num + 1


def _table(rows: Iterable[tuple[int, Sequence[object]]]) -> Iterator[tuple[int, Row]]:
    """Rows of a table by their heads, which are told whatever their case; blank rows are left out."""
    heads: list[str] = []
    for line, row in rows:
        cells = ["" if cell is None else unsafe(str(cell).strip()) for cell in row]
        if not any(cells):
            continue
        if heads:
            yield line, dict(zip(heads, cells))
            continue
        heads = [
            cell.lower().rstrip("s") if cell.lower() in ("documents", "pages", "tags") else cell.lower()
            for cell in cells
        ]
        if "question" not in heads:
            raise InputError('The table has no column "question".', hint=_HEAD)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{where}: not valid JSON: {error}.", hint="Correct it.") from error


def _object(text: str, where: str) -> Row:
    found = _json(text, where)
    if not isinstance(found, dict):
        raise InputError(f"{where}: not a JSON object.", hint='Write {"question": …}.')
    return found


# Formats


def _own(row: Row) -> Case:
    """A row of one's own table. Several documents and pages are separated by ``;``, their quotes are lines."""
    documents = _parts(row.get("document", ""))
    pages = [_page(part) for part in _parts(row.get("page", ""))]
    quote, answerable = str(row.get("quote", "") or ""), str(row.get("answerable", "") or "").strip().lower()
    if answerable not in _YES | _NO:
        raise InputError(f"answerable is {answerable!r}; write yes or no.")
    if len(documents) > 1 and pages and len(pages) != len(documents):
        raise InputError(f"{len(documents)} documents have {len(pages)} pages.")
    if pages and not documents:
        raise InputError("a page has no document.")
    places = list(zip(documents, pages)) if len(documents) > 1 else [(documents[0], page) for page in pages]
    if documents and not pages:
        places = [(document, 0) for document in documents]
    lines = quote.splitlines()
    quotes = lines if len(lines) == len(places) else [quote] * len(places)
    evidence = tuple(Evidence(document, page, words) for (document, page), words in zip(places, quotes))
    answered = answerable in _YES
    return Case(
        str(row.get("id", "") or ""),
        str(row["question"]),
        str(row.get("answer", "") or ""),
        evidence if answered else (),
        answered,
        tuple(dict.fromkeys(_parts(row["asked"]) if "asked" in row else documents)),
        tag=str(row.get("tag", "") or ""),
    )


def _parts(cell: object) -> list[str]:
    return [part.strip() for part in str(cell or "").split(";") if part.strip()]


def _page(text: str) -> int:
    whole = text.removesuffix(".0")
    if not whole.isdecimal() or int(whole) < 1:
        raise InputError(f"{text!r} is no page; count from 1.")
    return int(whole)


def _kept(row: Row) -> Case:
    return TypeAdapter(Case).validate_python(dict(row))


def _financebench(row: Row) -> Case:
    evidence = tuple(
        Evidence(
            str(one.get("evidence_doc_name") or one.get("doc_name") or row["doc_name"]),
            int(one["evidence_page_num"]) + 1,
            str(one.get("evidence_text", "")),
        )
        for one in row["evidence"]
    )
    name = str(row["doc_name"])
    return Case(
        str(row["financebench_id"]),
        str(row["question"]),
        str(row["answer"]),
        evidence,
        True,
        (name,),
        tag=str(row.get("question_type", "")),
    )


def _mmlongbench(row: Row) -> Case:
    pages = row["evidence_pages"]
    pages = ast.literal_eval(pages) if isinstance(pages, str) else pages
    name, answer = str(row["doc_id"]), str(row["answer"])
    answerable = answer != "Not answerable"
    evidence = tuple(Evidence(name, int(page)) for page in pages)
    return Case(
        "",
        str(row["question"]),
        answer if answerable else "",
        evidence,
        answerable,
        (name,),
        tag=str(row.get("doc_type", "")),
    )


def _musique(row: Row) -> Case:
    evidence = tuple(
        Evidence(str(one["title"]), 0, str(one["paragraph_text"])) for one in row["paragraphs"] if one["is_supporting"]
    )
    return Case(str(row["id"]), str(row["question"]), str(row["answer"]), evidence, bool(row.get("answerable", True)))


def _hotpotqa(row: Row) -> Case:
    titles = dict.fromkeys(str(fact[0]) for fact in row["supporting_facts"])
    return Case(
        str(row["_id"]),
        str(row["question"]),
        str(row["answer"]),
        tuple(map(Evidence, titles)),
        tag=str(row.get("type", "")),
    )


def _scifact(row: Row) -> Case:
    cited = row.get("cited_doc_ids") or list(row.get("evidence") or {})
    return Case(str(row["id"]), str(row.get("claim") or row["text"]), "", tuple(Evidence(str(one)) for one in cited))


def _ragchecker(row: Row) -> Case:
    return Case(str(row["query_id"]), str(row["query"]), str(row["gt_answer"]))


def _kite(row: Row) -> Case:
    return Case("", str(row["query"]), str(row["gt_answer"]), rubric=str(row["rubric"]))


@dataclass(frozen=True, slots=True)
class Form:
    """Format of a set: the keys that tell it, and how a row becomes a case (`KeyError`, `ValueError`: it can't)."""

    keys: frozenset[str]
    made: Callable[[Row], Case]

    def fits(self, row: Row) -> bool:
        return self.keys <= row.keys()


FORMS: Mapping[str, Form] = {
    "groundwork": Form(frozenset({"case_id", "question"}), _kept),
    "financebench": Form(frozenset({"financebench_id", "doc_name", "evidence"}), _financebench),
    "mmlongbench": Form(frozenset({"doc_id", "evidence_pages"}), _mmlongbench),
    "musique": Form(frozenset({"question", "paragraphs"}), _musique),
    "hotpotqa": Form(frozenset({"_id", "supporting_facts"}), _hotpotqa),
    "kite": Form(frozenset({"query", "gt_answer", "rubric"}), _kite),
    "ragchecker": Form(frozenset({"query_id", "query", "gt_answer"}), _ragchecker),
    "scifact": Form(frozenset({"claim", "cited_doc_ids"}), _scifact),
    "scifact-queries": Form(frozenset({"text", "evidence", "id"}), _scifact),
    "table": Form(frozenset({"question"}), _own),
}
