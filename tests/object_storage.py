"""Object storage for tests: S3's interface on this machine, by moto."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

# What S3's own programs take from the environment.
SIGN_IN = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}


class S3:
    def __init__(self) -> None:
        self._port = 0
        self.start()

    def start(self) -> None:
        """Start, or start again with what it has, at the same address."""
        from moto.server import ThreadedMotoServer  # takes half a second, which each process of the tests would wait

        self._server = ThreadedMotoServer("127.0.0.1", self._port, verbose=False)
        self._server.start()
        host, self._port = self._server.get_host_and_port()
        self.address = f"http://{host}:{self._port}"

    def stop(self) -> None:
        self._server.stop()

    @property
    def environment(self) -> dict[str, str]:
        return SIGN_IN | {"AWS_ENDPOINT_URL": self.address}

    def bucket(self) -> str:
        """Address of a new bucket."""
        name = f"gw-{uuid4().hex}"
        urllib.request.urlopen(urllib.request.Request(f"{self.address}/{name}", method="PUT")).close()
        return f"s3://{name}"


@contextmanager
def s3() -> Iterator[S3]:
    running = S3()
    try:
        yield running
    finally:
        running.stop()
