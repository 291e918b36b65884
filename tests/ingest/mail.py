"""Messages, books and pictures of known words."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from tests.check.files import archive

Attached = tuple[str, bytes]
_SECTOR, _SHORT, _CUT = 512, 64, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def message(text: str = "", html: str = "", attached: Sequence[Attached] = (), **head: str) -> EmailMessage:
    """A message with these texts, files and lines of its head."""
    made = EmailMessage()
    given = {
        "From": "Ada Marsh <ada@valley.example>",
        "To": "Board <board@valley.example>",
        "Subject": "Nitrate in May",
    }
    for name, value in (
        given | {"Date": "Tue, 04 Mar 2025 10:00:00 +0100", "Message-ID": "<1@valley.example>"} | head
    ).items():
        made[name] = value
    if text or not html:
        made.set_content(text)
    if html:
        (made.add_alternative if text else made.set_content)(html, subtype="html")
    for name, data in attached:
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return made


def outlook(properties: Mapping[int, Any], attached: Sequence[Mapping[int, Any]] = ()) -> bytes:
    """An MSG file with these properties, and those of the files attached to it; a mapping is a message in it."""
    root = _properties(properties, 32)
    for number, one in enumerate(attached):
        root[f"__attach_version1.0_#{number:08X}"] = _properties(one, 8)
    return compound(root)


def _properties(given: Mapping[int, Any], head: int) -> dict[str, Any]:
    streams: dict[str, Any] = {}
    table = bytes(head)
    for number, value in given.items():
        if isinstance(value, Mapping):
            streams[f"__substg1.0_{number:04X}000D"] = _properties(value, 24)
        elif isinstance(value, int):
            table += struct.pack("<HHIq", 0x40 if value > 1 << 32 else 3, number, 6, value)
        else:
            kind, data = (0x1F, value.encode("utf-16-le")) if isinstance(value, str) else (0x102, value)
            streams[f"__substg1.0_{number:04X}{kind:04X}"] = data
            table += struct.pack("<HHIII", kind, number, 6, len(data), 0)
    return {"__properties_version1.0": table, **streams}


def compound(root: Mapping[str, Any]) -> bytes:
    """A compound file (MS-CFB) of streams (bytes) and storages (mappings)."""
    entries: list[list[Any]] = [["Root Entry", 5, _FREE, _FREE, _FREE, _END, 0]]
    sectors: list[bytes] = []
    fat: list[int] = []
    short, short_fat = b"", list[int]()

    def chain(data: bytes) -> int:
        parts = [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
        first = len(sectors)
        sectors.extend(parts)
        fat.extend([*range(first + 1, first + len(parts)), _END])
        return first

    def add(owner: int, content: Mapping[str, Any]) -> None:
        nonlocal short
        before = None
        for name in sorted(content, key=lambda each: (len(each), each.upper())):
            value, number = content[name], len(entries)
            entries.append([name, 1, _FREE, _FREE, _FREE, _END, 0])
            entries[owner if before is None else before][4 if before is None else 3] = number
            before = number
            if isinstance(value, Mapping):
                entries[number][1] = 1
                add(number, value)
            else:
                entries[number][1], entries[number][6] = 2, len(value)
                if len(value) >= _CUT:
                    entries[number][5] = chain(value)
                elif value:
                    entries[number][5], count = len(short_fat), -(-len(value) // _SHORT)
                    short_fat.extend([*range(len(short_fat) + 1, len(short_fat) + count), _END])
                    short += value.ljust(count * _SHORT, b"\0")

    add(0, root)
    entries[0][5], entries[0][6] = chain(short), len(short)
    table = chain(struct.pack(f"<{len(short_fat)}I", *short_fat).ljust(_SECTOR, b"\xff"))
    folder = b"".join(
        struct.pack(
            "<64sHBBIII16sIQQIQ",
            *(name.encode("utf-16-le"), 2 * len(name) + 2, kind, 1, left, right, child, b"", 0, 0, 0, start, size),
        )
        for name, kind, left, right, child, start, size in entries
    )
    folders = chain(folder.ljust(-(-len(folder) // _SECTOR) * _SECTOR, b"\0"))
    count = 1
    while count * 128 < len(fat) + count:
        count += 1
    places = [len(fat) + number for number in range(count)]
    fat.extend([_FAT] * count)
    fats = struct.pack(f"<{count * 128}I", *(fat + [_FREE] * (count * 128 - len(fat))))
    head = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, count, folders, 0, _CUT, table),
        *(-(-len(short_fat) // 128), _END, 0),
    )
    head += struct.pack("<109I", *(places + [_FREE] * (109 - count)))
    return head + b"".join(sectors) + fats


def book(*chapters: tuple[str, str], title: str = "Water of the valley", **files: bytes) -> bytes:
    """An EPUB of chapters (heading, HTML below it), with other files in it."""
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    points = "".join(
        f'<navPoint id="n{n}" playOrder="{n + 1}"><navLabel><text>{heading}</text></navLabel>'
        f'<content src="c{n}.xhtml"/></navPoint>'
        for n, (heading, _) in enumerate(chapters)
    )
    made = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        b'<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        b"</container>",
        "OPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="i"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:language>en</dc:language>'
        f'<dc:identifier id="i">x</dc:identifier></metadata><manifest>{items}<item id="t" href="t.ncx" '
        f'media-type="application/x-dtbncx+xml"/></manifest><spine toc="t">{spine}</spine></package>'.encode(),
        "OPS/t.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{points}</navMap>'
        "</ncx>".encode(),
    }
    for n, (heading, html) in enumerate(chapters):
        page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{heading}</title></head><body>'
        made[f"OPS/c{n}.xhtml"] = f"{page}<h1>{heading}</h1>{html}</body></html>".encode()
    return archive(made | files)


def picture(
    *lines: str, kind: str = "PNG", mode: str = "L", size: tuple[int, int] = (1240, 500), **options: Any
) -> bytes:
    """A picture of these lines of print."""
    return pictures(lines, kind=kind, mode=mode, size=size, **options)


def pictures(
    *pages: Sequence[str], kind: str = "TIFF", mode: str = "L", size: tuple[int, int] = (1240, 500), **options: Any
) -> bytes:
    """A file of pictures, each of some lines of print."""
    drawn = []
    for lines in pages:
        made = Image.new("L", size, 255)
        for number, line in enumerate(lines):
            ImageDraw.Draw(made).text((80, 80 + 70 * number), line, font=ImageFont.load_default(36), fill=0)
        drawn.append(made.convert(mode))
    out = io.BytesIO()
    several = {"save_all": True, "append_images": drawn[1:]} if len(drawn) > 1 else {}
    drawn[0].save(out, kind, **several, **options)
    return out.getvalue()
