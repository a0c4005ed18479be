"""Metrics and traces as they arrive: at an OTLP collector, and at Application Insights."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from shared.adapters.telemetry import SWEEPER_PASSED, OtelMeter, to_collector
from shared.settings import Settings
from shared.wiring import meter_of


class Collector:
    """Keeps every post, with its path."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, bytes]] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._take)
        async with TestServer(app, host="127.0.0.1") as server:
            yield str(server.make_url("/")).rstrip("/")

    async def _take(self, request: web.Request) -> web.Response:
        self.posts.append((request.path, await request.read()))
        return web.json_response({"itemsReceived": 1, "itemsAccepted": 1, "errors": []})

    def bodies(self, path: str) -> list[bytes]:
        return [body for where, body in self.posts if where == path]


async def _used(make: Callable[[], OtelMeter]) -> None:
    """A little of everything; the exporters block, so they run beside."""

    def work() -> None:
        meter = make()
        try:
            meter.add("slipway.jobs.ended", state="lost", reason="infrastructure")
            meter.add("slipway.jobs.ended", state="lost", reason="infrastructure")
            meter.set("slipway.jobs.active", 3, state="running")
            meter.set(SWEEPER_PASSED, 0)
            with meter.span("slipway.accept"):
                meter.annotate(job="j_1")
            _fail(meter)
            meter.flush()
        finally:
            meter.close()

    await asyncio.to_thread(work)


def _fail(meter: OtelMeter) -> None:
    with pytest.raises(ValueError, match="canary"), meter.span("slipway.submit"):
        raise ValueError("canary")


async def test_a_collector_gets_metrics_and_spans() -> None:
    collector = Collector()
    async with collector.open() as url:
        await _used(lambda: to_collector(url))

    metrics = _metrics(collector.bodies("/v1/metrics"))
    age, _ = metrics.pop("slipway.sweeper.age")
    assert 0 <= age < 60
    assert metrics == {
        "slipway.jobs.ended": (2, {"state": "lost", "reason": "infrastructure"}),
        "slipway.jobs.active": (3, {"state": "running"}),
    }
    spans = _spans(collector.bodies("/v1/traces"))
    assert spans["slipway.accept"] == {"slipway.job": "j_1"}
    assert "slipway.submit" in spans
    assert b"canary" not in b"".join(body for _, body in collector.posts)


async def test_application_insights_gets_metrics_and_spans() -> None:
    collector = Collector()
    async with collector.open() as url:
        key = "00000000-0000-0000-0000-000000000001"
        values = {
            "SLIPWAY_STORAGE": "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct",
            "SLIPWAY_INSIGHTS": "true",
            "APPLICATIONINSIGHTS_CONNECTION_STRING": f"InstrumentationKey={key};IngestionEndpoint={url}",
        }
        await _used(lambda: cast("OtelMeter", meter_of(Settings(values))))

    messages = [item for body in collector.bodies("/v2.1/track") for item in _items(body)]
    metrics = {
        one["name"]: one["value"]
        for item in messages
        if item["data"]["baseType"] == "MetricData"
        for one in item["data"]["baseData"]["metrics"]
    }
    assert (metrics["slipway.jobs.ended"], metrics["slipway.jobs.active"]) == (2, 3)
    spans = [item["data"]["baseData"] for item in messages if "Dependency" in item["data"]["baseType"]]
    assert {span["name"] for span in spans} == {"slipway.accept", "slipway.submit"}
    assert "j_1" in json.dumps(spans)
    assert "canary" not in json.dumps(messages)


def _items(body: bytes) -> list[dict[str, Any]]:
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    document = json.loads(text)
    return document if isinstance(document, list) else [document]


def _metrics(bodies: list[bytes]) -> dict[str, tuple[float, dict[str, str]]]:
    """The last value of each metric."""
    goldens: dict[str, tuple[float, dict[str, str]]] = {}
    for body in bodies:
        request = ExportMetricsServiceRequest.FromString(_plain(body))
        for metric in request.resource_metrics[0].scope_metrics[0].metrics:
            points = metric.sum.data_points or metric.gauge.data_points
            value = points[0].as_int or points[0].as_double
            attributes = {one.key: one.value.string_value for one in points[0].attributes}
            goldens[metric.name] = (value, attributes)
    return goldens


def _spans(bodies: list[bytes]) -> dict[str, dict[str, str]]:
    return {
        span.name: {one.key: one.value.string_value for one in span.attributes}
        for body in bodies
        for span in ExportTraceServiceRequest.FromString(_plain(body)).resource_spans[0].scope_spans[0].spans
    }


def _plain(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
