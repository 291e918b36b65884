"""Every prompt, and the marker language that the answer is written in.

A source is shown to the writer as ``<<SOURCE 3>>`` with numbered units ``[3.1]``, ``[3.2]`` …; it cites
``<<SOURCE 3.2>>``, a range ``<<SOURCE 3.2-3.4>>``, the whole ``<<SOURCE 3>>`` or several ``<<SOURCE 1.2, 3.4>>``.
"""

from __future__ import annotations
