"""Bytecode is kept, even where a machine keeps none otherwise: each process that a test starts would compile the app
again, and pytest each file of tests."""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # of the processes that tests start
