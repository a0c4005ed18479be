"""The command lines of the tools, as words: nothing of a place, or of a command, is read by a shell here."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from slipway.client.entry.places import Place, place_of
from slipway.client.entry.program import PYTHON, SHELL, entering
from slipway.client.entry.tools import Person, command, forwarding
from slipway.failure import Failure
from tests.unit.core.test_entrance import GOOD, JOB

#: What a person types is theirs, with anything in it.
WORDS = ["sh", "-c", 'echo "$HOME"; exit 7', "it's", "-x", "$(touch x)"]


def place(tool: str, **more: Any) -> Place:
    values: Mapping[str, Any] = {**GOOD[tool], "certificate": "", **more}
    return place_of({"job": JOB, "attempt": 2, "rank": 1, tool: values})


def test_the_program_gets_the_job_and_the_words_of_a_person_as_arguments() -> None:
    words = entering(JOB, 2, 1, WORDS, term="xterm-256color")

    assert words == ["/bin/sh", "-c", SHELL, "slipway", PYTHON, JOB, "2", "1", "xterm-256color", *WORDS]


def test_kubectl_goes_to_the_pod_with_the_persons_own_kubeconfig() -> None:
    words = command(place("kubectl"), WORDS, Person(context="mine"), terminal=True)

    options = ["--context=mine", "--namespace=slipway", "exec", "--stdin", "--tty", "--container=main"]
    assert words == ["kubectl", *options, "train-1-0-x7k2p", "--", *WORDS]
    assert "https://10.0.0.1:6443" not in words  # a token goes where the person's own file says


def test_kubectl_has_no_terminal_for_a_pipe_and_no_context_where_none_fits() -> None:
    words = command(place("kubectl"), WORDS, Person(), terminal=False)

    assert words[:4] == ["kubectl", "--namespace=slipway", "exec", "--stdin"]
    assert "--tty" not in words


def test_srun_runs_here_as_the_jobs_user_and_takes_no_variable_of_the_person_along() -> None:
    words = command(place("srun", login=""), WORDS, Person(account="slipway"), terminal=False)

    assert words[:2] == ["srun", "--jobid=4711"]
    assert {"--overlap", "--export=NONE", "--nodelist=gpu-3.cluster", "--nodes=1", "--ntasks=1"} <= {*words}
    assert words[-len(WORDS) :] == WORDS
    assert "--pty" not in words


def test_srun_runs_here_by_sudo_for_another_person() -> None:
    words = command(place("srun", login=""), WORDS, Person(account="ann"), terminal=True)

    assert words[:4] == ["sudo", "--user=slipway", "--", "srun"]
    assert "--export=NONE" in words
    assert "--pty" in words


@pytest.mark.parametrize("terminal", [True, False])
def test_a_login_node_gets_one_line_in_which_every_word_is_quoted(terminal: bool) -> None:
    words = command(place("srun"), WORDS, Person(), terminal=terminal)

    assert words[0] == "ssh"
    assert words[-4:-1] == ["-l", "slipway", "login.example.org"]
    assert ("-t" in words, "-T" in words) == (terminal, not terminal)
    clean, remote = shlex.split(words[-1])[:4], shlex.split(words[-1])[4:]
    assert clean[:2] == ["/bin/sh", "-c"]
    assert (remote[0], "--export=NONE" in remote, "--pty" in remote) == ("srun", True, terminal)
    assert remote[-len(WORDS) :] == WORDS


def test_ssh_goes_to_a_node_that_answers_it() -> None:
    words = command(place("ssh"), WORDS, Person(), terminal=False)

    assert words[-6:-1] == ["-p", "50000", "-l", "azureuser", "127.0.1.1"]
    assert shlex.split(words[-1]) == WORDS


def test_where_no_tool_goes_the_place_and_the_reason_are_the_answer() -> None:
    answer = {"job": JOB, "attempt": 1, "rank": 0, "task": GOOD["task"], "reason": "make a user there"}

    with pytest.raises(Failure, match=r"pool t4, node tvmps_1a, .*make a user there"):
        command(place_of(answer), WORDS, Person(), terminal=False)


def test_ssh_has_the_key_of_a_local_stack_beside_the_persons_own_and_its_own_list_of_hosts() -> None:
    words = command(place("ssh"), WORDS, Person(login="/home/ann/50% of it"), terminal=False)

    options = [after for before, after in pairwise(words) if before == "-o"]
    keys = [one for one in options if one.startswith("IdentityFile=")]
    assert keys[0] == 'IdentityFile="/home/ann/50%% of it/id_ed25519"'
    assert len(keys) > 1
    assert 'UserKnownHostsFile="/home/ann/50%% of it/known_hosts"' in options
    assert "StrictHostKeyChecking=accept-new" in options


@pytest.mark.parametrize("terminal", [True, False])
def test_with_a_certificate_a_login_node_gets_the_words_of_the_person_alone(terminal: bool) -> None:
    """The certificate says which job that is: the login node starts srun by itself."""
    signed = place("srun", certificate=GOOD["srun"]["certificate"])

    words = command(signed, WORDS, Person(session="/tmp/slipway-1/key"), terminal=terminal)

    assert words[-4:-1] == ["-l", "slipway", "login.example.org"]
    assert shlex.split(words[-1]) == WORDS
    assert ("-t" in words, "srun" in words[-1]) == (terminal, False)
    options = {after for before, after in pairwise(words) if before == "-o"}
    assert {'IdentityFile="/tmp/slipway-1/key"', "IdentitiesOnly=yes"} <= options
    assert {"ControlPath=none", "ControlMaster=no"} <= options  # of another session, into another job


def test_a_port_behind_a_certificate_is_relayed() -> None:
    signed = place("srun", certificate=GOOD["srun"]["certificate"])

    assert forwarding(signed, {6006: 6006}, Person(session="/tmp/slipway-1/key")) == []
