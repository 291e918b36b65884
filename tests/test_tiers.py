"""When files of an index are merged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcore.tiers import DEAD, FANOUT, LARGEST, plan


def test_few_files_are_left_alone() -> None:
    assert plan([]) == []
    assert plan([(300, 300)] * (FANOUT - 1)) == []
    assert plan([(LARGEST, LARGEST)] * 20) == []


def test_files_of_one_size_are_merged_and_larger_ones_stay() -> None:
    assert plan([(100_000, 100_000), *[(300, 300)] * FANOUT]) == [list(range(1, FANOUT + 1))]


def test_a_file_of_which_much_is_dead_is_written_anew_and_an_empty_one_is_not() -> None:
    assert plan([(1000, 600), (1000, 900), (1000, 0)]) == [[0]]


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=400))
def test_updates_one_by_one_leave_few_files_and_copy_little(updates: list[int]) -> None:
    files: list[int] = []
    copied = 0
    for size in updates:
        files.append(size)
        while groups := plan([(file, file) for file in files]):
            for group in groups:
                assert 2 <= len(group) <= FANOUT
                assert sum(files[place] for place in group) <= LARGEST
            gone = {place for group in groups for place in group}
            merged = [sum(files[place] for place in group) for group in groups]
            copied += sum(merged)
            files = [file for place, file in enumerate(files) if place not in gone] + merged
    assert sum(files) == sum(updates)
    assert len(files) <= (FANOUT - 1) * 6 + sum(updates) * FANOUT // LARGEST
    assert copied <= 6 * sum(updates)


@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 5000)), max_size=60))
def test_no_file_is_planned_twice_and_what_is_mostly_dead_always_is(sizes: list[tuple[int, int]]) -> None:
    sizes = [(chunks, min(chunks, alive)) for chunks, alive in sizes]
    planned = [place for group in plan(sizes) for place in group]
    assert len(planned) == len(set(planned))
    assert set(planned) >= {p for p, (chunks, alive) in enumerate(sizes) if alive and chunks - alive > DEAD * chunks}
    assert all(sizes[place][1] for place in planned)
