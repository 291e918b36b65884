"""Which of rapidocr's models reads a language, and whether it is on the machine. Nothing is downloaded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import yaml

from ragcore.config.settings import OcrSettings
from ragcore.errors import ModelDamaged, ModelMissing

DETECTOR = "PP-OCRv6_det_small.onnx"
# In this order: the recogniser inside the wheel, then those for other scripts.
FAMILIES = (("PP-OCRv6", "small"), ("PP-OCRv5", "mobile"))


@dataclass(frozen=True, slots=True)
class Recogniser:
    """A recogniser of rapidocr's list: its file, where it can be had, and rapidocr's names for it."""

    path: Path
    url: str
    sha256: str
    version: str
    size: str


def recogniser(settings: OcrSettings) -> Recogniser:
    """The recogniser for ``settings.language``, present and whole. Raises `ModelMissing`, `ModelDamaged`."""
    language = settings.language.strip().lower()
    own = own_models()
    known = yaml.safe_load((own.parent / "default_models.yaml").read_text("utf-8"))
    languages: set[str] = set()
    for version, size in FAMILIES:
        for route in known["model_routes"][version]["rec"][size]:
            languages.update(str(name) for name in route["supported_langs"])
            if language not in route["supported_langs"]:
                continue
            entry = known["onnxruntime"][version]["rec"][route["model_key"]]
            name = str(entry["model_dir"]).rsplit("/", 1)[-1]
            folder = own if (own / name).is_file() or not settings.models else Path(settings.models).expanduser()
            return _checked(Recogniser(folder / name, entry["model_dir"], entry["SHA256"], version, size), language)
    raise ModelMissing(
        f"There's no OCR model for ocr.language = {settings.language!r}.",
        hint=f"Set it to one of: {', '.join(sorted(languages))}.",
    )


def _checked(model: Recogniser, language: str) -> Recogniser:
    if not model.path.is_file():
        raise ModelMissing(
            f"The OCR model for ocr.language = {language!r} is not on this machine ({model.path.name}).",
            hint=f"Download {model.url} into a folder, and name that folder in [ocr] models.",
        )
    if hashlib.sha256(model.path.read_bytes()).hexdigest() != model.sha256:
        raise ModelDamaged(
            f"The OCR model {model.path.name} isn't the published one.",
            hint="Install it again: `pip install --force-reinstall rapidocr==3.10.0`, or download it again.",
        )
    return model


def own_models() -> Path:
    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise ModelMissing("OCR needs the package rapidocr.", hint="Install it: `pip install rapidocr==3.10.0`.")
    return Path(spec.origin).parent / "models"
