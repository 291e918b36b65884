"""Manuscript → one HTML file with everything in it: text, notes, and with each note the cited place as a picture, its
words lit. Nothing in it runs, and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from html import escape

from ragcore.export.model import Manuscript, Note
from ragcore.export.pandoc import html
from ragcore.export.pictures import Sheets, around
from ragcore.export.wording import page

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1a1c1b, #ecedea); --soft: light-dark(#62665f, #9a9f9b);
  --ground: light-dark(#fff, #161817); --line: light-dark(#d9d9d2, #3d413f); --link: light-dark(#0d5866, #7fcbd6);
  --lack: light-dark(#8d4400, #f2ad6c); --plain: system-ui, sans-serif; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; font: 1.0625rem/1.6 Georgia, "Source Serif 4", serif;
  color: var(--ink); background: var(--ground); overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6, table, .about, .notes { font-family: var(--plain); line-height: 1.3; }
h1 { font-size: 1.75rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3, h4, h5, h6 { font-size: 1rem; }
a { color: var(--link); text-underline-offset: 2px; }
sup a { text-decoration: none; font: 600 .7em var(--plain); }
.about p { color: var(--soft); font-size: .8125rem; margin: .2rem 0; }
.notice p { font-weight: 600; }
.remark { color: var(--soft); font-style: italic; font-size: .85em; }
.lack { color: var(--lack); font-family: var(--plain); font-size: .85em; }
table { border-collapse: collapse; font-size: .8125rem; display: block; overflow-x: auto; }
th, td { padding: .35rem .6rem; border: 1px solid var(--line); text-align: left; }
.wide th, .wide td { padding: .2rem .3rem; font-size: .6875rem; }
blockquote { margin: 0 0 1rem; padding-left: 1rem; border-left: 2px solid var(--line); }
.notes { margin: 1.4rem 0; padding-top: .6rem; border-top: 1px solid var(--line); font-size: .8125rem; }
.note { margin: .9rem 0 .3rem; }
.note:target { outline: 2px solid #d9a400; outline-offset: 4px; }
figure { position: relative; margin: 0 0 .4rem; border: 1px solid var(--line); background: #fff; }
figure img { display: block; width: 100%; height: auto; }
figure i { position: absolute; background: #ffd43b; mix-blend-mode: multiply; border-radius: 2px; }
figure i.head { background: #fff4cf; }
.gone { color: var(--soft); }
@media print { body { max-width: none; margin: 0; } figure { break-inside: avoid; } }
"""


def write_page(manuscript: Manuscript, sheets: Sheets) -> bytes:
    """The whole file, in UTF-8."""
    text = html(manuscript, lambda note: _pictures(note, sheets))
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(manuscript.title)}</title>\n<style>{STYLE}</style>"
    )
    language = escape(manuscript.language)
    opening = f'<!doctype html>\n<html lang="{language}">\n<head>\n{head}\n</head>\n'
    return f"{opening}<body><main>\n{text}\n</main></body>\n</html>\n".encode()


def _pictures(note: Note, sheets: Sheets) -> str:
    """The cited place: for words that go over pages a picture of each."""
    out = []
    for number in dict.fromkeys(place.page for place in note.boxes):
        places = [place for place in note.boxes if place.page == number]
        heads = [place for place in note.heads if place.page == number]
        sheet = sheets(note.doc_id, number, around(places))
        if isinstance(sheet, str):
            out.append(f'<p class="gone">{escape(sheet)}</p>')
            continue
        marks = "".join(
            f'<i{kind} style="left:{100 * left:.3f}%;top:{100 * top:.3f}%;width:{100 * (right - left):.3f}%;'
            f'height:{100 * (bottom - top):.3f}%"></i>'
            for kind, each in ((' class="head"', heads), ("", places))
            for spot in map(sheet.within, each)
            if spot is not None
            for left, top, right, bottom in (spot,)
        )
        data = base64.b64encode(sheet.png).decode()
        words = escape(f"{note.title}, {page(note)}: the cited words, highlighted")
        out.append(
            f'<figure><img src="data:image/png;base64,{data}" width="{sheet.width}" height="{sheet.height}" '
            f'alt="{words}">{marks}</figure>'
        )
    return "".join(out)
