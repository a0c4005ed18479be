"""What the errors of an API server mean for a job, and what of them is shown."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import (
    Busy,
    Conflict,
    EngineError,
    Misconfigured,
    NotFound,
    Rejected,
    Saturated,
    Transient,
)
from shared.engines.kubernetes.wire.errors import LacksRight, failure
from tests.unit.engines.kubernetes.server import status

_CANNOT = 'jobs.batch is forbidden: User "{}" cannot create resource "jobs" in API group "batch"'


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (status(409, "AlreadyExists", 'jobs.batch "a" already exists'), Conflict, "already exists"),
        (
            status(409, "AlreadyExists", 'object is being deleted: jobs.batch "a" already exists'),
            Busy,
            "free",
        ),
        (status(409, "Conflict", "the object has been modified"), Busy, "modified"),
        (status(403, "Forbidden", 'jobs.batch "a" is forbidden: exceeded quota: q'), Saturated, "quota"),
        (status(403, "Forbidden", _CANNOT.format("system:anonymous")), Misconfigured, "no token came"),
        (status(403, "Forbidden", _CANNOT.format("slipway")), LacksRight, "the Role"),
        (
            status(403, "Forbidden", "unable to create new content because it is being terminated"),
            Misconfigured,
            "being deleted",
        ),
        (status(403, "Forbidden", 'admission webhook "a.b" denied the request: no'), Rejected, "no"),
        (status(401, "Unauthorized", "Unauthorized"), Misconfigured, "Unauthorized; its token has expired"),
        (status(404, "NotFound", 'namespaces "n" not found', kind="namespaces"), Misconfigured, "namespace"),
        (status(404, "NotFound", 'jobs.batch "a" not found', kind="jobs"), NotFound, "not found"),
        ((404, {}), Transient, "does something other than Kubernetes answer there"),
        (status(400, "BadRequest", 'strict decoding error: unknown field "x"'), Misconfigured, "1.26"),
        (status(400, "BadRequest", "json: cannot unmarshal string"), Rejected, "unmarshal"),
        (status(413, "RequestEntityTooLarge", "limit is 3145728"), Rejected, "3145728"),
        (status(410, "Expired", "too old resource version"), Busy, "too old"),
        (status(429, "TooManyRequests", "try again later"), Busy, "later"),
        (status(503, "ServiceUnavailable", "no"), Busy, "no"),
        (status(504, "Timeout", "request did not complete"), Transient, "complete"),
        (status(500, "InternalError", 'failed calling webhook "mjob.kb.io"'), Transient, "webhook"),
        ((502, {"html": "a proxy"}), Transient, "502"),
        ((301, {}), Transient, "301"),
    ],
)
def test_an_error_has_one_meaning(answer: tuple[int, Any], kind: type[EngineError], words: str) -> None:
    error = failure(*answer)

    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (["spec.template.spec.nodeSelector[gpu]"], Misconfigured),
        (["spec.template.spec.tolerations[0].key", "spec.template.spec.volumes[1].nfs.path"], Misconfigured),
        (["spec.template.spec.volumes[1].name", "spec.template.spec.containers[0].env[3].name"], Rejected),
        ([], Rejected),
    ],
)
def test_what_the_options_of_the_cluster_alone_fill_is_its_operators_to_correct(
    fields: list[str], kind: type[EngineError]
) -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "a: no", "field": field} for field in fields]

    assert type(failure(*status(422, "Invalid", "it is not valid", causes=causes))) is kind


def test_the_values_of_an_object_that_is_not_valid_are_not_shown() -> None:
    value = 'Invalid value: {"env":[{"name":"A","value":"canary: x"}]}: field is immutable'
    causes = [
        {"reason": "FieldValueInvalid", "message": value, "field": "spec.template"},
        {"reason": "FieldValueRequired", "message": "Required value: say it", "field": "spec.completions"},
        {"reason": "FieldValueDuplicate", "message": 'Duplicate value: "canary"', "field": "spec.env[1]"},
    ]
    error = failure(*status(422, "Invalid", f'Job.batch "a" is invalid: {value}', causes=causes))

    assert type(error) is Rejected
    assert "spec.template: field is immutable; spec.completions: say it" in str(error)
    assert "spec.env[1]: FieldValueDuplicate" in str(error)
    assert "canary" not in str(error)


def test_what_an_old_server_quotes_of_a_body_is_not_shown() -> None:
    quoted = (
        "cannot be handled: v1.Job.Spec: readObjectStart: error found in #10 byte of ...|canary|..., bigger"
    )
    error = failure(*status(400, "BadRequest", quoted))

    assert "cannot be handled" in str(error)
    assert "canary" not in str(error)
    assert len(str(failure(*status(400, "BadRequest", "x" * 9000)))) <= 500
