"""Every error of what a command reaches becomes one line with a remedy."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    DeserializationError,
    HttpResponseError,
    ServiceRequestError,
)

from shared.core.errors import Misconfigured, Unavailable
from slipway.client.calls.refusal import Stranger
from slipway.client.storage.trouble import reaching
from slipway.failure import Failure


def refused(status: int) -> HttpResponseError:
    error = HttpResponseError("the long text of the service, with RequestId:1\nTime:2")
    error.status_code = status
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ClientAuthenticationError("DefaultAzureCredential failed:\n  many lines"), "az login"),
        (refused(403), "refused (403"),
        (refused(404), "answered 404"),
        (ServiceRequestError("Cannot connect to host h:1 [?sig=secret]"), "slipway up"),
        (AzureError("?sig=secret"), "cannot be used"),
        (ValueError("Connection string is either blank or malformed."), "malformed"),
        (Misconfigured("plain http is only for an emulator"), "plain http"),
        (Unavailable("storage did not answer"), "did not answer"),
    ],
)
def test_an_error_is_one_line_that_names_what_was_reached_and_the_remedy(error: Exception, text: str) -> None:
    with pytest.raises(Failure) as failure, reaching("the storage account", "SLIPWAY_STORAGE"):
        raise error

    message = str(failure.value)
    assert message.startswith("the storage account")
    assert text in message
    assert "\n" not in message
    assert "secret" not in message


def test_a_mistake_of_ours_is_not_explained_away() -> None:
    with pytest.raises(KeyError), reaching("the storage account", "SLIPWAY_STORAGE"):
        raise KeyError("ours")


@pytest.mark.parametrize("status", [200, 400, 403, 404, 409, 502])
def test_a_page_in_html_is_not_an_answer_of_the_service(status: int) -> None:
    error: Any = refused(status)
    error.response = SimpleNamespace(headers={"Content-Type": "text/html; charset=utf-8"})
    for trouble in (error, DeserializationError("<html>")):
        with pytest.raises(Stranger) as failure, reaching("the storage account", "SLIPWAY_STORAGE"):
            raise trouble

        assert "something else, such as a proxy, answers at its address; check SLIPWAY" in str(failure.value)
        assert "role" not in str(failure.value)


def test_warnings_of_the_sdks_are_not_printed() -> None:
    assert any(isinstance(one, logging.NullHandler) for one in logging.getLogger("azure").handlers)
