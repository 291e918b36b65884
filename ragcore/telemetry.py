"""Telemetry by OpenTelemetry, where ``OTEL_EXPORTER_OTLP_ENDPOINT`` names a collector: how long requests, answers and
readings take, how they end, and how many documents wait. Attributes are words of this program alone: no text, title,
name, id or address of what is asked, read or signed in.

Without the variable nothing is imported, measured or sent. The SDK reads its other variables itself
(``OTEL_EXPORTER_OTLP_HEADERS``, ``OTEL_METRIC_EXPORT_INTERVAL`` and so on).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from ragcore.errors import ConfigError

URL = "OTEL_EXPORTER_OTLP_ENDPOINT"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)  # bounds of histograms
_begun: list[_Telemetry] = []


class _Telemetry:
    """Providers of this process, with what they have measured so far."""

    def __init__(self, service: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise ConfigError(
                f"{URL} is set, and the packages for OpenTelemetry aren't installed.",
                hint="Run `pip install 'groundwork[telemetry]'`, or unset it.",
            ) from error
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or service})
        self.meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource)
        self.tracers = TracerProvider(resource=resource)
        self.tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.meter = self.meters.get_meter("groundwork")
        self.tracer = self.tracers.get_tracer("groundwork")
        self.parts: dict[str, dict[str, float]] = {}  # of gauges
        self._made: dict[str, Any] = {}

    def instrument(self, name: str, make: Callable[..., Any], **how: Any) -> Any:
        """Instrument of that name, made once."""
        if name not in self._made:
            self._made[name] = make(name, **how)
        return self._made[name]


def wanted() -> bool:
    """Whether the environment names a collector."""
    return bool(os.environ.get(URL))


def begin(service: str) -> None:
    """Measure from now on, as ``service`` (or ``OTEL_SERVICE_NAME``), if the environment has `URL`. Raises
    `ConfigError`."""
    if wanted() and not _begun:
        _begun.append(_Telemetry(service))


def end() -> None:
    """Send what is left, as the SDK does when the process ends."""
    while _begun:
        made = _begun.pop()
        made.meters.shutdown()
        made.tracers.shutdown()


def took(name: str, seconds: float, stages: Mapping[str, float] | None = None, **attributes: str | int) -> None:
    """Measure what ended just now: a histogram ``NAME.duration`` and a span, which has the milliseconds of ``stages``
    too."""
    for each in _begun:
        how = {"unit": "s", "explicit_bucket_boundaries_advisory": SECONDS}
        each.instrument(f"{name}.duration", each.meter.create_histogram, **how).record(seconds, attributes)
        now, parts = time.time_ns(), {f"{name}.{stage}_ms": ms for stage, ms in (stages or {}).items()}
        begun = now - int(seconds * 1e9)
        each.tracer.start_span(name, start_time=begun, attributes={**attributes, **parts}).end(now)


def counted(name: str, number: float) -> None:
    """Add to a counter."""
    for each in _begun:
        each.instrument(name, each.meter.create_counter).add(number)


def stands(name: str, number: float, of: str) -> None:
    """Set the part of a gauge that one library (``of``, which isn't told) has: it is their sum."""
    for each in _begun:
        parts = each.parts.setdefault(name, {})
        parts[of] = number
        each.instrument(name, each.meter.create_gauge).set(sum(parts.values()))
