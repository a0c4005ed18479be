"""Which fields of an object a server did not keep."""

from __future__ import annotations

from typing import Any

import pytest

from shared.engines.kubernetes.wire.compare import dropped

INDEXED: Any = {
    "metadata": {"name": "a", "annotations": {}},
    "spec": {"completionMode": "Indexed", "backoffLimit": 0, "suspend": False},
}


def test_a_server_that_drops_a_field_without_a_word_is_found_out() -> None:
    answered = {"metadata": {"name": "a"}, "spec": {"backoffLimit": 0, "parallelism": 1}}

    assert list(dropped(INDEXED, answered)) == ["spec.completionMode"]


def test_a_queue_that_suspends_the_job_is_no_loss() -> None:
    answered = {"metadata": {"name": "a"}, "spec": {**INDEXED["spec"], "suspend": True, "selector": {}}}

    assert list(dropped(INDEXED, answered)) == []


@pytest.mark.parametrize(
    ("document", "answered"),
    [
        ({"cpu": 1}, {"cpu": "1"}),
        ({"cpu": "0.5"}, {"cpu": "500m"}),
        ({"memory": "1024Mi"}, {"memory": "1Gi"}),
        ({"args": [], "value": ""}, {}),
        ({"args": ["a"]}, {"args": ["a", "more"]}),
    ],
)
def test_the_same_in_other_words_is_kept(document: Any, answered: Any) -> None:
    assert list(dropped(document, answered)) == []


@pytest.mark.parametrize(
    ("document", "answered", "place"),
    [
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b"),
        ({"a": [1, 2]}, {"a": [1]}, "a"),
        ({"a": {"b": 1}}, {"a": "text"}, "a"),
        ({"a": 0}, {"a": 6}, "a"),
        ({"a": True}, {"a": 1.5}, "a"),
        ({"cpu": "1"}, {"cpu": "2"}, "cpu"),
        ({"a": "x"}, {}, "a"),
    ],
)
def test_what_is_not_kept_is_named_by_its_path(document: Any, answered: Any, place: str) -> None:
    assert list(dropped(document, answered)) == [place]
