"""A queue that refuses: the server's own errors are waited out; 24 s of silence end the host, as in Azure."""

import pytest
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError

from local.host.settings import SettingsError
from local.host.times import Times, read_times
from local.host.triggers.outage import Outage, StorageAwayError


class _Refused(HttpResponseError):
    def __init__(self, status: int) -> None:
        super().__init__("refused")
        self.status_code = status


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    "error", [ServiceRequestError("refused"), ServiceResponseError("cut"), _Refused(403), _Refused(429)]
)
def test_what_only_the_client_repeats_ends_the_host_after_its_time(error: AzureError) -> None:
    clock = _Clock()
    outage = Outage("jobs", Times().outage, clock)

    outage.note_failure(error)
    clock.now += 23.9
    outage.note_failure(error)
    clock.now += 0.1

    with pytest.raises(StorageAwayError, match="queue jobs refuses for 24 s"):
        outage.note_failure(error)


@pytest.mark.parametrize("status", [409, 500, 503])
def test_a_server_that_answers_with_its_own_error_is_polled_on(status: int) -> None:
    clock = _Clock()
    outage = Outage("jobs", 24.0, clock)

    for _ in range(3):
        outage.note_failure(_Refused(status))
        clock.now += 3600


def test_an_answer_between_two_failures_begins_the_time_anew() -> None:
    clock = _Clock()
    outage = Outage("jobs", 24.0, clock)
    for _ in range(3):
        outage.note_failure(ServiceRequestError("refused"))
        clock.now += 20
        outage.note_answer()


def test_each_time_is_azures_and_has_a_setting_of_its_name() -> None:
    azure = Times(hidden=600, timer_lease=60, timer_retry=60, outage=24, orphan=120, blob_scan=10)

    assert read_times({}) == Times() == azure
    assert read_times({"LOCAL_HOST_TIMER_RETRY_SECONDS": "0.5"}) == Times(timer_retry=0.5)
    with pytest.raises(SettingsError, match="LOCAL_HOST_HIDDEN_SECONDS must be a number, not 'x'"):
        read_times({"LOCAL_HOST_HIDDEN_SECONDS": "x"})
