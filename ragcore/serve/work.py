"""Work of one request in a thread: it tells steps to the event loop, and stops when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from anyio import CapacityLimiter, to_thread

from ragcore.cancel import Stop
from ragcore.progress import ignore
from ragcore.serve.models import Told

T = TypeVar("T")

AT_ONCE = 4  # requests at work; others wait, without a thread


@dataclass(frozen=True, slots=True)
class Task:
    """What work is given: whom to ``tell`` its steps (events of an answer, or `Doing`), and what tells it to
    ``stop``."""

    tell: Callable[[Told], None] = ignore
    stop: Stop = field(default_factory=Stop)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    value: T


class Desk:
    """Place where a server's requests are worked on, at most `AT_ONCE` at a time."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None  # it belongs to the running loop

    async def run(self, work: Callable[[Task], T]) -> AsyncGenerator[Told | Outcome[T], None]:
        """Steps of ``work``, then its `Outcome`; raises what it raises. Who leaves it, or is cancelled, stops it."""
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[Told] = asyncio.Queue()
        stop = Stop()

        def tell(step: Told) -> None:
            if not stop.is_set():
                loop.call_soon_threadsafe(steps.put_nowait, step)

        self._limiter = self._limiter or CapacityLimiter(AT_ONCE)
        thread = to_thread.run_sync(work, Task(tell, stop), abandon_on_cancel=True, limiter=self._limiter)
        working = asyncio.ensure_future(thread)
        try:
            while not working.done() or not steps.empty():
                coming = asyncio.ensure_future(steps.get())
                try:
                    await asyncio.wait({working, coming}, return_when=asyncio.FIRST_COMPLETED)
                    if coming.done():
                        yield coming.result()
                finally:
                    coming.cancel()
            yield Outcome(working.result())
        finally:
            stop.set()
            working.cancel()

    async def outcome(self, work: Callable[[Task], T]) -> T:
        """What ``work`` comes to."""
        async with aclosing(self.run(work)) as steps:
            async for step in steps:
                if isinstance(step, Outcome):
                    return step.value
        raise AssertionError("work ends with its outcome")
