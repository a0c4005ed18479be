"""Autoscaling and scheduling, with a clock that the test owns."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.batchai.state import transitions
from tests.unit.local.batchai.state.simulation import PACE, START, Simulation, autoscale, manual


def test_nothing_happens_and_nothing_is_awaited_on_an_empty_cluster() -> None:
    world = Simulation(autoscale(2))

    world.run(1000)

    assert world.states() == []
    assert world.wake is None


def test_a_queued_job_brings_nodes_and_the_idle_ones_leave_again() -> None:
    world = Simulation(autoscale(4))
    world.submit("job", nodes=2)

    world.run(9)
    assert world.states() == ["allocating", "allocating"]
    assert world.allocation() == "resizing"
    world.run(1)
    assert world.states() == ["running", "running"]
    assert world.allocation() == "steady"

    world.end("job")
    world.run(59)
    assert world.states() == ["idle", "idle"]
    world.run(1)
    assert world.states() == ["leaving", "leaving"]
    assert world.allocation() == "resizing"
    world.run(5)
    assert world.states() == []
    assert world.allocation() == "steady"
    assert world.wake is None


def test_no_more_nodes_come_than_the_maximum_and_no_fewer_stay_than_the_minimum() -> None:
    world = Simulation(autoscale(3, least=1))
    for number in range(5):
        world.submit(f"job-{number}")

    world.run(10)
    assert world.states() == ["running"] * 3
    for number in range(5):
        world.end(f"job-{number}")
    world.run(1000)
    assert world.states() == ["idle"]


def test_a_gang_starts_on_all_its_nodes_or_none() -> None:
    world = Simulation(manual(3))
    world.run(10)
    world.submit("small", nodes=2)
    world.submit("large", nodes=2)

    world.settle()
    assert world.jobs["small"].state == "running"
    assert world.state("large") == "queued"
    assert world.states() == ["idle", "running", "running"]

    world.end("small")
    assert world.state("large") == "running"


def test_a_job_that_waits_for_nodes_is_not_overtaken() -> None:
    world = Simulation(manual(2))
    world.run(10)
    world.submit("first")
    world.settle()
    world.submit("wide", nodes=2)
    world.submit("late")

    world.settle()
    assert world.jobs["late"].state == "queued"
    world.end("first")
    assert (world.jobs["wide"].state, world.jobs["late"].state) == ("running", "queued")


def test_a_job_that_no_cluster_size_can_hold_blocks_no_one() -> None:
    world = Simulation(autoscale(2))
    world.submit("giant", nodes=3, priority="high")
    world.submit("job")

    world.run(10)

    assert world.jobs["job"].state == "running"
    assert world.jobs["giant"].state == "queued"
    assert len(world.cluster.nodes) == 1


def test_high_goes_before_normal_before_low_and_first_come_first_served() -> None:
    world = Simulation(manual(1))
    for name, priority in [("a", "low"), ("b", "normal"), ("c", "high"), ("d", "normal"), ("e", "high")]:
        world.submit(name, priority=priority)

    world.run(10)
    while world.started and world.jobs[world.started[-1]].active:
        world.end(world.started[-1])

    assert world.started == ["c", "e", "b", "d", "a"]


def test_the_wall_clock_ends_a_job_on_time() -> None:
    world = Simulation(manual(1))
    world.submit("job", wall_clock=30)

    world.run(39)
    assert world.halted == []
    world.run(1)

    assert world.halted == [("job", "timeout")]
    assert world.jobs["job"].state == "terminating"
    world.end("job", exit_code=None)
    assert world.jobs["job"].errors[0].code == "JobMaxWallClockTimeReached"


@pytest.mark.parametrize(
    ("option", "halted", "state"),
    [
        ("requeue", [("new", "requeue")], "queued"),
        ("terminate", [("new", "terminated")], "failed"),
        ("waitforjobcompletion", [], "succeeded"),
    ],
)
def test_scaling_down_by_hand_treats_running_jobs_as_asked_for(
    option: str, halted: list[tuple[str, str]], state: str
) -> None:
    world = Simulation(manual(2))
    world.submit("old")
    world.submit("new")
    world.run(10)

    world.scale(manual(1, option))
    assert world.halted == halted
    world.end("new", exit_code=None if halted else 0, requeue=bool(halted))
    world.run(5)

    assert world.jobs["new"].state == state
    assert world.jobs["old"].state == "running"
    assert world.states() == ["running"]


def test_nodes_that_are_still_coming_are_sent_away_first() -> None:
    world = Simulation(manual(1))
    world.run(10)
    world.scale(manual(3))
    assert world.states() == ["allocating", "allocating", "idle"]

    world.scale(manual(1))

    assert world.states() == ["idle", "leaving", "leaving"]


def test_initial_nodes_stay_for_the_idle_time_of_a_new_cluster() -> None:
    world = Simulation(autoscale(4, initial=2))
    world.cluster = world.cluster.evolve(created=START)

    world.run(59)
    assert world.states() == ["idle", "idle"]
    world.run(PACE.idle.total_seconds() + 20)

    assert world.states() == []


def test_a_cluster_that_is_deleted_halts_its_jobs_and_loses_all_nodes() -> None:
    world = Simulation(autoscale(1))
    world.submit("running")
    world.submit("queued")
    world.run(10)

    world.cluster = world.cluster.evolve(deleting=True)
    world.settle()
    assert dict(world.halted) == {"running": "cluster", "queued": "cluster"}
    world.end("running", exit_code=None)
    world.run(5)

    assert world.states() == []
    assert {job.errors[0].code for job in world.jobs.values()} == {"ClusterDeleted"}


def test_an_unusable_node_gets_no_job() -> None:
    world = Simulation(manual(1))
    world.run(10)
    (node,) = world.cluster.nodes
    world.cluster = world.cluster.evolve(nodes=(node.evolve(state="unusable"),))
    world.submit("job")

    world.run(100)

    assert world.jobs["job"].state == "queued"


@settings(deadline=None)  # a busy machine is not a failure
@given(
    st.lists(
        st.tuples(
            st.integers(1, 4), st.sampled_from(["low", "normal", "high"]), st.floats(0, 90), st.floats(1, 90)
        ),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_in_any_order_of_events_no_node_has_two_jobs_and_the_cluster_comes_to_rest(
    arrivals: list[tuple[int, str, float, float]], most: int
) -> None:
    world = Simulation(autoscale(most))
    ends: dict[str, float] = {}
    for number, (nodes, priority, pause, length) in enumerate(arrivals):
        world.submit(f"job-{number}", nodes, priority)
        ends[f"job-{number}"] = length
        world.run(pause)
        _check(world, most)
        for name, job in list(world.jobs.items()):
            if (
                job.state == "running"
                and job.started
                and job.started + timedelta(seconds=ends[name]) <= world.now
            ):
                world.end(name)
                _check(world, most)
    for _ in range(len(arrivals) + 1):
        world.run(1000)
        for name, job in list(world.jobs.items()):
            if job.state == "running":
                world.end(name)
    world.run(1000)

    fitting = [job for job in world.jobs.values() if job.node_count <= most]
    assert all(job.state == "succeeded" for job in fitting)
    assert world.states() == []
    assert world.wake is None


def _check(world: Simulation, most: int) -> None:
    running = [job for job in world.jobs.values() if job.state == "running"]
    used = [node for job in running for node in job.nodes]
    assert len(used) == len(set(used))
    assert all(len(job.nodes) == job.node_count for job in running)
    assert {node.id for node in world.cluster.nodes if node.state == "running"} == set(used)
    assert len(world.cluster.nodes) <= most


def test_a_cluster_resizes_until_its_shrink_is_over() -> None:
    world = Simulation(manual(2))
    world.run(10)
    world.submit("job", 2)
    world.run(1)
    assert world.cluster.allocation == "steady"

    world.scale(manual(0, "waitforjobcompletion"))
    assert (world.states(), world.cluster.allocation) == (["running", "running"], "resizing")
    world.end("job")
    assert (world.states(), world.cluster.allocation) == (["leaving", "leaving"], "resizing")
    world.run(5)
    assert (world.states(), world.cluster.allocation) == ([], "steady")


def test_a_maximum_below_what_there_is_resizes_until_the_jobs_have_ended() -> None:
    world = Simulation(autoscale(2))
    world.submit("job", 2)
    world.run(11)
    assert world.cluster.allocation == "steady"

    shown = []
    for most in (1, 2):
        world.scale(autoscale(most))
        shown.append(world.cluster.allocation)
    assert shown == ["resizing", "steady"]


def test_nodes_that_leave_make_no_room_before_they_have_left() -> None:
    world = Simulation(manual(2))
    world.run(10)
    world.scale(manual(0))
    world.scale(manual(2))

    assert world.states() == ["leaving", "leaving"]
    world.run(5)
    assert world.states() == ["allocating", "allocating"]


@pytest.mark.parametrize("scale", [autoscale(2, least=2), manual(2)])
def test_preempted_nodes_never_make_more_nodes_than_the_maximum(scale: dict[str, Any]) -> None:
    world = Simulation(scale)
    world.run(10)
    world.submit("job", 2)
    world.run(1)
    for node in world.cluster.nodes:
        world.cluster = transitions.preempted(world.cluster, node.id)

    for _ in range(40):
        world.run(1)
        assert len(world.cluster.nodes) <= 2
        if world.states() == ["running", "running"] and world.now.second == 20:
            world.end("job", None, requeue=True)
    assert len(world.started) == 2


def test_no_node_has_the_id_of_an_earlier_one() -> None:
    cluster = Simulation(manual(1)).cluster
    records = []
    for _ in range(3):  # in one second, at one address
        cluster = transitions.provisioned(cluster, [1], START)
        records += [node.id for node in cluster.nodes]
        cluster = transitions.removed(cluster, records)

    assert len(set(records)) == 3


def test_a_preempted_node_takes_no_job_and_leaves_at_once_and_another_comes() -> None:
    world = Simulation(autoscale(1, least=1))
    world.run(10)
    (node,) = world.cluster.nodes
    world.cluster = transitions.preempted(world.cluster, node.id)
    world.submit("job")

    world.run(1)
    assert world.states() == ["leaving"]
    assert world.started == []
    world.run(5)
    assert world.states() == ["allocating"]
    world.run(10)
    assert world.states() == ["running"]
    assert node.id not in [one.id for one in world.cluster.nodes]
