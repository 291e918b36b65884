"""Optical character recognition: a page's picture → words with boxes and confidences. Runs in the child process only.

rapidocr's own word boxes are not used. They are as coarse as the recogniser's columns (an eighth of a line's height
each), are not cut at the ink, and carry the confidence of another character after the first blank of a line. Here a
word begins and ends at the ink between two columns, and its height comes from the line's baseline and size, as in
`words` for a text layer.

The models are those of the rapidocr wheel (PP-OCRv6: a text detector and one recogniser for Chinese, Japanese, English
and some fifty languages in Latin letters). Nothing is downloaded: a language whose model is not installed raises an
error with its download address.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from ragcore.config.settings import OcrSettings
from ragcore.errors import ModelDamaged, ModelMissing
from ragcore.ingest.layout import GLUED, SIDEWAYS
from ragcore.ingest.words import ASCENT, DESCENT, UNSPACED, WordColumns, clean_char

TALL = 1.5  # a box higher than this many times its width holds a turned line
SIDEWAYS_SHARE = 0.6  # of the lines' length: from this share of turned lines the whole page lies on its side
PROBES = 4  # lines read to determine a page's turn
SURE = 0.75  # mean confidence above which a page counts as upright
BETTER = 0.1  # margin by which another turn must win
WIDE = 0.8  # of the size: a gap this wide separates two words even if the recogniser gave no blank
SAME_SIZE = 0.1  # lines whose sizes differ by less get their common size
_CAPITAL: Final = 0.72  # heights in shares of the font size: capitals, digits and ascenders
_SMALL: Final = 0.50  # small letters without ascender
_DEEP: Final = 0.21  # descenders, brackets
_COMMA: Final = 0.15
_IDEOGRAPH: Final = (0.85, 0.07)  # above and below the baseline
_UNSEEN = frozenset(("", " ", "\u00ad"))
_ASCENDERS = frozenset("bdfhijklt()[]{}|/\\%$&#@!?\"'“”‘’*")
_DESCENDERS = frozenset("gjpqyQ()[]{}|/\\$@ç")
_FLAT = frozenset("-–—_.,:;·•…=~^`'\"“”‘’*+<>")

Image = NDArray[np.uint8]  # height × width × 3, blue green red
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _ReadLine:
    """Line as recognised: characters, the centre of each across the crop (share of its width, nan for a blank) and its
    confidence; ``score`` is the mean."""

    text: str
    centres: tuple[float, ...]
    confidences: tuple[float, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _PlacedLine:
    """Recognised line with its place: ``quad`` has the corners in reading order (the line's own top left first),
    ``ink`` marks print in its upright crop; ``baseline`` is a row of the crop, ``size`` the font size in pixels."""

    quad: NDArray[np.float32]
    read: _ReadLine
    ink: Mask
    sideways: bool
    baseline: float
    size: float


class OcrEngine:
    """rapidocr's detector and recogniser, one thread each. Raises `ModelMissing` or `ModelDamaged`, which say how to
    get the missing file."""

    def __init__(self, settings: OcrSettings) -> None:
        model = recogniser(settings)
        from rapidocr import ModelType, OCRVersion, RapidOCR
        from rapidocr.main import RapidOCRError

        self._nothing_found = RapidOCRError
        self._rapid = RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.use_cls": False,
                "Global.return_word_box": True,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Rec.model_path": str(model.path),
                "Rec.lang_type": settings.language,
                "Rec.ocr_version": OCRVersion(model.version),
                "Rec.model_type": ModelType(model.size),
            }
        )

    def read(self, picture: Image, ink: Mask, zoom: float) -> tuple[WordColumns, NDArray[np.uint8], int]:
        """Words of ``picture`` in points (``zoom`` pixels each), cut at its edges, each line a block; their confidences
        in percent; and the turn: the upright picture turned clockwise by so many degrees (0, 90, 180, 270) is the given
        one. ``ink`` (same height and width) marks printed pixels, without rules."""
        quads = self._detect(picture)
        turn = self._turn(picture, quads)
        if turn:
            picture = np.ascontiguousarray(np.rot90(picture, turn // 90))
            ink = np.ascontiguousarray(np.rot90(ink, turn // 90))
            quads = self._detect(picture)
        words = WordColumns()
        confidences: list[int] = []
        edge = np.asarray(picture.shape[1::-1]) / zoom
        for number, line in enumerate(_settled(self._lines(picture, ink, quads))):
            for text, confidence, corners, glued in _line_words(line):
                low, high = (corners / zoom).clip(0, edge)
                if (high > low).all():
                    flags = (GLUED if glued else 0) | (SIDEWAYS if line.sideways else 0)
                    words.add(text, (*low.tolist(), *high.tolist()), line.size / zoom, number, flags, number)
                    confidences.append(round(100 * confidence))
        return words, np.asarray(confidences, np.uint8), turn

    def _detect(self, picture: Image) -> NDArray[np.float32]:
        """Corners of the lines, float32 ``(n, 4, 2)``, clockwise from the top left, in order down the page."""
        record: dict[str, Any] = {"preprocess": {"ratio_h": 1.0, "ratio_w": 1.0}}
        try:
            _crops, found = self._rapid.detect_and_crop(picture, record)
        except self._nothing_found:
            return np.empty((0, 4, 2), np.float32)
        shift = record["padding_1"]
        quads = np.asarray(found.boxes, np.float32) - np.asarray([shift["left"], shift["top"]], np.float32)
        height, width = picture.shape[:2]
        cut: NDArray[np.float32] = quads.clip(0, [width - 1, height - 1])
        return cut[(_lengths(cut) >= 4).all(axis=1)]

    def _turn(self, picture: Image, quads: NDArray[np.float32]) -> int:
        """Clockwise turn of the text, by its longest lines: read across the page, or down and up if most lie so. 0 if
        none can be read with more confidence than as they are."""
        sides = _lengths(quads)
        long = sides.max(axis=1, initial=0)
        tall = sides[:, 1] > TALL * sides[:, 0]
        flat = sides[:, 0] > TALL * sides[:, 1]
        sideways = tall.any() and long[tall].sum() >= SIDEWAYS_SHARE * long[tall | flat].sum()
        lying = tall if sideways else ~tall
        if not lying.any():
            return 0
        longest = quads[np.flatnonzero(lying)[np.argsort(-long[lying], kind="stable")[:PROBES]]]
        if sideways:
            down, up = (self._score(picture, longest, way) for way in (90, 270))
            return 0 if max(down, up) < SURE else 90 if down >= up else 270
        upright = self._score(picture, longest, 0)
        return 180 if upright < SURE and self._score(picture, longest, 180) > upright + BETTER else 0

    def _score(self, picture: Image, quads: NDArray[np.float32], way: int) -> float:
        """Mean confidence of lines read as turned clockwise by ``way`` degrees."""
        read = self._recognise([_crop(picture, _turned_quad(quad, way)) for quad in quads])
        return float(np.mean([line.score for line in read]))

    def _lines(self, picture: Image, ink: Mask, quads: NDArray[np.float32]) -> list[_PlacedLine]:
        sides = _lengths(quads)
        tall = sides[:, 1] > TALL * sides[:, 0]
        # A tall box is a line that runs up or down, or a single narrow letter, or stacked letters: the best reading
        # wins.
        ways = [(i, way) for i in range(len(quads)) for way in ((0, 90, 270) if tall[i] else (0,))]
        corners = [_turned_quad(quads[i], way) for i, way in ways]
        readings = zip(ways, corners, self._recognise([_crop(picture, quad) for quad in corners]), strict=True)
        lines: list[_PlacedLine] = []
        for _index, same in groupby(readings, key=lambda reading: reading[0][0]):
            (_i, way), quad, read = max(same, key=lambda reading: reading[2].score if reading[2].text.strip() else -1)
            if read.text.strip():
                mask = _crop(ink.astype(np.uint8) * 255, quad) > 127
                lines.append(_PlacedLine(quad, read, mask, way != 0, *_measure(mask, read.text)))
        return lines

    def _recognise(self, crops: Sequence[Image]) -> list[_ReadLine]:
        if not crops:
            return []
        found = self._rapid.recognize_txt(list(crops))
        lines = zip(found.txts or (), found.scores or (), found.word_results or (), strict=True)
        return [_as_read(text, float(score), info) for text, score, info in lines]


def _as_read(text: str, score: float, info: Any) -> _ReadLine:
    """Line as rapidocr's recogniser gives it: ``word_cols`` has the column of every character that is no blank, and
    ``confs`` a confidence of every character."""
    columns = iter([column for word in info.word_cols for column in word])
    count = float(info.line_txt_len) or 1.0
    centres = [float("nan") if char.isspace() else (next(columns) + 0.5) / count for char in text]
    return _ReadLine(text, tuple(centres), tuple(float(value) for value in info.confs[: len(text)]), score)


def _lengths(quads: NDArray[np.float32]) -> NDArray[np.float32]:
    """Width and height of each quadrangle, float32 ``(n, 2)``."""
    across = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    down = np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1)
    return np.stack([across, down], axis=1).astype(np.float32)


def _turned_quad(quad: NDArray[np.float32], way: int) -> NDArray[np.float32]:
    """Corners reordered so that the first is the line's own top left if its text is turned clockwise by ``way``."""
    return np.roll(quad, -(way // 90), axis=0)


def _crop(picture: Any, quad: NDArray[np.float32]) -> Any:
    """Upright crop of ``quad``."""
    width, height = (max(1, round(side)) for side in _lengths(quad[None])[0].tolist())
    target = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(np.ascontiguousarray(quad, np.float32), target)
    return cv2.warpPerspective(picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)


def _measure(ink: Mask, text: str) -> tuple[float, float]:
    """Baseline (row of the crop) and font size in pixels, from the height of the print and the letters in the line. The
    size is nan if the letters give no height (dashes, dots)."""
    top, bottom = _band(ink)
    letters = set(text) - {" "}
    if not letters - _FLAT or bottom - top < 2:
        middle = (top + bottom) / 2
        return middle + 0.25 * len(ink), float("nan")
    if any(UNSPACED.match(c) for c in letters):
        size = (bottom - top) / sum(_IDEOGRAPH)
        return bottom - _IDEOGRAPH[1] * size, size
    below = _DEEP if letters & _DESCENDERS else _COMMA if letters & {",", ";"} else 0.0
    tall = any(c.isupper() or c.isdigit() or c in _ASCENDERS or ord(c) > 0x2000 for c in letters)
    size = (bottom - top) / ((_CAPITAL if tall else _SMALL) + below)
    return bottom - below * size, size


def _band(ink: Mask) -> tuple[int, int]:
    """First and last row (exclusive) of the run of printed rows that holds the fullest one. Gaps of a tenth of the
    height (the dot of an i) do not end it; print that extends into the crop from neighbouring lines is left out."""
    rows = ink.sum(axis=1)
    if not rows.any():
        return 0, len(rows)
    gap = max(1, len(rows) // 10)
    printed = np.pad(rows > 0, gap).astype(np.uint8)
    joined = cv2.morphologyEx(printed, cv2.MORPH_CLOSE, np.ones((gap + 1, 1), np.uint8)).ravel()[gap:-gap]
    fullest = int(rows.argmax())
    return next((top, bottom) for top, bottom in _runs(joined > 0) if top <= fullest < bottom)


def _runs(values: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index (exclusive) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _settled(lines: Sequence[_PlacedLine]) -> list[_PlacedLine]:
    """Lines with harmonised sizes: each gets the median (by characters) of the lines of nearly its own size."""
    every = np.repeat([line.size for line in lines], [len(line.read.text) for line in lines])
    known = every[~np.isnan(every)]
    out: list[_PlacedLine] = []
    for line in lines:
        size = line.size
        if np.isnan(size):
            size = float(np.median(known)) if len(known) else 0.7 * len(line.ink)
        near = known[np.abs(known - size) <= SAME_SIZE * size]
        out.append(replace(line, size=float(np.median(near)) if len(near) else size))
    return out


def _line_words(line: _PlacedLine) -> Iterator[tuple[str, float, NDArray[np.float64], bool]]:
    """Words of a line: text, confidence, its top left and bottom right in pixels ``(2, 2)``, and whether no blank
    precedes it. A character of a script without blanks is a word of its own, glued to the previous one."""
    height, width = line.ink.shape
    corners = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners, np.ascontiguousarray(line.quad, np.float32))
    top, bottom = line.baseline - ASCENT * line.size, line.baseline + DESCENT * line.size
    for text, confidence, left, right, glued in _pieces(line):
        corners = np.asarray([[[left, top], [right, top], [right, bottom], [left, bottom]]], np.float32)
        place = cv2.perspectiveTransform(corners, matrix)[0]
        yield text, confidence, np.asarray([place.min(0), place.max(0)], np.float64), glued


def _pieces(line: _PlacedLine) -> list[tuple[str, float, float, float, bool]]:
    """Words of a line as (text, confidence, left, right, glued); left and right are columns of the crop.

    Neighbouring words are separated at the widest stretch without print between the centres of their last and first
    letters.
    """
    read = line.read
    columns: Mask = np.asarray(line.ink.any(axis=0))
    width = len(columns)
    chosen = [k for k, char in enumerate(read.text) if not char.isspace() and clean_char(char) not in _UNSEEN]
    if not chosen:
        return []
    cuts: list[tuple[int, float, float, bool]] = []  # index in chosen, end of one word, start of the next, glued
    for place in range(1, len(chosen)):
        k, before = chosen[place], chosen[place - 1]
        start, end = _gap(columns, read.centres[before] * width, read.centres[k] * width)
        blank = k - before > 1 or end - start > WIDE * line.size
        unspaced = UNSPACED.match(read.text[k]) is not None or UNSPACED.match(read.text[before]) is not None
        if blank or unspaced:
            cuts.append((place, start, end, not blank))
    printed = np.flatnonzero(columns)
    first = float(printed[0]) if len(printed) else 0.0
    last = float(printed[-1] + 1) if len(printed) else float(width)
    bounds = [(0, 0.0, first, False), *cuts, (len(chosen), last, float(width), False)]
    out: list[tuple[str, float, float, float, bool]] = []
    for (begin, _end, left, glued), (stop, right, _start, _glued) in pairwise(bounds):
        members = chosen[begin:stop]
        text = "".join(clean_char(read.text[k]) for k in members)
        confidence = sum(read.confidences[k] for k in members) / len(members)
        # A word has a minimal width even if its letters' ink is indistinguishable from its neighbours'.
        out.append((text, confidence, min(left, right - 1), max(right, left + 1), glued))
    return out


def _gap(columns: Mask, left: float, right: float) -> tuple[float, float]:
    """Widest stretch without print between two columns; the midpoint if there is none."""
    start = max(0, int(left))
    middle = (left + right) / 2 - start
    first, last = max(
        _runs(~columns[start : int(right) + 1]), key=lambda run: run[1] - run[0], default=(middle, middle)
    )
    return float(start + first), float(start + last)


# In this order: the recogniser inside the wheel, then those for other scripts.
FAMILIES = (("PP-OCRv6", "small"), ("PP-OCRv5", "mobile"))


@dataclass(frozen=True, slots=True)
class Recogniser:
    """Recogniser in rapidocr's list: its file, and rapidocr's names for it."""

    path: Path
    version: str
    size: str


def recogniser(settings: OcrSettings) -> Recogniser:
    """Recogniser for ``settings.language``, present and undamaged. Raises `ModelMissing`, `ModelDamaged`."""
    import rapidocr
    from rapidocr.inference_engine.base import FileInfo, InferSession
    from rapidocr.utils.model_resolver import list_supported_langs
    from rapidocr.utils.typings import EngineType, ModelType, OCRVersion, TaskType

    language = settings.language.strip().lower()
    languages: set[str] = set()
    for version, size in FAMILIES:
        known = list_supported_langs(TaskType.REC, OCRVersion(version), ModelType(size))
        languages.update(known)
        if language not in known:
            continue
        entry = InferSession.get_model_url(
            FileInfo(EngineType.ONNXRUNTIME, OCRVersion(version), TaskType.REC, language, ModelType(size))
        )
        path = Path(rapidocr.__file__).parent / "models" / str(entry["model_dir"]).rsplit("/", 1)[-1]
        if settings.models and not path.is_file():
            path = Path(settings.models).expanduser() / path.name
        if not path.is_file():
            raise ModelMissing(
                f"The OCR model for ocr.language = {language!r} is not on this machine ({path.name}).",
                hint=f"Download {entry['model_dir']} into a folder, and name that folder in [ocr] models.",
            )
        if hashlib.sha256(path.read_bytes()).hexdigest() != entry["SHA256"]:
            raise ModelDamaged(
                f"The OCR model {path.name} isn't the published one.",
                hint="Install it again: `pip install --force-reinstall rapidocr==3.10.0`, or download it again.",
            )
        return Recogniser(path, version, size)
    raise ModelMissing(
        f"There's no OCR model for ocr.language = {settings.language!r}.",
        hint=f"Set it to one of: {', '.join(sorted(languages))}.",
    )
