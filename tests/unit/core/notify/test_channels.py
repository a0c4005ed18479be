"""The channels of a deployment: what an operator may write, and that no error shows an address."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.notify.channels import Channel, channels_from
from shared.core.notify.webhook_url import UrlPolicy

URL = "https://hooks.slack.com/services/T0/B0/Canary7Channel"
SLACK = {"kind": "slack", "url": URL}


def test_a_channel_is_for_every_job_unless_it_says_otherwise() -> None:
    document = {
        "all": SLACK,
        "vision": {**SLACK, "teams": ["vision"]},
        "ops": {"kind": "teams", "url": URL, "teams": [], "operators": True},
    }

    channels = channels_from(document, UrlPolicy())

    assert channels == {
        "all": Channel("slack", URL),
        "vision": Channel("slack", URL, frozenset({"vision"})),
        "ops": Channel("teams", URL, frozenset(), operators=True),
    }
    assert "Canary7" not in repr(channels)


@pytest.mark.parametrize(
    ("document", "flaw"),
    [
        (["Canary7"], "must be an object"),
        ({"a b": SLACK}, "'a b' is not a name"),
        ({"": SLACK}, "'' is not a name"),
        ({"ops": URL}, "'ops' must be an object"),
        ({"ops": {**SLACK, "urls": URL}}, "'ops' has unknown members: urls"),
        ({"ops": {"url": URL}}, "kind must be one of"),
        ({"ops": {**SLACK, "kind": ["slack"]}}, "kind must be one of"),
        ({"ops": {"kind": "slack"}}, "url must be an address"),
        ({"ops": {**SLACK, "url": 7}}, "url must be an address"),
        ({"ops": {**SLACK, "url": "http://hooks.slack.com/Canary7"}}, "must begin with https://"),
        ({"ops": {**SLACK, "url": "https://10.0.0.1/Canary7"}}, "names an IP address"),
        ({"ops": {**SLACK, "url": "https://app.example.com/Canary7"}}, "this service itself"),
        ({"ops": {**SLACK, "teams": "vision"}}, "teams must be a list of names"),
        ({"ops": {**SLACK, "teams": [7]}}, "teams must be a list of names"),
        ({"ops": {**SLACK, "operators": "yes"}}, "operators must be true or false"),
    ],
)
def test_a_mistake_is_named_without_the_address(document: Any, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw) as caught:
        channels_from(document, UrlPolicy(own_hosts=frozenset({"app.example.com"})))
    assert "Canary7" not in str(caught.value)
