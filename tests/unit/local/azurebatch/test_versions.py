"""Each version's own names, the members that may be chosen or stand together, and the lengths of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from local.azurebatch.api.filters import filterable
from local.azurebatch.service.check import members_of, read_body
from local.azurebatch.service.facts import Member, Rule, facts
from local.azurebatch.service.older import as_of
from local.azurebatch.state.errors import BatchError
from shared.engines.batch.wire.client import API
from tests.unit.engines.batch.described import refusal

VERSIONS = facts().versions
_SAMPLES: Mapping[str, Any] = {
    "text": "x",
    "flag": True,
    "duration": "PT5M",
    "moment": "2026-01-31T12:00:00Z",
    "elevated": True,
    "{}": {},
    "{text}": {},
}
_WITHOUT_START: Mapping[str, Any] = {"category": "usererror", "code": "BlobNotFound", "message": "x"}
_BY_ITS_CODE: Mapping[str, Any] = {"category": "usererror", "code": "FailureExitCode", "message": "x"}
#: What the service says today, and what the oldest and the later versions say of it.
_POOL = {"currentDedicatedNodes": 2, "targetDedicatedNodes": 3, "currentLowPriorityNodes": 0}
_ANSWERS = [
    ("Pool", _POOL, "2017-01-01.4.0", {"currentDedicated": 2, "targetDedicated": 3}),
    ("Pool", _POOL, "2017-05-01.5.0", _POOL),
    (
        "Pool",
        {"resizeErrors": [{"code": "a"}, {"code": "b"}]},
        "2017-01-01.4.0",
        {"resizeError": {"code": "a"}},
    ),
    ("Pool", {"resizeErrors": []}, "2017-01-01.4.0", {}),
    ("Pool", {"taskSlotsPerNode": 4}, "2020-03-01.11.0", {"maxTasksPerNode": 4}),
    ("Node", {"id": "n", "isDedicated": True, "nodeAgentInfo": {}}, "2017-01-01.4.0", {"id": "n"}),
    ("Node", {"id": "n", "isDedicated": True}, "2017-05-01.5.0", {"id": "n", "isDedicated": True}),
    (
        "Node",
        {"startTaskInfo": {"failureInfo": _WITHOUT_START, "retryCount": 0, "result": "failure"}},
        "2017-01-01.4.0",
        {"startTaskInfo": {"schedulingError": _WITHOUT_START, "retryCount": 0}},
    ),
    (
        "Task",
        {"executionInfo": {"failureInfo": _WITHOUT_START, "result": "failure"}},
        "2016-07-01.3.1",
        {"executionInfo": {"schedulingError": _WITHOUT_START}},
    ),
    (
        "Task",
        {"executionInfo": {"failureInfo": _BY_ITS_CODE, "exitCode": 3}},
        "2017-01-01.4.0",
        {"executionInfo": {"exitCode": 3}},
    ),
    (
        "Task",
        {"executionInfo": {"failureInfo": _BY_ITS_CODE}},
        "2017-05-01.5.0",
        {"executionInfo": {"failureInfo": _BY_ITS_CODE}},
    ),
    ("Task", {"userIdentity": {"username": "x"}}, "2016-07-01.3.1", {"runElevated": False}),
    (
        "Task",
        {"exitConditions": {"preProcessingError": {"jobAction": "none", "dependencyAction": "block"}}},
        "2016-07-01.3.1",
        {"exitConditions": {"schedulingError": {"jobAction": "none"}}},
    ),
    ("NodeCounts", {"idle": 1, "deallocated": 2, "leavingPool": 3}, "2018-03-01.6.1", {"idle": 1}),
    ("TaskCounts", {"active": 1, "validationStatus": "validated"}, "2018-08-01.7.0", {"active": 1}),
]


@pytest.mark.parametrize(("name", "today", "version", "then"), _ANSWERS)
def test_a_version_answers_by_its_own_names(name: str, today: Any, version: str, then: Any) -> None:
    assert as_of(name, version, today) == then


def test_a_flag_of_the_oldest_versions_comes_back_as_it_was_sent() -> None:
    for flag in (True, False):
        body = {"id": "t", "commandLine": "true", "runElevated": flag}
        read = read_body("TaskCreate", "2016-07-01.3.1", body)

        assert "runElevated" not in read
        assert as_of("Task", "2016-07-01.3.1", read) == body


def sample(member: Member, version: str) -> Any:
    """A value that a member can have."""
    value = _SAMPLES.get(member.kind)
    if member.is_object:
        value = _least(member.kind, version)
    elif member.choices:
        value = member.choices[0]
    elif member.kind == "number":
        value = member.least if member.least is not None else 1
    return [value] if member.is_list else value


def _least(name: str, version: str) -> dict[str, Any]:
    """An object with what a request needs of it, and with one alternative of each rule that needs one."""
    members = {one.name: one for one in facts().objects[name].values() if one.is_of(version)}
    needed = {one.name for one in members.values() if one.is_needed}
    for rule in facts().rules.get(name, ()):
        if rule.kind == "one:":
            today = rule.alternatives[0][0]
            needed |= {one.name for one in members.values() if (one.today or one.name) == today}
    return {one: sample(members[one], version) for one in needed}


def _bodies() -> list[str]:
    """The objects that requests have."""
    return sorted({one.body for one in facts().operations.values()} - {""})


def error_of(name: str, version: str, body: Mapping[str, Any]) -> BatchError | None:
    """The refusal of a request's object; None if it is taken."""
    try:
        read_body(name, version, body)
    except BatchError as error:
        return error
    return None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", _bodies())
def test_a_request_has_the_names_of_its_version_and_no_others(name: str, version: str) -> None:
    for member in facts().objects[name].values():
        error = error_of(name, version, {**_least(name, version), member.name: sample(member, version)})

        assert (error is None) == member.is_of(version), member.name
        assert error is None or error.code == "InvalidRequestBody"


def _rules() -> Iterator[tuple[str, Rule]]:
    return ((name, rule) for name, rules in facts().rules.items() for rule in rules)


@pytest.mark.parametrize(("name", "rule"), [pytest.param(*one, id=one[0]) for one in _rules()])
def test_members_that_exclude_each_other_or_come_together(name: str, rule: Rule) -> None:
    members = facts().objects[name]
    parts = [{one[0]: sample(members[one[0]], API)} for one in rule.alternatives]
    of_rule = {key for one in parts for key in one}
    rest = {key: value for key, value in _least(name, API).items() if key not in of_rule}

    def fits(*those: Mapping[str, Any]) -> bool:
        error = error_of(name, API, {**rest, **{key: value for one in those for key, value in one.items()}})
        assert error is None or error.code == "InvalidPropertyValue"
        return error is None

    together = rule.kind == "together:"
    assert fits() == (rule.kind != "one:")
    assert [fits(one) for one in parts] == [not together] * len(parts)
    assert [fits(parts[0], one) for one in parts[1:]] == [together] * (len(parts) - 1)


def test_a_volume_with_two_keys_is_refused() -> None:
    blobs = {"accountName": "a", "containerName": "c", "relativeMountPath": "m", "accountKey": "k"}
    pool = {**_least("PoolCreate", API), "mountConfiguration": [{"azureBlobFileSystemConfiguration": blobs}]}

    assert refusal("POST", "/pools", {"api-version": API}, pool) is None
    blobs["sasKey"] = "s"
    refused = refusal("POST", "/pools", {"api-version": API}, pool)

    assert refused is not None
    assert "accountKey, sasKey, identityReference" in refused.values["Reason"]


def test_a_text_is_as_long_as_the_service_takes() -> None:
    texts = [
        (name, one)
        for name, members in facts().objects.items()
        for one in members.values()
        if one.kind == "text" and one.most is not None and one.is_of(API)
    ]
    for name, one in texts:
        assert one.most is not None
        read_body(name, API, {**_least(name, API), one.name: "ü" * one.most})
        with pytest.raises(BatchError) as refused:
            read_body(name, API, {**_least(name, API), one.name: "x" * (one.most + 1)})
        assert refused.value.values["PropertyName"] == one.name

    assert {one.name for _, one in texts} >= {"displayName", "name"}


def _lists() -> list[tuple[str, str]]:
    chosen = [operation for operation, one in facts().operations.items() if "$select" in one.limits]
    assert len(chosen) > 8
    return chosen


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("operation", _lists(), ids="-".join)
def test_a_property_that_is_chosen_is_one_of_the_version(operation: tuple[str, str], version: str) -> None:
    method, path = operation
    answer = facts().operations[operation].answer
    names = set(members_of(answer, version))
    of_others = {one.name for one in facts().objects[answer].values()} - names

    def refused(**pairs: str) -> BatchError | None:
        return refusal(method, path, {"api-version": version, **{f"${k}": v for k, v in pairs.items()}}, None)

    assert refused(select=", ".join(sorted(names))) is None
    assert refused(select="") is None
    for name in ("bogus", "id/x", *of_others):
        error = refused(select=f"{min(names)},{name}")
        assert error is not None
        assert (error.code, error.values["QueryParameterName"]) == ("InvalidQueryParameterValue", "$select")
        assert f"'{name}'" in error.values["Reason"]


@pytest.mark.parametrize(
    "operation", [one for one, what in facts().operations.items() if "$expand" in what.limits], ids="-".join
)
def test_only_statistics_can_be_expanded(operation: tuple[str, str]) -> None:
    for value, fits in (("stats", True), ("", True), ("bogus", False), ("stats,bogus", False)):
        error = refusal(*operation, {"api-version": API, "$expand": value}, None)
        assert (error is None) == fits
        assert error is None or error.code == "InvalidQueryParameterValue"


def test_a_list_is_filtered_by_the_names_of_the_version() -> None:
    assert "currentDedicated" in filterable("pools", "2017-01-01.4.0")
    assert "currentDedicatedNodes" not in filterable("pools", "2017-01-01.4.0")
    assert "currentDedicatedNodes" in filterable("pools", API)
    assert "poolId" in filterable("poolnodecounts", API)
