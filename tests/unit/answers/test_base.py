"""The rules that every model of an answer keeps, and what a client may rely on."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

import pytest
from pydantic import ValidationError

import shared.answers
from shared.answers.base import Answer
from shared.answers.events import EventDelivery, JobEvent
from shared.answers.job import JobDetail, JobLine
from shared.answers.job_sweep import SweepDetail
from shared.answers.teams import Quota
from shared.core.states import JobState
from shared.core.teams import document

MODULES = [
    importlib.import_module(f"shared.answers.{module.name}")
    for module in pkgutil.iter_modules(shared.answers.__path__)
]
MODELS = [
    model
    for module in MODULES
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, Answer) and model.__module__ == module.__name__
]
SWEEP = {
    **{"sweepId": "s_1", "name": "n", "experiment": "e", "state": "active", "total": 2, "parallel": 1},
    **{"atWork": 1, "waiting": 1, "counts": {}, "createdAt": "2026-01-01T00:00:00Z", "parameters": {}},
}


def schema(model: type[Answer]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_names_on_the_wire_are_camel_case_and_members_are_required_or_left_out(model: type[Answer]) -> None:
    members = schema(model).get("properties", {})
    optional = {field.alias for field in model.model_fields.values() if not field.is_required()}

    assert [name for name in members if not re.fullmatch(r"[a-z][a-zA-Z0-9]*", name)] == []
    assert set(members) - set(schema(model).get("required", ())) == optional
    assert {field.default for field in model.model_fields.values() if not field.is_required()} <= {None}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_is_explained(model: type[Answer]) -> None:
    assert schema(model)["description"] != Answer.__doc__


def test_all_models_are_tried() -> None:
    assert {JobLine, JobEvent, SweepDetail} <= set(MODELS)
    assert len({model.__name__ for model in MODELS}) == len(MODELS) > 40


def test_a_model_reads_the_wire_passes_new_members_by_and_does_not_change() -> None:
    sweep = SweepDetail.model_validate(SWEEP | {"aMemberOfANewerVersion": 1})

    assert (sweep.sweep_id, sweep.at_work, sweep.cluster) == ("s_1", 1, None)
    assert not hasattr(sweep, "aMemberOfANewerVersion")
    with pytest.raises(ValidationError, match="frozen"):
        sweep.total = 3  # type: ignore[misc]


@pytest.mark.parametrize("absent", sorted(SWEEP))
def test_what_every_answer_has_is_not_left_out(absent: str) -> None:
    with pytest.raises(ValidationError, match=absent):
        SweepDetail.model_validate({name: value for name, value in SWEEP.items() if name != absent})


def test_a_point_in_time_has_its_zone() -> None:
    with pytest.raises(ValidationError, match="createdAt"):
        SweepDetail.model_validate(SWEEP | {"createdAt": "2026-01-01T00:00:00"})


def test_a_state_of_a_newer_version_is_read_and_the_document_lists_those_of_today() -> None:
    state = schema(JobDetail)["properties"]["state"]

    assert state["enum"] == [word.value for word in JobState]
    assert state["type"] == "string"


def test_the_tries_of_a_delivery_have_the_names_that_the_wire_has_always_had() -> None:
    one = {"at": "2026-01-01T00:00:00Z", "status": 503, "ms": 7, "said": "5xx"}
    wire = {"url": "https://r.example", "state": "pending", "attempts": 1, "last": "5xx", "tries": [one]}

    delivery = EventDelivery.model_validate(wire)

    assert (delivery.try_count, delivery.tries[0].detail) == (1, "5xx")
    assert set(schema(EventDelivery)["properties"]) == {*wire, "next"}


def test_a_quota_is_shown_with_every_member_that_the_document_of_teams_may_give_it() -> None:
    assert [name for name in document.Quota.model_fields if name not in Quota.model_fields] == []
