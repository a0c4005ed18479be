"""The channels of a deployment: what an operator may write, and that no error shows an address."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.notify.channels import Channel, Mail, channels_from
from shared.core.notify.webhook_url import UrlPolicy

URL = "https://hooks.slack.com/services/T0/B0/Canary7Channel"
SLACK = {"kind": "slack", "url": URL}
MAIL = {
    "kind": "email",
    "to": ["ann@example.com", "ops@example.com"],
    "from": "slipway@example.com",
    "server": "smtp.azurecomm.net:587",
    "user": "Canary7User",
    "password": "Canary7Password",
}


def test_a_channel_is_for_every_job_unless_it_says_otherwise() -> None:
    document = {
        "all": SLACK,
        "vision": {**SLACK, "teams": ["vision"]},
        "ops": {"kind": "teams", "url": URL, "teams": [], "operators": True},
        "mail": MAIL,
    }

    channels = channels_from(document, UrlPolicy())

    to = ("ann@example.com", "ops@example.com")
    sent_by = Mail("smtp.azurecomm.net", 587, "slipway@example.com", to, "Canary7User", "Canary7Password")
    assert channels == {
        "all": Channel("slack", URL),
        "vision": Channel("slack", URL, frozenset({"vision"})),
        "ops": Channel("teams", URL, frozenset(), operators=True),
        "mail": Channel("email", "", mail=sent_by),
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
        ({"ops": {"url": URL}}, "kind must be one of slack, teams, email"),
        ({"ops": {**SLACK, "kind": ["slack"]}}, "kind must be one of"),
        ({"ops": {"kind": "slack"}}, "url must be an address"),
        ({"ops": {**SLACK, "url": 7}}, "url must be an address"),
        ({"ops": {**SLACK, "url": "http://hooks.slack.com/Canary7"}}, "must begin with https://"),
        ({"ops": {**SLACK, "url": "https://10.0.0.1/Canary7"}}, "names an IP address"),
        ({"ops": {**SLACK, "url": "https://app.example.com/Canary7"}}, "this service itself"),
        ({"ops": {**MAIL, "url": URL}}, "'ops' has unknown members: url"),
        ({"ops": {**SLACK, "to": ["a@example.com"]}}, "'ops' has unknown members: to"),
        ({"ops": {**MAIL, "to": []}}, "to must be a list of e-mail addresses"),
        ({"ops": {**MAIL, "to": "a@example.com"}}, "to must be a list of e-mail addresses"),
        ({"ops": {**MAIL, "to": ["a@example.com\r\nBcc: b@example.com"]}}, "to must be a list"),
        ({"ops": {**MAIL, "to": ["Ann <a@example.com>"]}}, "to must be a list of e-mail addresses"),
        ({"ops": {**MAIL, "from": "example.com"}}, "from must be an e-mail address"),
        ({"ops": {**MAIL, "server": "smtp.example.com"}}, "server must be a host and a port"),
        ({"ops": {**MAIL, "server": "smtp.example.com:99999"}}, "server must be a host and a port"),
        ({"ops": {**MAIL, "server": "user:Canary7@smtp.example.com:25"}}, "server must be a host and a port"),
        ({"ops": {**MAIL, "password": ""}}, "user and password go together"),
        ({"ops": {**MAIL, "user": 7}}, "user and password go together"),
        ({"ops": {**SLACK, "teams": "vision"}}, "teams must be a list of names"),
        ({"ops": {**SLACK, "teams": [7]}}, "teams must be a list of names"),
        ({"ops": {**SLACK, "operators": "yes"}}, "operators must be true or false"),
    ],
)
def test_a_mistake_is_named_without_the_address(document: Any, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw) as caught:
        channels_from(document, UrlPolicy(own_hosts=frozenset({"app.example.com"})))
    assert "Canary7" not in str(caught.value)
