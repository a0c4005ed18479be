"""`slipway setup`: the plan that its options make, and what it says about each thing."""

from pathlib import Path

import pytest

from slipway.failure import Failure
from slipway.stack.provision import Plan, Step
from slipway.stack.setup import by_kind, complete_plan, line


def test_the_defaults_are_those_of_the_workspace_script() -> None:
    plan = complete_plan(Plan(), None, None)

    assert (plan.priority, plan.minimum, plan.maximum) == ("lowpriority", 0, 1)
    assert (plan.share, plan.scripts, plan.data) == ("logs", "scripts", "datalake")


@pytest.mark.parametrize(
    ("plan", "option"),
    [
        (Plan(priority="high"), "--priority"),
        (Plan(minimum=2, maximum=1), "--min-nodes 2 and --max-nodes 1"),
        (Plan(minimum=-1), "--min-nodes -1"),
        (Plan(maximum=0), "--max-nodes 0"),
    ],
)
def test_what_cannot_be_is_refused_with_the_name_of_the_option(plan: Plan, option: str) -> None:
    with pytest.raises(Failure, match=option):
        complete_plan(plan, None, None)


def test_a_public_key_is_taken_and_a_private_one_refused(tmp_path: Path) -> None:
    public, private = tmp_path / "id.pub", tmp_path / "id"
    public.write_text("ssh-ed25519 AAAA somebody\n")
    private.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nprivate\n")

    assert complete_plan(Plan(), public, None).ssh_key == "ssh-ed25519 AAAA somebody"
    with pytest.raises(Failure, match="is not a public key") as refused:
        complete_plan(Plan(), private, None)
    assert "OPENSSH" not in str(refused.value)
    with pytest.raises(Failure, match="cannot be read"):
        complete_plan(Plan(), tmp_path / "missing.pub", None)


def test_each_thing_is_shown_with_what_happened_to_it() -> None:
    assert line(Step("queue", "jobs", created=True)).split() == ["queue", "jobs", "created"]
    assert line(Step("share", "logs", created=False)).split() == ["share", "logs", "was", "there"]
    assert line(Step("share", "logs", created=False, note="make it yourself")).endswith("make it yourself")


def test_in_brief_the_things_of_a_kind_share_a_line() -> None:
    steps = [
        Step("container", "scripts", created=True),
        Step("container", "runs", created=False),
        Step("cluster", "dev-cluster-00", created=False),
    ]

    assert by_kind(steps) == [
        "container scripts, runs: created, was there",
        "cluster dev-cluster-00: was there",
    ]
