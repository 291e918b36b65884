"""``python -m benchmarks NAME [options]``: one script per figure that the README or the docs state."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in ("__main__", "common"))

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m benchmarks NAME [options]\nNAME: {' '.join(NAMES)}")
    name = sys.argv.pop(1)
    module = importlib.import_module(f"benchmarks.{name}")
    sys.argv[0] = f"benchmarks.{name}"
    module.main()
