"""Every error of what a command reaches becomes one line with a remedy."""

import pytest
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
)

from shared.core.errors import Misconfigured, Unavailable
from slipway.client.trouble import reaching
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
