"""When the files of an index are merged: by size, as log-structured merge trees do (O'Neil et al. 1996; Lucene's tiered
merge policy).

An update adds one small file, and files of about one size are merged once there are `FANOUT` of them, so a chunk is
copied about log(size of the library) times in all. No file grows past `LARGEST` chunks by merging: that bounds the time
and the memory of the worst update.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

FANOUT = 6
SMALLEST = 256  # chunks; smaller files count as one size
LARGEST = 131_072
DEAD = 0.3  # share of removed chunks from which a file is written anew


def plan(sizes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Which files are to be merged into one, as lists of places in ``sizes``: (chunks, of which alive) of each file.

    A file by itself in a list is to be written anew without its dead chunks; one with none alive is just dropped."""
    groups: list[list[int]] = []
    tiers: dict[int, list[int]] = defaultdict(list)
    for place, (_, alive) in enumerate(sizes):
        if alive:
            tiers[_tier(alive)].append(place)
    chosen: set[int] = set()
    for _, places in sorted(tiers.items()):
        places.sort(key=lambda place: sizes[place][1])
        while len(places) >= FANOUT:
            group: list[int] = []
            total = 0
            while places and len(group) < FANOUT and total + sizes[places[0]][1] <= LARGEST:
                total += sizes[places[0]][1]
                group.append(places.pop(0))
            if len(group) < 2:
                break
            groups.append(group)
            chosen.update(group)
    for place, (chunks, alive) in enumerate(sizes):
        if place not in chosen and alive and chunks - alive > DEAD * chunks:
            groups.append([place])
    return groups


def _tier(alive: int) -> int:
    tier = 0
    size = SMALLEST
    while alive > size:
        size *= FANOUT
        tier += 1
    return tier
