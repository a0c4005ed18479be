"""Metrics and traces by OpenTelemetry, to an OTLP collector or to Application Insights.

The packages are the group `telemetry` in pyproject.toml, imported only if a setting turns telemetry on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shared import __version__
from shared.core.errors import Misconfigured

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

#: Set when a pass has ended; its age is exported.
SWEEPER_PASSED = "slipway.sweeper.passed"


#: Milliseconds between two exports of the metrics.
_PERIOD_MS = 60_000
#: Variables that turn off the exporter's own telemetry, and its requests for settings from its vendor.
PHONES_HOME = ("APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL", "APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED")


class OtelMeter:
    """The meter port. It has providers of its own, so that the host's are not changed."""

    def __init__(self, spans: Callable[[TracerProvider], SpanExporter], metrics: MetricExporter) -> None:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource.create({"service.name": "slipway", "service.version": __version__})
        reader = PeriodicExportingMetricReader(metrics, export_interval_millis=_PERIOD_MS)
        self._metrics: MeterProvider = MeterProvider([reader], resource=resource)
        self._traces: TracerProvider = TracerProvider(resource=resource)
        self._traces.add_span_processor(BatchSpanProcessor(spans(self._traces)))
        self._tracer = self._traces.get_tracer("slipway", __version__)
        self._meter = self._metrics.get_meter("slipway", __version__)
        self._instruments: dict[str, Any] = {}
        self._sweeper_passed = time.monotonic()
        self._meter.create_observable_gauge("slipway.sweeper.age", [self._age], unit="s")

    def add(self, name: str, number: int = 1, **attributes: str) -> None:
        """Add to a counter, which is created at its first use."""
        if name not in self._instruments:
            self._instruments[name] = self._meter.create_counter(name)
        self._instruments[name].add(number, attributes)

    def set(self, name: str, value: float, **attributes: str) -> None:
        """Set a gauge."""
        if name == SWEEPER_PASSED:
            self._sweeper_passed = time.monotonic()
            return
        if name not in self._instruments:
            self._instruments[name] = self._meter.create_gauge(name)
        self._instruments[name].set(value, attributes)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Open a span; an error in it is reported by its type, never by its text."""
        from opentelemetry.trace import Status, StatusCode

        opened = self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        )
        with opened as span:
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def annotate(self, **attributes: str) -> None:
        """Set attributes of the current span."""
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes({f"slipway.{name}": value for name, value in attributes.items()})

    def flush(self) -> None:
        """Send the buffered data now; blocks."""
        self._traces.force_flush()
        self._metrics.force_flush()

    def close(self) -> None:
        """Send the buffered data, and end the export threads; blocks."""
        self._traces.shutdown()
        self._metrics.shutdown()

    def _age(self, options: object) -> Iterable[Any]:
        from opentelemetry.metrics import Observation

        yield Observation(time.monotonic() - self._sweeper_passed)


def to_collector(url: str) -> OtelMeter:
    """To an OTLP collector, protobuf over HTTP."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise _unset("SLIPWAY_OTLP_URL") from None
    base = url.rstrip("/")
    return OtelMeter(
        lambda _: OTLPSpanExporter(f"{base}/v1/traces"), OTLPMetricExporter(f"{base}/v1/metrics")
    )


def to_application_insights(connection: str) -> OtelMeter:
    """To Application Insights, by its connection string."""
    try:
        from azure.monitor.opentelemetry.exporter import AzureMonitorMetricExporter, AzureMonitorTraceExporter
    except ImportError:
        raise _unset("SLIPWAY_INSIGHTS") from None
    options = {"connection_string": connection, "disable_offline_storage": True}
    return OtelMeter(
        lambda provider: AzureMonitorTraceExporter(tracer_provider=provider, **options),
        AzureMonitorMetricExporter(**options),
    )


def _unset(setting: str) -> Misconfigured:
    remedy = '`make lock LOCK="--with telemetry"` lists them in requirements.txt'
    return Misconfigured(f"{setting} is set and its packages are missing: {remedy}")
