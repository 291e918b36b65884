"""A wish to stop, told from any thread."""

from __future__ import annotations

import threading

from ragcore.cancel import Stop


def test_what_is_under_way_is_closed_once() -> None:
    stop, closed = Stop(), []
    with stop.closing(lambda: closed.append("first")), stop.closing(lambda: closed.append("second")):
        assert not stop.is_set()
        threads = [threading.Thread(target=stop.set) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stop.is_set()
    stop.set()
    assert sorted(closed) == ["first", "second"]


def test_what_is_done_is_not_closed() -> None:
    stop, closed = Stop(), []
    with stop.closing(lambda: closed.append("done")):
        pass
    stop.set()
    assert closed == []


def test_what_begins_after_it_is_closed_at_once() -> None:
    stop, closed = Stop(), []
    stop.set()
    with stop.closing(lambda: closed.append("late")):
        assert closed == ["late"]
