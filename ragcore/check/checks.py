"""Checks of one library: a draft is read, its sentences are checked one after another and stored, decided on, and
written to a file."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragcore.check.arithmetic import with_edits
from ragcore.check.draft import read_draft
from ragcore.check.judge import Judge, Judging, most
from ragcore.check.sentences import Checkable, checkable
from ragcore.check.verdict import Checker
from ragcore.errors import Cancelled, GroundworkError, InputError, ModelError
from ragcore.export import kind as checked_kind
from ragcore.index.checks import CheckStore
from ragcore.index.model_records import ModelTexts
from ragcore.model_calls import IN_FLIGHT, ModelCalls, affordable, nobody_to_ask
from ragcore.progress import IsCancelled
from ragcore.text.numbers import plural
from ragcore.types import Scope
from ragcore.types.check import Block, Check, CheckedSentence, CheckInfo, Decision, Draft
from ragcore.types.scope import checked
from ragcore.types.spending import MAX_USD, Expense, cost

if TYPE_CHECKING:
    from ragcore.check.files import CheckFile
    from ragcore.library import AskedLibrary

MOST_SENTENCES = 5_000
Show = Callable[[int, int], object]


class Checks:
    """Checks of one library. Thread-safe; two processes that run one check share its work."""

    def __init__(self, library: AskedLibrary) -> None:
        self._library = library
        self._store = CheckStore(library.store.database)

    def add(self, name: str, data: bytes, scope: Scope) -> CheckInfo:
        """Store the draft in a file called ``name``, to be checked against ``scope``. Raises `InputError` for a file
        that can't be read, or has no sentence, or more than `MOST_SENTENCES`."""
        draft = read_draft(name, data, self._library.settings)
        spans = [(one.start, one.end) for one in checkable(draft)]
        if not spans:
            raise InputError(f"{name} has no sentence to check.", hint="Choose a draft with text.")
        if len(spans) > MOST_SENTENCES:
            raise InputError(
                f"{name} has {len(spans):,} sentences; a check takes at most {MOST_SENTENCES:,}.",
                hint="Split the draft, and check its parts.",
            )
        check_id = secrets.token_hex(6)
        self._store.add(check_id, draft, data, spans, checked(scope), self._library.settings.hash())
        return self.info(check_id)

    def verdicts(self, text: str, scope: Scope) -> Iterator[CheckedSentence]:
        """Verdicts on the sentences of ``text`` one by one; nothing is stored. Raises `InputError` if it has none, and
        what retrieval raises."""
        found = checkable(Draft("", "txt", text, (Block("paragraph", 0, len(text)),)))
        if not found:
            raise InputError("There is no sentence to check.", hint="Write a claim as a sentence.")
        checker = Checker(self._library, self._library.resolved(checked(scope)))
        return (checker.verdict(sentence) for sentence in found)

    def all(self) -> list[CheckInfo]:
        """Checks, newest first."""
        return self._store.all()

    def info(self, check_id: str) -> CheckInfo:
        """Raises `UnknownCheck`."""
        return self._store.info(check_id)

    def get(self, check_id: str) -> Check:
        """Draft with its verdicts and decisions. Raises `UnknownCheck`."""
        info, draft = self.info(check_id), self._store.draft(check_id)
        rows = self._store.sentences(check_id)
        edits = [(*span, decision.revised) for span, _, decision in rows if decision.kind == "replaced"]
        return Check(
            info,
            draft,
            tuple(span for span, _, _ in rows),
            tuple(verdict for _, verdict, _ in rows),
            tuple(decision for _, _, decision in rows),
            with_edits(draft, edits),
        )

    def sentence(self, check_id: str, n: int) -> tuple[CheckedSentence | None, Decision]:
        """Verdict on sentence ``n``, None if it is not checked yet, and the decision. Raises `UnknownCheck`."""
        return self._store.sentence(check_id, n)

    def run(
        self,
        check_id: str,
        show: Show = lambda _done, _total: None,
        cancelled: IsCancelled = lambda: False,
        max_usd: float = MAX_USD,
        *,
        ask: bool = False,
    ) -> CheckInfo:
        """Check the sentences that are not checked yet, or all anew if another process asks for that meanwhile; then,
        to ``ask``, have a model read each sentence that none has read, for at most ``max_usd``, of which ``show``
        counts anew. Raises `UnknownCheck`, `Cancelled`, `InputError` if it would cost more, `ConfigError` if there is
        no model to ask, and what retrieval and the model raise, which is stored too."""
        total = self.info(check_id).total
        if ask and not self._library.models.capabilities.tools:
            raise nobody_to_ask("rules check the draft")
        self._store.put_error(check_id, None)
        found = checkable(self._store.draft(check_id))
        made, end = None, 0
        try:
            while left := self._store.left(check_id):
                show(total - len(left), total)
                if cancelled():
                    raise Cancelled("The check was stopped.")
                if made is None or made[0] != self._store.run(check_id):
                    made = self._checker(check_id)
                if not self._check(*made, check_id, left[end], found):
                    end = -1 - end  # another run is at this end
            if ask:
                self._ask(check_id, found, show, cancelled, max_usd)
            else:
                show(total, total)
        except Cancelled:
            raise
        except GroundworkError as error:
            self._store.put_error(check_id, error.as_dict())
            raise
        return self.info(check_id)

    def _ask(
        self, check_id: str, found: Sequence[Checkable], show: Show, cancelled: IsCancelled, max_usd: float
    ) -> None:
        model, database = self._library.models.planner, self._library.store.database
        assert model is not None
        with database.locked(check_id, "This draft is being read right now."):
            left, (run, checker) = self._unread(check_id, found), self._checker(check_id)
            affordable(self._expense(left.values()), max_usd, "sentence")
            judging, ledger = Judging(Judge(checker, model.name)), ModelTexts(database, "verdicts")
            with ModelCalls(
                model,
                prices=self._library.settings.llm.prices,
                ledger=ledger,
                doc_id=check_id,
                max_usd=ledger.spent(check_id) + max_usd,
                take=judging.take,
                stopped="Asking was stopped.",
                cancelled=cancelled,
            ) as calls:
                for number, n in enumerate(left):
                    show(number, len(left))
                    calls.wait(IN_FLIGHT - 1)
                    if calls.refused or self._store.run(check_id) != run:
                        break  # it is checked anew
                    verdict, decision = self._store.sentence(check_id, n)
                    if verdict is not None and verdict.opinion is None:
                        put = partial(self._store.replace, check_id, run, n, decision.revised)
                        judging.ask(calls, n, _as_decided(found[n], decision), verdict, put)
                calls.wait(0)
                judging.ask_again(calls)
        said = f"{len(left) - len(self._unread(check_id, found))} of {plural(len(left), 'sentence')} read"
        faults = ""
        if judging.faults:
            failed = plural(len(judging.faults), "sentence")
            faults = f" {model.name} gave no usable verdict on {failed}: {judging.faults[-1]}."
        if calls.refused == "limit":
            raise InputError(f"The limit of ${max_usd:.2f} is reached: {said}.{faults}", hint="Ask again to go on.")
        if calls.errors:
            last = calls.errors[-1]
            raise type(last)(f"{last.message} {said}.{faults}", hint=last.hint)
        if faults:
            raise ModelError(faults.strip())

    def _unread(self, check_id: str, found: Sequence[Checkable]) -> dict[int, Checkable]:
        """Sentences, as they are now, that are checked and that no model was asked about."""
        rows = enumerate(self._store.sentences(check_id))
        return {
            n: _as_decided(found[n], decision)
            for n, (_, verdict, decision) in rows
            if verdict is not None and verdict.opinion is None
        }

    def estimate_asking(self, check_id: str) -> Expense:
        """Highest cost of having a model read what none has read, of no sentence if there is no model. Raises
        `UnknownCheck`."""
        self.info(check_id)
        if not self._library.models.capabilities.tools:
            return self._expense([])
        return self._expense(self._unread(check_id, checkable(self._store.draft(check_id))).values())

    def _expense(self, sentences: Collection[Checkable]) -> Expense:
        model, usage = self._library.models.writer_name, most(sentences)
        usd = cost(usage, model, self._library.settings.llm.prices) if sentences else 0.0
        return Expense(len(sentences), model, usage, usd)

    def _checker(self, check_id: str) -> tuple[int | None, Checker]:
        run = self._store.run(check_id)  # before its scope, which may change now
        return run, Checker(self._library, self._library.resolved(self.info(check_id).scope), elsewhere=True)

    def _check(self, run: int | None, checker: Checker, check_id: str, n: int, found: Sequence[Checkable]) -> bool:
        decision = self.sentence(check_id, n)[1]
        began = time.perf_counter()
        verdict = checker.verdict(_as_decided(found[n], decision))
        return self._store.put(check_id, run, n, decision.revised, verdict, time.perf_counter() - began)

    def again(self, check_id: str, scope: Scope | None = None) -> CheckInfo:
        """Forget the verdicts, so that `run` checks every sentence anew, against ``scope`` (None: as before). Decisions
        stay. Raises `UnknownCheck`."""
        info = self.info(check_id)
        given = info.scope if scope is None else checked(scope)
        self._store.forget_verdicts(check_id, given, self._library.settings.hash())
        return self.info(check_id)

    def decide(self, check_id: str, n: int, decision: Decision) -> CheckedSentence | None:
        """Store a decision on sentence ``n``; if it changes the text, check it at once. Returns its verdict, None if it
        was not checked yet. Raises `UnknownCheck`, `InputError`, and what retrieval raises."""
        self.info(check_id)
        if decision.kind == "replaced" and not decision.revised.strip():
            raise InputError("The sentence has no words.", hint="Write the words that replace it.")
        _, before = self.sentence(check_id, n)
        self._store.decide(check_id, n, decision)
        if decision.revised != before.revised:
            self._check(*self._checker(check_id), check_id, n, checkable(self._store.draft(check_id)))
        return self.sentence(check_id, n)[0]

    def export(self, check_id: str, kind: CheckFile) -> bytes:
        """The check as a file. Raises `UnknownCheck`, `InputError` for an unknown kind."""
        from ragcore.check.files import KINDS, write

        told = self._library.versions.told(self.get(check_id))
        return write(told, checked_kind(kind, KINDS), self._store.original(check_id), self._library)

    def remove(self, check_id: str) -> None:
        """Delete a check with its draft. Raises `UnknownCheck`."""
        self.info(check_id)
        self._store.remove(check_id)


def _as_decided(sentence: Checkable, decision: Decision) -> Checkable:
    return replace(sentence, text=decision.revised) if decision.revised else sentence
