"""The envelope around a job: what it may say, and how its mistakes are reported."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from shared.jobspec import TERMINAL_EVENTS, Envelope, is_bare_job, read_envelope
from tests.unit.jobspec.jobs import CLUSTER, job

HOOK = {"url": "https://hooks.example.org/done?token=canary", "secret": "team-hook"}

BAD_ENVELOPES: tuple[tuple[str, Any, str, str, str], ...] = (
    ("neither", {"name": "a"}, "SW060", "", "neither"),
    ("both", {"spec": job(), "specBlob": "drop/job.json"}, "SW060", "", "both"),
    ("misspelt", {"spec": {}, "lables": {}}, "SW012", "/lables", 'did you mean "labels"?'),
    ("a job inside", {**job(), "name": "a", "spec": {}}, "SW012", "/properties", '"spec"'),
    ("spec of text", {"spec": "{}"}, "SW011", "/spec", "an object"),
    ("number as name", {"spec": {}, "name": 7}, "SW011", "/name", "a text"),
    ("number as label", {"spec": {}, "labels": {"a": 7}}, "SW011", "/labels/a", "a text"),
    ("list of labels", {"spec": {}, "labels": []}, "SW011", "/labels", "an object"),
    ("one receiver", {"spec": {}, "notify": HOOK}, "SW011", "/notify", "["),
    ("no address", {"spec": {}, "notify": [{"secret": "a"}]}, "SW010", "/notify/0/url", "url"),
    ("unknown event", {"spec": {}, "notify": [{**HOOK, "events": ["done"]}]}, "SW014",
     "/notify/0/events/0", "item 1"),
    ("no events", {"spec": {}, "notify": [{**HOOK, "events": []}]}, "SW015", "/notify/0/events", "empty"),
    ("too many receivers", {"spec": {}, "notify": [HOOK] * 6}, "SW063", "/notify", "6 receivers"),
    ("too many labels", {"spec": {}, "labels": {f"l{n}": "" for n in range(21)}}, "SW062", "/labels", "21"),
    ("label name", {"spec": {}, "labels": {"a b": "c"}}, "SW062", "/labels/a b", '"a b"'),
    ("label value", {"spec": {}, "labels": {"a": "x" * 257}}, "SW062", "/labels/a", "too long"),
    ("label line break", {"spec": {}, "labels": {"a": "x\ny"}}, "SW062", "/labels/a", "line breaks"),
    ("control character", {"spec": {}, "labels": {"a": "x\x00"}}, "SW007", "/labels/a", "U+0000"),
    ("hold in words", {"spec": {}, "hold": "30m"}, "SW050", "/hold", "ISO 8601"),
    ("hold in months", {"spec": {}, "hold": "P1M"}, "SW050", "/hold", "months"),
    ("a number as hold", {"spec": {}, "hold": 30}, "SW011", "/hold", "a text"),
    ("long key", {"spec": {}, "idempotencyKey": "k" * 257}, "SW061", "/idempotencyKey", "256"),
    ("empty key", {"spec": {}, "idempotencyKey": ""}, "SW061", "/idempotencyKey", "256"),
    ("signing key", {"spec": {}, "notify": [{**HOOK, "secret": "whsec_canary"}]}, "SW066",
     "/notify/0/secret", "name"),
    ("no name of a secret", {"spec": {}, "notify": [{**HOOK, "secret": "a/b+canary"}]}, "SW066",
     "/notify/0/secret", "name"),
    ("not an object", [], "SW008", "", "object"),
    *((f"code {code!r}"[:60], {"spec": {}, "code": code}, rule, f"/code{at}", says)
      for code, rule, at, says in (
        ("9f2c", "SW011", "", "an object"),
        ({"sha256": "9f2c"}, "SW090", "/sha256", "SHA-256"),
        ({"sha256": "A" * 64}, "SW090", "/sha256", "SHA-256"),
        ({}, "SW090", "", "neither"),
        ({"sha256": "a" * 64, "folder": "scripts/a"}, "SW090", "", "both"),
        ({"folder": "scripts"}, "SW090", "/folder", "folder of drops"),
        ({"folder": "scripts/a/../b"}, "SW090", "/folder", "folder of drops"),
        ({"folder": "scripts/" + "a/" * 64 + "a"}, "SW090", "/folder", "folder of drops"),
        ({"folder": "scripts/a", "at": "/scripts/a"}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "at": ""}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "at": "scripts"}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "at": "/scripts/a"}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "at": "scripts/../a"}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "at": "scripts/a/"}, "SW090", "/at", "place"),
        ({"sha256": "a" * 64, "files": 1}, "SW012", "/files", "unknown"),
        ({"sha256": "a" * 64, "mode": 7}, "SW012", "/mode", "unknown"),
      )),
    *((f"after {member} {names!r}"[:60], {"spec": {}, member: names}, code, f"/{member}{at}", says)
      for member in ("after", "afterFailure")
      for names, code, at, says in (
        ("data", "SW011", "", "a list"),
        ([7], "SW011", "/0", "a text"),
        ([""], "SW068", "/0", "id or the name"),
        (["a/b"], "SW068", "/0", '"a/b"'),
        (["train*"], "SW068", "/0", '"train*"'),
        (["a", "a"], "SW068", "/1", "twice"),
        ([f"j{n}" for n in range(21)], "SW068", "", "21 jobs"),
      )),
    ("after both", {"spec": {}, "after": ["a"], "afterFailure": ["a"]}, "SW068", "/afterFailure/0", "twice"),
    ("after too many", {"spec": {}, "after": [f"j{n}" for n in range(20)], "afterFailure": ["b"]}, "SW068",
     "/afterFailure", "21 jobs"),
    *((f"sweep {sweep!r}"[:60], {"specBlob": "drop/job.json", "sweep": sweep, **more}, code, f"/{at}", says)
      for sweep, more, code, at, says in (
        ([], {}, "SW011", "sweep", "an object"),
        ({}, {}, "SW069", "sweep", "no parameters"),
        ({f"p{n}": [1] for n in range(9)}, {}, "SW069", "sweep", "9 parameters"),
        ({"a b": [1]}, {}, "SW069", "sweep/a b", '"a b"'),
        ({"2a": [1]}, {}, "SW069", "sweep/2a", '"2a"'),
        ({"a" * 33: [1]}, {}, "SW069", "sweep/" + "a" * 33, "name of a parameter"),
        ({"lr": [1], "LR": [2]}, {}, "SW069", "sweep/LR", "two values"),
        ({"lr": 0.1}, {}, "SW069", "sweep/lr", "list of values"),
        ({"lr": []}, {}, "SW069", "sweep/lr", "list of values"),
        ({"lr": [0.1, None]}, {}, "SW069", "sweep/lr/1", "as it is"),
        ({"lr": ["a b"]}, {}, "SW069", "sweep/lr/0", "as it is"),
        ({"lr": ["$(id)"]}, {}, "SW069", "sweep/lr/0", "as it is"),
        ({"lr": [""]}, {}, "SW069", "sweep/lr/0", "as it is"),
        ({"lr": ["a" * 101]}, {}, "SW069", "sweep/lr/0", "as it is"),
        ({"lr": [10**16]}, {}, "SW069", "sweep/lr/0", "as it is"),
        ({"lr": [1, "1"]}, {}, "SW069", "sweep/lr/1", "twice"),
        ({"seed": {"range": [8]}}, {}, "SW069", "sweep/seed", "wrong form"),
        ({"seed": {"range": [0, 8, 0]}}, {}, "SW069", "sweep/seed", "wrong form"),
        ({"seed": {"range": [0, 0.5]}}, {}, "SW069", "sweep/seed", "wrong form"),
        ({"seed": {"range": [0, True]}}, {}, "SW069", "sweep/seed", "wrong form"),
        ({"seed": {"range": [0, 8], "a": 1}}, {}, "SW069", "sweep/seed", "wrong form"),
        ({"seed": {"range": [8, 0]}}, {}, "SW069", "sweep/seed", "empty"),
        ({"seed": {"range": [0, 1001]}}, {}, "SW069", "sweep", "1001 combinations"),
        ({"a": {"range": [0, 40]}, "b": {"range": [0, 26]}}, {}, "SW069", "sweep", "1040 combinations"),
        (None, {"parallel": 2}, "SW069", "parallel", "without a sweep"),
        ({"seed": [1, 2]}, {"parallel": 0}, "SW013", "parallel", "1"),
        ({"seed": [1, 2]}, {"parallel": 1001}, "SW013", "parallel", "1000"),
      )),
    *((f"resources {resources!r}", {"spec": {}, "resources": resources}, code, f"/resources{at}", says)
      for resources, code, at, says in (
        ([], "SW011", "", "an object"),
        ({"gpu": 1}, "SW012", "/gpu", '"gpus"'),
        ({"gpus": "1"}, "SW011", "/gpus", "a whole number"),
        ({"gpus": -1}, "SW013", "/gpus", "at least 0"),
        ({"cpus": 0}, "SW013", "/cpus", "at least 1"),
        ({"exclusive": False}, "SW014", "/exclusive", "True"),
        ({"exclusive": True, "gpus": 1}, "SW022", "/gpus", "whole nodes"),
        ({"gpuType": "a100"}, "SW067", "/gpuType", '"gpus": 1'),
        ({"gpus": 1, "gpuType": "a100:2"}, "SW067", "/gpuType", "as the cluster shows it"),
        ({"memory": "16 GB"}, "SW067", "/memory", "16G"),
        ({"memory": "0G"}, "SW067", "/memory", "16G"),
        ({"memory": ""}, "SW015", "/memory", "empty"),
        ({"partition": "gpu; reboot"}, "SW067", "/partition", "as the cluster shows it"),
        ({"qos": "-x"}, "SW067", "/qos", "as the cluster shows it"),
        ({"account": "a\nb"}, "SW067", "/account", "as the cluster shows it"),
        ({"reservation": "$(x)"}, "SW067", "/reservation", "as the cluster shows it"),
        ({"constraint": "a100 nvlink"}, "SW067", "/constraint", "a100&nvlink"),
        ({"options": {"Licenses": "x"}}, "SW067", "/options/Licenses", "name of an option"),
        ({"options": {"licenses": "x\ny"}}, "SW067", "/options", "control characters"),
        ({"options": {"licenses": "x" * 3000}}, "SW067", "/options", "2048"),
      )),
    *((f"name {name!r}", {"spec": {}, "name": name}, "SW061", "/name", "letters")
      for name in ("", "a b", "ä", "a\n", "x" * 65, "a/b", "a.b")),
    *((f"experiment {name!r}", {"spec": {}, "experiment": name}, "SW061", "/experiment", "letters")
      for name in ("", "a/b", "..")),
    *((f"cluster {name!r}", {"spec": {}, "cluster": name}, "SW061", "/cluster", "full id")
      for name in ("", "a b", "/subscriptions/x", "../x")),
    *((f"blob {path[:30]!r}", {"specBlob": path}, "SW065", "/specBlob", "container/path")
      for path in ("", "job.json", "https://a.blob.core.windows.net/drop/job.json", "drop/../x", "drop/a\\b",
                   "drop//a", "/drop/a", "drop/job.json?sig=canary", "Drop/job.json", "drop/" + "a" * 2000)),
    *((f"address {url[:30]!r}", {"spec": {}, "notify": [{"url": url}]}, "SW064", "/notify/0/url", "https")
      for url in ("ftp://host/x", "host/x", "https://", "https://me:canary@host/x", "https://host/x#canary",
                  "https://host/a b", "https://host\\x", "https://ho\nst/", "https://[canary/", "https://host:canary/",
                  "https://host/" + "x" * 2100, "javascript:alert(1)")),
)  # fmt: skip


@pytest.mark.parametrize(("document", "code", "pointer", "says"), [bad[1:] for bad in BAD_ENVELOPES],
                         ids=[bad[0] for bad in BAD_ENVELOPES])  # fmt: skip
def test_each_mistake_gives_exactly_its_finding(document: Any, code: str, pointer: str, says: str) -> None:
    envelope, problems = read_envelope(document)

    assert envelope is None
    assert [(one.code, one.pointer) for one in problems] == [(code, pointer)]
    assert says in f"{problems[0].message}. {problems[0].remedy}"
    assert "canary" not in str(problems)


def test_everything_an_envelope_may_say() -> None:
    envelope, problems = read_envelope(
        {
            "name": "mnist-2",
            "experiment": "digits",
            "cluster": "dev-cluster-00",
            "spec": job(),
            "idempotencyKey": "order/2024-05:7",
            "labels": {"team": "vision", "cost.centre": "Größe 7"},
            "resources": {"gpus": 1, "gpuType": "a100", "memory": "16G", "constraint": "a100&[rack1|rack2]"},
            "notify": [HOOK, {"url": "http://127.0.0.1:8080/x", "events": ["running", "succeeded"]}],
        }
    )

    assert problems == ()
    assert envelope is not None
    assert envelope.spec == job()
    assert envelope.resources is not None
    assert envelope.resources.gpu_type == "a100"
    assert envelope.notify[0].events == TERMINAL_EVENTS
    assert envelope.notify[1].events == ("running", "succeeded")
    assert "canary" not in repr(envelope)
    with pytest.raises(ValidationError):
        envelope.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "document",
    [
        {"spec": {}},
        {"specBlob": "drop/digits/job.json"},
        {"specBlob": "drop/päth with space/job.json"},
        {"spec": {}, "cluster": CLUSTER, "labels": {}, "notify": []},
        {"spec": {}, "specBlob": None, "name": None, "experiment": "a_b-c"},
    ],
)
def test_what_is_allowed_passes(document: dict[str, Any]) -> None:
    assert isinstance(read_envelope(document)[0], Envelope)


def test_the_envelope_of_a_drop_has_no_spec() -> None:
    assert read_envelope({}, drop=True) == (Envelope(), ())
    assert read_envelope({"name": "a", "notify": [HOOK]}, drop=True)[1] == ()
    _, problems = read_envelope({"spec": {}, "specBlob": "drop/x"}, drop=True)
    assert [(one.code, one.pointer) for one in problems] == [("SW060", "/spec"), ("SW060", "/specBlob")]


def test_the_spec_inside_is_left_to_validation() -> None:
    envelope, problems = read_envelope({"spec": {"anything": ["\x07", {"at": None}]}})

    assert problems == ()
    assert envelope is not None


@pytest.mark.parametrize(
    ("document", "bare"),
    [
        (job(), True),
        ({"$schema": "x", **job()}, True),
        ({"properties": None}, True),
        ({"spec": job()}, False),
        ({**job(), "name": "a"}, False),
        ({"$schema": "x"}, True),
        ({}, True),
        ({"location": "eastus", **job()}, True),
        ({"notify": []}, False),
        ([], False),
    ],
)
def test_a_bare_job_is_known_by_its_members(document: Any, bare: bool) -> None:
    assert is_bare_job(document) is bare
