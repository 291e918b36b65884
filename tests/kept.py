"""A program in a process of its own with the models of tests/models.py, which read a text once on this machine:
`python -m tests.kept streamlit run app.py`."""

from __future__ import annotations

import runpy
import sys

from ragcore.providers import registry
from tests import models

if __name__ == "__main__":
    for kind in ("embedder", "reranker"):
        setattr(registry, kind, models.once(kind, getattr(registry, kind)))
    _, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
