"""Parts of office files: what leads out of a file, and what of an OpenDocument is deleted, commented or hidden.

Every office file becomes an OpenDocument on its way to pages, so that one set of rules serves all of them.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from ragcore.errors import DamagedFile, EncryptedFile, GroundworkError
from ragcore.ingest.convert.kinds import DAMAGED, open_archive
from ragcore.text.numbers import plural

_COMPUTED = ("PAGE", "NUMPAGES")  # fields that are computed anew; of others the stored result is shown
_INSTRUCTION = re.compile(rb"\\fldinst", re.IGNORECASE)
_TITLE = "Title"  # name of a style
_HIDDEN = {("display", "none"), ("visibility", "hidden")}


@dataclass(frozen=True, slots=True)
class Slide:
    """Slide that is shown: its number in the file, from 1, and the paragraphs of its notes."""

    number: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosedOdf:
    """OpenDocument file without what leads out of it, tracked deletions and comments; ``notes`` on what is not shown;
    its ``slides`` that are; its ``title`` as printed, and that of its properties ("" for none); and its ``furniture``,
    the lines of its headers and footers."""

    data: bytes
    notes: tuple[str, ...]
    slides: tuple[Slide, ...]
    title: str
    property_title: str
    furniture: tuple[str, ...]


def closed(data: bytes, name: str) -> bytes:
    """Copy of a DOCX or PPTX without what leads out of it: external parts, but for the targets of hyperlinks, embedded
    documents, and fields that fetch or compute. Raises `DamagedFile`, `EncryptedFile`, `FileTooLarge`."""
    return _rewritten(data, name, lambda _part, root: _close(root))


def closed_rtf(data: bytes) -> bytes:
    """Copy of an RTF file, of the same length, without the instructions of its fields, which embed pictures and pages
    of other files as it is opened; what a field shows stays."""
    return _INSTRUCTION.sub(rb"\\*\\gwfld", data)  # a group that no program knows is left out


def closed_odf(data: bytes, name: str) -> ClosedOdf:
    """Closed copy of an ODT, ODP or ODS. Raises `DamagedFile`, `EncryptedFile`, `FileTooLarge`."""
    left: Counter[str] = Counter()
    slides: list[Slide] = []
    titles = {"content.xml": "", "meta.xml": ""}
    furniture: list[str] = []

    def close(part: str, root: Any) -> None:
        if part == "META-INF/manifest.xml" and next(root.iter("{*}encryption-data"), None) is not None:
            raise EncryptedFile(f"{name} has a password.")
        _close_odf(root, left)
        if part == "styles.xml":
            furniture.extend(filter(None, (_said(line) for line in _furniture(root))))
        if part == "meta.xml":
            titles[part] = " ".join(root.findtext(".//{*}meta/{*}title", "").split())
        if part == "content.xml":
            hidden = _hidden_styles(root)
            left["hidden passage"] += _hidden_passages(root, hidden)
            pages = list(root.iter("{*}page"))
            shown = [
                (n, page) for n, page in enumerate(pages, start=1) if _values(page).get("style-name") not in hidden
            ]
            slides.extend(Slide(number, tuple(_notes(page))) for number, page in shown)
            left["hidden slide"] += len(pages) - len(shown)
            titles[part] = _slide_title(shown[0][1]) if shown else _title(root)

    copy = _rewritten(data, name, close)
    notes = tuple(f"{plural(count, what)} left out." for what, count in sorted(left.items()) if count)
    return ClosedOdf(copy, notes, tuple(slides), titles["content.xml"], titles["meta.xml"], tuple(furniture))


def _furniture(root: Any) -> Iterator[Any]:
    """Paragraphs of headers and footers."""
    for page in root.iter("{*}master-page"):
        for part in page.iterchildren():
            if _local(part.tag).startswith(("header", "footer")):
                yield from part.iter("{*}p", "{*}h")


def _said(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _title(root: Any) -> str:
    """Text of the first paragraphs of the style *Title*, if no heading is before them."""
    styles = {_TITLE, *(_values(s).get("name", "") for s in root.iter("{*}style") if _is_title(_values(s)))}
    found: list[str] = []
    for paragraph in root.iter("{*}p", "{*}h"):
        text = _said(paragraph)
        if _local(paragraph.tag) == "p" and _values(paragraph).get("style-name") in styles:
            found += [text] if text else []
        elif found or (text and _local(paragraph.tag) == "h"):
            break
    return " ".join(found)


def _is_title(style: Mapping[str, str]) -> bool:
    return style.get("parent-style-name") == _TITLE


def _slide_title(page: Any) -> str:
    frames = (frame for frame in page.iter("{*}frame") if _values(frame).get("class") == "title")
    return next((" ".join(" ".join(frame.itertext()).split()) for frame in frames), "")


def _close(root: Any) -> None:
    for relation in list(root.iter("{*}Relationship")):
        outside = relation.get("TargetMode", "").lower() == "external" or _leads_out(relation.get("Target", ""))
        if outside and not relation.get("Type", "").endswith("/hyperlink"):
            _drop(relation)
    for field in root.iter("{*}instrText"):
        field.text = _kept(field.text or "")
    for field in root.iter("{*}fldSimple"):
        for key in [key for key in field.attrib if _local(key) == "instr"]:
            field.set(key, _kept(field.get(key)))
    for chunk in list(root.iter("{*}altChunk")):
        _drop(chunk)


def _kept(instruction: str) -> str:
    """Instruction of a field, "" for one whose stored result is to be shown."""
    return instruction if instruction.split()[:1] in ([each] for each in _COMPUTED) else ""


def _close_odf(root: Any, left: Counter[str]) -> None:
    for element in list(root.iter(etree.Element)):
        kind, values = _local(element.tag), _values(element)
        if kind in ("tracked-changes", "annotation", "dde-source", "dde-connection-decls", "scripts"):
            left["deletion"] += sum(1 for _ in element.iter("{*}deletion"))
            left["comment"] += kind == "annotation"
            _drop(element)
            continue
        for key, value in element.attrib.items():
            outside = _local(key) == "href" and kind != "a" and (_leads_out(value) or value.startswith(("/", "..")))
            if outside or (_local(key) == "formula" and "value-type" in values):
                del element.attrib[key]
        if kind in ("date", "time") and (space := element.nsmap.get("text")) == etree.QName(element).namespace:
            element.set(f"{{{space}}}fixed", "true")  # not that of today


def _hidden_styles(root: Any) -> set[str]:
    """Styles of text, sections and slides that are not shown."""
    properties = root.iter("{*}text-properties", "{*}section-properties", "{*}drawing-page-properties")
    hidden = (each for each in properties if not _HIDDEN.isdisjoint(_values(each).items()))
    return {_values(each.getparent()).get("name", "") for each in hidden}


def _hidden_passages(root: Any, hidden: set[str]) -> int:
    """How many paragraphs and sections have text that is not shown."""
    found = set()
    for element in root.iter("{*}span", "{*}p", "{*}h", "{*}section", "{*}hidden-text", "{*}hidden-paragraph"):
        kind, values = _local(element.tag), _values(element)
        unseen = (
            kind.startswith("hidden") or values.get("style-name") in hidden or ("display", "none") in values.items()
        )
        if unseen and "".join(element.itertext()).strip():
            found.add(element if kind in ("p", "h", "section") else element.getparent())
    return len(found)


def _notes(page: Any) -> Iterator[str]:
    """Paragraphs of a slide's notes."""
    for frame in (frame for notes in page.iter("{*}notes") for frame in notes.iter("{*}frame")):
        if _values(frame).get("class") == "notes":
            yield from filter(str.strip, ("".join(paragraph.itertext()) for paragraph in frame.iter("{*}p")))


def _local(name: str) -> str:
    """Name without its namespace."""
    return name.rpartition("}")[2]


def _values(element: Any) -> dict[str, str]:
    """Attributes of an element, by names without namespaces."""
    return {_local(key): value for key, value in element.attrib.items()}


def _leads_out(target: str) -> bool:
    """Whether a link has a scheme, a drive or a server."""
    return ":" in target.partition("/")[0] or target.startswith(("//", "\\"))


def _drop(element: Any) -> None:
    """Take an element out, but not the text behind it."""
    parent, before = element.getparent(), element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _rewritten(data: bytes, name: str, change: Callable[[str, Any], None]) -> bytes:
    """Copy of an archive, each of its XML parts changed, without document types. Raises `DamagedFile`,
    `EncryptedFile`, `FileTooLarge`."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    out = io.BytesIO()
    try:
        with open_archive(data, name) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy:
            for entry in archive.infolist():
                part = archive.read(entry)
                if entry.filename.lower().endswith((".xml", ".rels")) and part.strip():
                    root = etree.fromstring(part, parser)
                    change(entry.filename, root)
                    part = etree.tostring(root, encoding="UTF-8", xml_declaration=True, standalone=True)
                copy.writestr(entry.filename, part, zipfile.ZIP_STORED if entry.filename == "mimetype" else None)
    except GroundworkError:
        raise
    except DAMAGED as error:
        raise DamagedFile(f"{name} is damaged: one of its parts can't be read.") from error
    return out.getvalue()
