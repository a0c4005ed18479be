"""Who has agreed to get events, by the handshake of CloudEvents."""

from __future__ import annotations

import pytest

from shared.consent import Consents

URL = "https://hooks.example.com/x"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_an_origin_nobody_is_asked_and_everybody_is_told() -> None:
    consents = Consents("")
    assert (consents.missing(URL), consents.turn(URL), consents.headers) == (False, 0.0, {})


@pytest.mark.parametrize("allowed", ["*", "slipway.example.com", "Slipway.Example.com"])
def test_our_origin_or_all_origins_are_consent(allowed: str) -> None:
    consents = Consents("slipway.example.com")
    assert consents.missing(URL)
    assert consents.heard(URL, {"WebHook-Allowed-Origin": allowed})
    assert not consents.missing(URL)
    assert consents.headers == {"WebHook-Request-Origin": "slipway.example.com"}


@pytest.mark.parametrize("answer", [{}, {"Allow": "POST"}, {"WebHook-Allowed-Origin": "other.example.com"}])
def test_anything_else_is_none(answer: dict[str, str]) -> None:
    consents = Consents("slipway.example.com")
    assert not consents.heard(URL, answer)
    assert consents.missing(URL)


def test_consent_is_asked_for_again_after_a_day() -> None:
    clock = Clock()
    consents = Consents("a.example", clock)
    consents.heard(URL, {"WebHook-Allowed-Origin": "*"})
    clock.now = 25 * 3600
    assert consents.missing(URL)


@pytest.mark.parametrize(("rate", "wait"), [("120", 0.5), ("*", 0.0), ("0", 60.0), ("many", 60.0)])
def test_the_granted_rate_is_kept(rate: str, wait: float) -> None:
    consents = Consents("a.example", Clock())
    consents.heard(URL, {"WebHook-Allowed-Origin": "*", "WebHook-Allowed-Rate": rate})
    assert (consents.turn(URL), consents.turn(URL)) == (0.0, wait)
