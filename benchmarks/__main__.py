"""``python -m benchmarks NAME [options] [--record RECORD]``: one script per figure that the README or the docs state.

``--record`` takes the figures of a record from what the script prints; `benchmarks.records` has their form.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks import common, records

SHARED = ("__main__", "common", "records", "everyday_texts")
NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in SHARED)


def recorded(name: str, script: str) -> None:
    try:
        record = records.read(name)
    except OSError:
        sys.exit(f"There is no record {name!r}: write {records.FOLDER / name}.json with its rows first.")
    if record.script != script:
        sys.exit(f"The record {name!r} is of `{record.script}`, not of `{script}`.")
    try:
        records.write(name, record.taken(common.PRINTED))
    except LookupError as error:
        sys.exit(f"The record {name!r} wants {error.args[0]}, which `{script}` didn't print.")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m benchmarks NAME [options] [--record RECORD]\nNAME: {' '.join(NAMES)}")
    script, wanted = sys.argv.pop(1), ""
    if "--record" in sys.argv:
        at = sys.argv.index("--record")
        if at + 1 == len(sys.argv):
            sys.exit("--record needs the name of a record.")
        _, wanted = sys.argv.pop(at), sys.argv.pop(at)
    module = importlib.import_module(f"benchmarks.{script}")
    sys.argv[0] = f"benchmarks.{script}"
    module.main()
    if wanted:
        recorded(wanted, script)
