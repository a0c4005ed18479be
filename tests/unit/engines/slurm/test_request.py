"""What Slurm is asked for a job, in both dialects; containers; and the environment that explain shows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.engines.launch import plan as launch
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.job.request import submission
from shared.engines.slurm.job.site import site
from shared.engines.slurm.wire.dialect import DIALECTS
from tests.unit.engines.slurm.launch_plans import CLUSTER, EVERYTHING, TOOLKITS, order

OLD, NEW = DIALECTS[-1], DIALECTS[0]
EVERY = order(TOOLKITS["custom"], **EVERYTHING)


def job(body: Any) -> dict[str, Any]:
    members: dict[str, Any] = {**body["job"]}
    del members["environment"]
    members.pop("script", None)
    return members


def test_the_request_in_both_dialects() -> None:
    alike = {
        "name": "digits-abc-1",
        "comment": '{"slipway": "j_abc.1", "priority": 3000}',
        "hold": True,
        "nodes": "2",
        "tasks": 2,
        "partition": "gpu",
        "current_working_directory": "/",
        "standard_output": "/shared/slipway/%j.out",
        "standard_error": "/shared/slipway/%j.out",
    }
    old, new = submission(CLUSTER, OLD, EVERY, "s"), submission(CLUSTER, NEW, EVERY, "s")

    assert (old.method, old.path) == ("POST", "/slurm/v0.0.38/job/submit")
    assert job(old.body) == {
        **alike,
        "memory_per_node": 0,
        "time_limit": 4,
        "open_mode": "append",
        "exclusive": "exclusive",
        "no_requeue": True,
        "gres": "gpu:2",
    }
    assert new.path == "/slurm/v0.0.45/job/submit"
    assert job(new.body) == {
        **alike,
        "memory_per_node": {"set": True, "infinite": False, "number": 0},
        "time_limit": {"set": True, "infinite": False, "number": 4},
        "open_mode": ["APPEND"],
        "shared": ["none"],
        "requeue": False,
        "tres_per_node": "gres/gpu:2",
    }
    assert old.body["script"] == new.body["job"]["script"] == launch.script()
    words = dict(word.partition("=")[::2] for word in new.body["job"]["environment"])
    assert words == old.body["job"]["environment"]
    assert words["SLIPWAY_SUBMISSION"] == "s"


def test_low_priority_is_a_qos_here_and_means_that_the_job_waits_again_when_it_loses_its_nodes() -> None:
    job_order = order(TOOLKITS["custom"], schedulingPriority="low")
    body = job(submission(CLUSTER, OLD, job_order).body)
    assert (body["qos"], body["requeue"]) == ("spot", True)
    assert json.loads(body["comment"])["priority"] is None


def test_no_secret_stands_in_the_script_or_in_anything_that_slurm_lists() -> None:
    body = submission(CLUSTER, OLD, EVERY).body
    assert "a $b 'c'" not in body["script"]
    assert "a $b 'c'" not in json.dumps(job(body))


@pytest.mark.parametrize("server", [None, "https://registry.example.com"])
def test_apptainer_stands_before_every_process_of_the_job(server: str | None) -> None:
    registry = {"image": "team/torch:2", **({"serverUrl": server} if server else {})}
    job_order = order(TOOLKITS["horovod"], containerSettings={"imageSourceRegistry": registry})
    (step,) = launch.plan(site(replace(CLUSTER, container="apptainer"), job_order), job_order)["main"]

    start = step["argv"].index("apptainer")
    host = "registry.example.com/" if server else ""
    assert step["argv"][0] == "mpirun"
    assert step["argv"][start : start + 3] == ["apptainer", "exec", "--nv"]
    assert f"docker://{host}team/torch:2" in step["argv"]
    assert step["argv"][-3:-1] == ["bash", "-c"]
    assert "/shared/mounts" in step["argv"], "what the nodes mount is there at the same place"


def test_pyxis_is_an_option_of_srun_which_starts_mpi_too() -> None:
    registry = {"image": "nvcr.io/nvidia/pytorch:24.01"}
    job_order = order(
        TOOLKITS["horovod"],
        containerSettings={"imageSourceRegistry": registry},
        jobPreparation={"commandLine": "pip install x"},
    )
    plan = launch.plan(site(replace(CLUSTER, container="pyxis", mpi="pmix"), job_order), job_order)

    for step in (*plan["preparation"], *plan["main"]):
        assert step["argv"][0] == "srun"
        assert "--container-image=nvcr.io#nvidia/pytorch:24.01" in step["argv"]
        assert "--container-name=job" in step["argv"]
    assert "--mpi=pmix" in plan["main"][0]["argv"]
    assert not any("--container" in word for word in plan["setup"][0]["argv"])


def test_a_bundle_is_an_option_of_srun_and_a_job_whose_bundle_went_away_is_not_started() -> None:
    job_order = order(
        TOOLKITS["pytorch"], containerSettings={"imageSourceRegistry": {"image": "nvcr.io/torch:24.01"}}
    )
    cluster = replace(CLUSTER, container="oci", mpi="pmix", bundles={"nvcr.io/torch:24.01": "/bundles/torch"})
    plan = launch.plan(site(cluster, job_order), job_order)

    assert "--container=/bundles/torch" in plan["main"][0]["argv"]
    assert not any("--container" in word for word in plan["setup"][0]["argv"])
    with pytest.raises(Misconfigured, match="taken away"):
        site(replace(cluster, bundles={}), job_order)
    with pytest.raises(Misconfigured, match=r"23\.11"):
        submission(cluster, OLD, job_order)


def test_explain_shows_the_environment_before_anything_runs() -> None:
    by_name = {one.name: one for one in SlurmEngine({"gpu": CLUSTER}, {}).environment(EVERY)}

    assert by_name["AZ_BATCHAI_MOUNT_ROOT"].value == "/shared/mounts"
    assert by_name["AZ_BATCHAI_MOUNT_ROOT"].exact
    assert by_name["WHERE"].source == "job"
    assert by_name["WHERE"].value.endswith("/mounts/data/train/x")
    assert not by_name["AZ_BATCHAI_OUTPUT_MODEL"].exact
    assert by_name["TOKEN"].value == "a $b 'c'", "the order is masked before it is shown"
    ranked = SlurmEngine({"gpu": CLUSTER}, {}).environment(order(TOOLKITS["pytorch"]))
    assert {"AZ_BATCHAI_TASK_INDEX", "AZ_BATCHAI_PYTORCH_INIT_METHOD"} <= {one.name for one in ranked}
