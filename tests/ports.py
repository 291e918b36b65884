"""Ports for the servers that tests start."""

from __future__ import annotations

import os
import socket
from itertools import count

PORTS = count(11_000 + os.getpid() % 200 * 100)  # below those that a system gives to whoever asks for any


def free_port() -> int:
    """Port that no other process of this test run is given: a server binds it only seconds later."""
    for port in PORTS:
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
