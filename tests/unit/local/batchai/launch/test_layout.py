"""The variables and the directories of a job."""

from pathlib import Path

from local.batchai.launch.layout import job_environment, variables
from local.nodes.machine import Directories, Machine
from tests.unit.local.batchai.documents import a_job


def test_variables_may_use_earlier_ones_and_secrets_are_literal() -> None:
    document = {
        "environmentVariables": [{"name": "X", "value": "$ROOT/x"}, {"name": "Y", "value": "$X/y"}],
        "secrets": [{"name": "S", "value": "$X"}],
    }

    assert variables(document, {"ROOT": "/r"}) == {"X": "/r/x", "Y": "/r/x/y", "S": "$X"}


def test_output_directories_are_named_by_the_job_instance() -> None:
    job = a_job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs")
    node = Machine("n", 300)

    env = job_environment(job, Directories(Path("/n"), ("w", "e", "j")), [node], [])

    segment = "s/g/workspaces/w/experiments/e/jobs/j/instance"
    assert env["AZ_BATCHAI_STDOUTERR_DIR"] == f"/n/mounts/logs/{segment}/stdouterr"
    assert env["AZ_BATCHAI_JOB_MOUNT_ROOT"] == "/n/jobs/w/e/j/mounts"
    assert env["AZ_BATCH_HOST_LIST"] == "127.0.2.46"


def test_the_output_of_the_attempt_before_is_named_when_a_job_is_retried() -> None:
    node = Machine("n", 1)
    job = a_job(outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}])
    place = Directories(Path("/n"), ("w", "e", "j"))

    first = job_environment(job, place, [node], [])
    second = job_environment(job.evolve(attempt=1), place, [node], [])

    assert first["AZ_BATCHAI_PREV_OUTPUT_MODEL"] == ""
    assert second["AZ_BATCHAI_PREV_OUTPUT_MODEL"] == first["AZ_BATCHAI_OUTPUT_MODEL"]


def test_a_relative_prefix_is_one_of_the_working_directory() -> None:
    node = Machine("n", 1)

    job = a_job(stdOutErrPathPrefix="logs/$UNKNOWN")
    env = job_environment(job, Directories(Path("/n"), ("w", "e", "j")), [node], [])

    assert env["AZ_BATCHAI_STDOUTERR_DIR"].startswith("/n/jobs/w/e/j/wd/logs/$UNKNOWN/s/g/")
