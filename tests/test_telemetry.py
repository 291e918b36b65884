"""Telemetry tells how long things take and how they end, to a collector that the environment names, and no contents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragcore import telemetry
from ragcore.accounts.accounts import Accounts
from ragcore.accounts.libraries import Grants
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import serve
from tests.ui.test_jobs import until
from tests.web_client import answered, signed_in, status

QUESTION = "What was the highest nitrate reading?"
Point = dict[str, str]


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """A collector's address, and what it was sent, by path."""
    sent: dict[str, list[bytes]] = {"/v1/metrics": [], "/v1/traces": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent[self.path].append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", sent
    finally:
        server.shutdown()
        server.server_close()


def metrics(sent: dict[str, list[bytes]]) -> Iterator[tuple[str, Any]]:
    """Names of metrics, each with its data, as often as sent."""
    for body in sent["/v1/metrics"]:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for metric in (one for scope in resource.scope_metrics for one in scope.metrics):
                yield metric.name, getattr(metric, metric.WhichOneof("data"))


def points(sent: dict[str, list[bytes]]) -> list[tuple[str, Point]]:
    """Measured things with their attributes, as often as sent."""
    found = []
    for name, data in metrics(sent):
        for point in data.data_points:
            found.append(
                (name, {one.key: one.value.string_value or str(one.value.int_value) for one in point.attributes})
            )
    return found


def spans(sent: dict[str, list[bytes]]) -> set[str]:
    bodies = map(ExportTraceServiceRequest.FromString, sent["/v1/traces"])
    resources = (resource for body in bodies for resource in body.resource_spans)
    return {span.name for resource in resources for scope in resource.scope_spans for span in scope.spans}


def test_a_collector_is_told_what_takes_how_long_and_no_contents(surveyed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepared.copied(surveyed, home)
    soon = {"OTEL_METRIC_EXPORT_INTERVAL": "300", "OTEL_BSP_SCHEDULE_DELAY": "300"}
    with collector() as (url, sent):
        with serve(home, GROUNDWORK_AUTH__MODE="local", OTEL_EXPORTER_OTLP_ENDPOINT=url, **soon) as app:
            session = signed_in(home, app.url)
            accounts = Accounts(home)
            user = accounts.users()[0]
            with Engine.open(home) as engine:
                titles = [info.title for info in engine.documents()]
                conversation = engine.of(user.user_id).conversations.new()
            grants = Grants(accounts)
            grants.begin(lambda _: None)
            library = grants.all()[0].library_id
            accounts.close()
            turn = answered(app.url, home, conversation, QUESTION, session, f"/l/{library}")
            assert status(app.url, "/gw/secret-name-of-a-page") in (401, 404)
            assert status(app.url, f"/l/{library}/gw/library") == 401
            until(lambda: "groundwork.answer" in spans(sent))
            until(lambda: any(name == "groundwork.answer.duration" for name, _ in points(sent)))
        found = points(sent)
        assert ("groundwork.answer.duration", {"status": "complete", "writer": "rules", "refused": "false"}) in found
        requests = [point for name, point in found if name == "http.server.request.duration"]
        of_library = "/l/{library:str}/gw/library"
        refused = {"http.request.method": "GET", "http.route": of_library, "http.response.status_code": "401"}
        assert refused in requests
        assert any(point["http.route"] == "others" for point in requests)
        said = b"".join(body for bodies in sent.values() for body in bodies)
        contents = [QUESTION, "nitrate", *titles, library, conversation, turn["id"], user.email, user.user_id]
        assert [one for one in [*contents, "secret-name", "127.0.0.1"] if one.encode() in said] == []


def test_reading_is_measured_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with collector() as (url, sent):
        monkeypatch.setenv(telemetry.URL, url)
        telemetry.begin("groundwork-test")
        with Engine.open(tmp_path) as engine:
            engine.ingest(engine.add(pdfs.one_column(), "survey.pdf").doc_id)
            engine.ingest(engine.add(b"%PDF-1.4 nothing", "broken.pdf").doc_id)
        for library, waiting in (("one", 2), ("other", 3), ("one", 1)):
            telemetry.stands("groundwork.documents.waiting", waiting, of=library)
        telemetry.end()
        found = points(sent)
        (gauge,) = [data for name, data in metrics(sent) if name == "groundwork.documents.waiting"]
        assert [point.as_double or point.as_int for point in gauge.data_points] == [4]
    assert ("groundwork.reading.duration", {"status": "ready"}) in found
    assert ("groundwork.reading.duration", {"status": "failed"}) in found
    assert spans(sent) == {"groundwork.reading"}
