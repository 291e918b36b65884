"""Optical character recognition: a page's picture → words with boxes and confidences. Runs in the child process only.

The models are those of the rapidocr wheel (PP-OCRv6: a text detector and one recogniser for Chinese, Japanese, English
and some fifty languages in Latin letters). Nothing is downloaded: a language whose model is not installed raises an
error with its download address.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ragcore.config.settings import OcrSettings
from ragcore.errors import ModelDamaged, ModelMissing
from ragcore.ingest.ocr.lines import Mask, OcrWord, PlacedLine, ReadLine, line_words, measure, settled

TALL = 1.5  # a box higher than this many times its width holds a turned line
SIDEWAYS_SHARE = 0.6  # of the lines' length: from this share of turned lines the whole page lies on its side
PROBES = 4  # lines read to determine a page's turn
SURE = 0.75  # mean confidence above which a page counts as upright
BETTER = 0.1  # margin by which another turn must win

Image = NDArray[np.uint8]  # height × width × 3, blue green red


@dataclass(frozen=True, slots=True)
class OcrPage:
    """Result of OCR. The upright picture turned clockwise by ``turn`` degrees (0, 90, 180, 270) is the given one."""

    words: tuple[OcrWord, ...]
    turn: int


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

    def read(self, picture: Image, ink: Mask) -> OcrPage:
        """Text of ``picture``; ``ink`` (same height and width) marks its printed pixels, without rules."""
        quads = self._detect(picture)
        turn = self._turn(picture, quads)
        if turn:
            picture = np.ascontiguousarray(np.rot90(picture, turn // 90))
            ink = np.ascontiguousarray(np.rot90(ink, turn // 90))
            quads = self._detect(picture)
        lines = settled(self._lines(picture, ink, quads))
        return OcrPage(tuple(word for number, line in enumerate(lines) for word in line_words(line, number)), turn)

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

    def _lines(self, picture: Image, ink: Mask, quads: NDArray[np.float32]) -> list[PlacedLine]:
        sides = _lengths(quads)
        tall = sides[:, 1] > TALL * sides[:, 0]
        # A tall box is a line that runs up or down, or a single narrow letter, or stacked letters: the best reading
        # wins.
        ways = [(i, way) for i in range(len(quads)) for way in ((0, 90, 270) if tall[i] else (0,))]
        corners = [_turned_quad(quads[i], way) for i, way in ways]
        readings = zip(ways, corners, self._recognise([_crop(picture, quad) for quad in corners]), strict=True)
        lines: list[PlacedLine] = []
        for _index, same in groupby(readings, key=lambda reading: reading[0][0]):
            (_i, way), quad, read = max(same, key=lambda reading: reading[2].score if reading[2].text.strip() else -1)
            if read.text.strip():
                mask = _crop(ink.astype(np.uint8) * 255, quad) > 127
                lines.append(PlacedLine(quad, read, mask, way != 0, *measure(mask, read.text)))
        return lines

    def _recognise(self, crops: Sequence[Image]) -> list[ReadLine]:
        if not crops:
            return []
        found = self._rapid.recognize_txt(list(crops))
        lines = zip(found.txts or (), found.scores or (), found.word_results or (), strict=True)
        return [_as_read(text, float(score), info) for text, score, info in lines]


def _as_read(text: str, score: float, info: Any) -> ReadLine:
    """Line as rapidocr's recogniser gives it: ``word_cols`` has the column of every character that is no blank, and
    ``confs`` a confidence of every character."""
    columns = iter([column for word in info.word_cols for column in word])
    count = float(info.line_txt_len) or 1.0
    centres = [float("nan") if char.isspace() else (next(columns) + 0.5) / count for char in text]
    return ReadLine(text, tuple(centres), tuple(float(value) for value in info.confs[: len(text)]), score)


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
