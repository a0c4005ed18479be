"""The settings that are read while the app is indexed, and again by the app itself: both read the same."""

from __future__ import annotations

import azure.functions as func
import pytest

from functions.bindings import auth_level
from shared.settings import Settings


@pytest.mark.parametrize("tenant", ["", " ", "\n", "\t \r\n", "tenant", " tenant\n"])
def test_the_host_asks_for_no_key_only_where_the_app_asks_for_a_token(tenant: str) -> None:
    values = {"SLIPWAY_TENANT": tenant}

    asks_for_tokens = bool(Settings(values).text("SLIPWAY_TENANT"))

    assert (auth_level(values) is func.AuthLevel.ANONYMOUS) == asks_for_tokens
