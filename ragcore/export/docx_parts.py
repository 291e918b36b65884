"""The parts of a Word document that python-docx leaves to its users: footnotes, lists, fields, and the styles used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from docx.document import Document

NOTE_TEXT, NOTE_REFERENCE = "FootnoteText", "FootnoteReference"
REMARK, LACK, CODE, HYPERLINK = "Remark", "Lack", "CodeCharacter", "Hyperlink"
FONT, MONOSPACED = "Arial", "Courier New"  # LibreOffice has Liberation for both, of the same widths
PAPERS = {"a4": (11906, 16838), "letter": (12240, 15840)}  # twentieths of a point
MARGIN = 1304
TEXT_WIDTH = PAPERS["a4"][0] - 2 * MARGIN  # of the narrower paper
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"


def element(name: str, /, **attributes: object) -> Any:
    """``<w:name w:attribute="value"/>``."""
    from docx.oxml.ns import qn
    from docx.oxml.parser import OxmlElement

    made: Any = OxmlElement(name)
    for key, value in attributes.items():
        made.set(qn(f"w:{key}"), str(value))
    return made


def field(code: str, shown: str, style: str = "") -> list[Any]:
    """The runs of a field with what it shows until it is next worked out."""
    instruction = element("w:instrText")
    instruction.text = f" {code} "
    instruction.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    words = element("w:t")
    words.text = shown
    inside = (
        element("w:fldChar", fldCharType="begin"),
        instruction,
        element("w:fldChar", fldCharType="separate"),
        words,
        element("w:fldChar", fldCharType="end"),
    )
    return [_run(part, style) for part in inside]


def _run(inside: Any, style: str = "") -> Any:
    made = element("w:r")
    if style:
        look = element("w:rPr")
        look.append(element("w:rStyle", val=style))
        made.append(look)
    made.append(inside)
    return made


class Footnotes:
    """The part ``word/footnotes.xml``: the two separators that Word asks for, then the notes in order of reference,
    each with its number as its id."""

    SEPARATORS: ClassVar = {-1: "separator", 0: "continuationSeparator"}

    def __init__(self) -> None:
        self.root = element("w:footnotes")
        self.known: set[int] = set()
        for number, kind in self.SEPARATORS.items():
            paragraph = element("w:p")
            paragraph.append(_run(element(f"w:{kind}")))
            self._add(number, paragraph, type=kind)

    def add(self, number: int, words: Sequence[Any]) -> bool:
        """Make a footnote of these runs; False where it is there already."""
        if number in self.known:
            return False
        self.known.add(number)
        paragraph, properties = element("w:p"), element("w:pPr")
        properties.append(element("w:pStyle", val=NOTE_TEXT))
        gap = element("w:t")
        gap.text = " "
        gap.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        paragraph.extend((properties, _run(element("w:footnoteRef"), NOTE_REFERENCE), _run(gap), *words))
        self._add(number, paragraph)
        return True

    def _add(self, number: int, paragraph: Any, **attributes: str) -> None:
        note = element("w:footnote", **attributes, id=number)
        note.append(paragraph)
        self.root.append(note)

    def bookmark(self, number: int) -> str:
        """The name of the place of the first reference."""
        return f"_Note{number}"

    def reference(self, number: int) -> list[Any]:
        return [
            element("w:bookmarkStart", id=number, name=self.bookmark(number)),
            _run(element("w:footnoteReference", id=number), NOTE_REFERENCE),
            element("w:bookmarkEnd", id=number),
        ]

    def attach(self, document: Document) -> None:
        """Put the part into the document, and its separators into the settings."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.opc.packuri import PackURI
        from docx.opc.part import XmlPart

        part = XmlPart(PackURI("/word/footnotes.xml"), CONTENT_TYPE, self.root, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        separators = element("w:footnotePr")
        separators.extend(element("w:footnote", id=number) for number in self.SEPARATORS)
        settings = document.settings.element
        settings.insert_element_before(separators, "w:endnotePr", "w:compat")


class Lists:
    """Numberings: one for all lists with bullets, a new one for each numbered list, so that it begins anew."""

    DEEPEST = 8
    BULLETS = "•–▪"

    def __init__(self, document: Document) -> None:
        self.root = document.part.numbering_part.element
        known = self.root.xpath("w:abstractNum/@w:abstractNumId")
        self.bullets = 1 + max(map(int, known), default=0)
        self.numbers = self.bullets + 1
        self.used = max(map(int, self.root.xpath("w:num/@w:numId")), default=0)
        at = len(self.root.xpath("w:abstractNum"))
        self.root.insert(at, self._levels(self.bullets, "bullet"))
        self.root.insert(at + 1, self._levels(self.numbers, "decimal"))
        self.bulleted = self._use(self.bullets)

    def number(self, start: int | None, level: int) -> int:
        """The id of a list's numbering; ``start`` None for bullets."""
        if start is None:
            return self.bulleted
        made = self._use(self.numbers)
        override = element("w:lvlOverride", ilvl=min(level, self.DEEPEST))
        override.append(element("w:startOverride", val=start))
        self.root.xpath(f"w:num[@w:numId='{made}']")[0].append(override)
        return made

    def _use(self, abstract: int) -> int:
        self.used += 1
        made = element("w:num", numId=self.used)
        made.append(element("w:abstractNumId", val=abstract))
        self.root.append(made)
        return self.used

    def _levels(self, number: int, kind: str) -> Any:
        made = element("w:abstractNum", abstractNumId=number)
        made.append(element("w:multiLevelType", val="hybridMultilevel"))
        for level in range(self.DEEPEST + 1):
            words = self.BULLETS[level % len(self.BULLETS)] if kind == "bullet" else f"%{level + 1}."
            one = element("w:lvl", ilvl=level)
            properties = element("w:pPr")
            properties.append(element("w:ind", left=360 * (level + 1), hanging=360))
            one.extend(
                (
                    element("w:start", val=1),
                    element("w:numFmt", val=kind),
                    element("w:lvlText", val=words),
                    element("w:lvlJc", val="left"),
                    properties,
                )
            )
            made.append(one)
        return made


def prepared(language: str, paper: str) -> Document:
    """An empty document with the page, the styles and the page numbers of ours."""
    import docx

    document = docx.Document()
    _page(document, paper)
    _fonts(document, language)
    _styles(document)
    _foot(document)
    return document


def _page(document: Document, paper: str) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.shared import Twips

    section = document.sections[0]
    section.page_width, section.page_height = (Twips(length) for length in PAPERS[paper])
    section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Twips(MARGIN)
    # A picture of the empty template.
    rels = document.part.package.rels
    for key in [key for key, rel in rels.items() if rel.reltype == RELATIONSHIP_TYPE.THUMBNAIL]:
        del rels[key]


def _fonts(document: Document, language: str) -> None:
    """One font for all styles, in place of the template's theme; a script that it lacks is left to the reader's."""
    from docx.oxml.ns import qn

    root: Any = document.styles.element
    for fonts in root.xpath("//w:rFonts"):
        fonts.getparent().remove(fonts)
    defaults = root.xpath("w:docDefaults/w:rPrDefault/w:rPr")[0]
    defaults.insert(0, element("w:rFonts", ascii=FONT, hAnsi=FONT, cs=FONT))
    for tag in defaults.xpath("w:lang"):
        tag.set(qn("w:val"), language)


def _styles(document: Document) -> None:
    from docx.enum.style import WD_STYLE_TYPE

    styles = document.styles
    _restyle(styles["Normal"], size=10, after=0)
    _restyle(styles["Body Text"], after=6)
    _restyle(styles["List Paragraph"], after=6)  # after the last: between items of a list there is none
    _restyle(styles["Title"], size=18, after=6, bold=True)
    for border in styles["Title"].element.xpath("w:pPr/w:pBdr"):
        border.getparent().remove(border)
    for level, size in enumerate((13, 11, 10.5, 10, 10, 10), start=1):
        _restyle(styles[f"Heading {level}"], size=size, before=14 if level == 1 else 9, after=4, bold=True)
    _restyle(styles["Quote"], after=6, italic=False, colour="404040")
    paragraph, character = WD_STYLE_TYPE.PARAGRAPH, WD_STYLE_TYPE.CHARACTER
    for name, size, after, colour in (("About", 8.5, 4, "666666"), ("Notice", 10, 6, "1A1A1A")):
        _restyle(about := _new(document, name, paragraph), size=size, after=after, bold=name == "Notice", colour=colour)
        about.paragraph_format.keep_with_next = True  # they are about what follows
    _restyle(_new(document, "Code", paragraph), size=8.5, after=6, font=MONOSPACED)
    for name, size in (("", 9), (" Wide", 7)):
        _restyle(_new(document, f"Table Text{name}", paragraph), size=size)
        _restyle(_new(document, f"Table Head{name}", paragraph), size=size, bold=True)
    _restyle(_new(document, "After Table", paragraph), size=4, after=4)
    rule = _new(document, "Rule", paragraph)
    _restyle(rule, size=4, after=8)
    borders = element("w:pBdr")
    borders.append(element("w:bottom", val="single", sz=4, space=1, color="999999"))
    rule.element.get_or_add_pPr().insert(0, borders)
    _restyle(_new(document, "footnote text", paragraph, NOTE_TEXT), size=8.5, after=2)
    reference = _new(document, "footnote reference", character, NOTE_REFERENCE)
    reference.font.superscript = True
    _restyle(_new(document, REMARK, character), size=8.5, italic=True, colour="666666")
    _restyle(_new(document, LACK, character), size=9, colour="9C3D00")
    _restyle(_new(document, "Code Character", character, CODE), size=9, font=MONOSPACED)
    _restyle(_new(document, HYPERLINK, character), colour="1F4E8C")


def _new(document: Document, name: str, kind: Any, style_id: str = "") -> Any:
    made: Any = document.styles.add_style(
        name, kind, builtin=name in ("footnote text", "footnote reference", HYPERLINK)
    )
    if style_id:
        made.element.styleId = style_id
    return made


def _restyle(
    style: Any,
    *,
    size: float | None = None,
    before: float | None = None,
    after: float | None = None,
    bold: bool | None = None,
    italic: bool | None = None,
    colour: str = "1A1A1A",
    font: str = "",
) -> None:
    """Sizes and distances in points; what is None stays."""
    from docx.shared import Pt, RGBColor

    look = style.font
    if size is not None:
        look.size = Pt(size)
    if bold is not None:
        look.bold = bold
    if italic is not None:
        look.italic = italic
    if font:
        look.name = font
    look.cs_bold, look.cs_italic = look.bold, look.italic  # scripts from right to left have their own
    if size is not None:
        sizes = style.element.rPr.xpath("w:sz")[0]
        sizes.addnext(element("w:szCs", val=round(2 * size)))
    look.color.rgb = RGBColor.from_string(colour)
    if before is not None:
        style.paragraph_format.space_before = Pt(before)
    if after is not None:
        style.paragraph_format.space_after = Pt(after)


def _foot(document: Document) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    paragraph = document.sections[0].footer.paragraphs[0]
    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    between = element("w:t")
    between.text = "/"
    for made in (*field("PAGE", "1", REMARK), _run(between, REMARK), *field("NUMPAGES", "1", REMARK)):
        paragraph._p.append(made)
