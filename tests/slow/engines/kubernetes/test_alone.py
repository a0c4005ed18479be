"""One command on one node, run by the program in shell: as the program in Python runs it, in each shell.

The tests of that program are collected here once more, with nodes that have neither Python nor bash.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from shared.core.engine import Earlier
from shared.core.job import Target
from tests.breadth import every_few, pairs, size
from tests.hostile.unproven import FORGERIES, OWN, SUCCESS, TOKEN
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, NodesInShell
from tests.slow.engines.slurm import test_asked
from tests.slow.engines.slurm.test_claims import (  # noqa: F401 - collected here
    test_a_first_attempt_that_came_to_its_end_answers_for_the_second,
    test_a_first_attempt_that_lives_on_is_over_before_the_second_one_runs,
    test_a_first_attempt_that_starts_after_the_second_runs_nothing,
    test_a_turn_that_cannot_be_read_is_not_taken_for_free,
    test_an_end_that_is_known_is_followed_by_the_next_attempt,
    test_an_end_that_one_attempt_has_reported_is_not_reported_by_the_one_after_it,
)
from tests.slow.engines.slurm.test_displaced import WAYS, displaced, prepared
from tests.slow.engines.slurm.test_hold import (  # noqa: F401 - collected here
    test_a_failed_preparation_is_not_held,
    test_a_job_that_did_not_ask_for_it_is_not_held,
    test_a_request_to_end_gives_the_node_back_and_changes_nothing_of_the_end,
    test_a_run_that_starts_again_after_the_loss_of_the_node_answers_with_the_end,
    test_no_job_is_kept_beyond_its_wall_clock_limit,
    test_one_who_enters_has_the_environment_of_the_job,
    test_only_a_failure_of_the_job_is_held,
    test_the_end_is_recorded_at_once_and_the_node_kept_until_it_is_released,
    test_the_time_is_over,
)
from tests.slow.engines.slurm.test_program import (  # noqa: F401 - collected here
    Nodes,
    custom,
    test_a_command_runs_in_its_directory_with_the_documented_environment,
    test_a_copy_of_a_job_that_ended_answers_for_it_and_runs_nothing,
    test_a_copy_of_a_job_that_has_begun_runs_nothing,
    test_a_directory_that_the_node_does_not_have_is_no_fault_of_the_job,
    test_a_failed_preparation_starts_nothing_and_is_reported_as_by_the_service,
    test_a_full_disk_is_named_where_nothing_can_be_recorded,
    test_a_job_goes_on_from_a_copy_of_what_another_one_saved,
    test_a_job_that_has_nothing_to_go_on_from_does_not_begin_anew,
    test_a_job_that_is_asked_to_end_says_so_at_once_and_may_be_run_again,
    test_a_killed_command_has_the_code_of_a_shell,
    test_a_name_that_belongs_to_another_job_is_left_alone,
    test_a_number_that_is_used_again_gets_a_directory_of_its_own,
    test_a_place_that_cannot_be_written_costs_the_job_nothing,
    test_a_run_and_an_attempt_find_what_those_before_them_saved,
    test_a_run_that_was_cut_off_ends_when_the_next_one_has_the_claim,
    test_mounts_appear_below_the_mount_root_of_the_job,
    test_no_variable_of_a_job_stands_for_one_of_the_program,
    test_output_below_a_mount_of_the_job_gets_there_and_is_found_by_the_record,
    test_records_and_logs_are_the_users_alone_and_output_is_as_the_job_made_it,
    test_the_record_of_an_end_is_copied_to_where_it_is_noticed,
    test_the_record_says_how_it_ended_and_where_the_output_is,
    test_the_wall_clock_limit_ends_a_job,
    test_what_outlives_the_attempts_has_an_id_that_the_job_has_not_taken,
)
from tests.slow.engines.slurm.test_time_to_save import (  # noqa: F401 - collected here
    test_a_job_can_read_how_long_it_has,
    test_a_job_saves_at_its_wall_clock_limit,
    test_a_job_that_is_asked_to_end_saves_however_it_was_started,
    test_a_process_that_has_a_session_of_its_own_holds_up_no_end,
    test_a_request_that_is_repeated_reaches_a_job_once,
    test_what_a_command_leaves_behind_that_ended_by_itself_is_not_waited_for,
    test_what_saves_for_too_long_is_killed_with_all_that_it_started,
)


@pytest.fixture(params=SHELLS[: size(len(SHELLS), 1)])
def node(tmp_path: Path, request: pytest.FixtureRequest) -> NodesInShell:
    if request.param in ABSENT_SHELLS:
        pytest.skip(f"there is no {request.param} here: apt-get install {request.param}")
    return NodesInShell(tmp_path, shell=request.param)


@pytest.fixture
def asked_node(node: NodesInShell) -> NodesInShell:
    """A node that is asked to end while the program makes the job's directory."""
    path = Path(node.site.path, "mkdir")
    program = path.parent / "real" / path.name
    program.parent.mkdir()
    path.rename(program)
    signals = test_asked.ALL_ASKED.format(root=node.root)
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *{node.site.temporary}*) {signals} ;; esac\nexec {program} "$@"\n'
    )
    path.chmod(0o755)
    return node


def test_its_image_has_neither_python_nor_bash(node: NodesInShell) -> None:
    command = "for name in python3 python bash; do command -v $name && exit 9; done; echo none"

    assert node.run(**custom(command)) == 0

    assert node.output("stdout.txt") == "none\n"


def test_bash_runs_the_command_where_the_image_has_it(node: NodesInShell) -> None:
    Path(node.site.path, "bash").symlink_to("/bin/bash")

    assert node.run(**custom('[[ a < b ]] && echo "${BASH_VERSION:+bash}"')) == 0

    assert node.output("stdout.txt") == "bash\n"


def test_values_are_taken_as_they_are(node: NodesInShell) -> None:
    """Quotes, lines, dollars, names that are not known, and names that the program itself could use."""
    values = {
        "QUOTES": "a 'b' \"c\" \\d",
        "TEXT": "one\ntwo\t;\n",
        "DOLLARS": "$ $$ ${ ${} $1 ${1} $-x $QUOTES. ${QUOTES}x $nope ${nope} $code $run `id` $(id)",
        "OWN": "$slipway_proofs ${slipway_keys} $slipway_token",
        "IFS": ",",
        "UID": "5",
    }
    secrets = {"SECRET": "$HOME `x` '\"\\"}
    command = 'printf "%s|" "$QUOTES" "$TEXT" "$DOLLARS" "$SECRET" "$OWN" "$SLIPWAY_MAIN$SLIPWAY_TOKEN"; env'
    variables = [{"name": name, "value": value} for name, value in values.items()]

    code = node.run(
        **custom(command),
        environmentVariables=variables,
        secrets=[{"name": name, "value": value} for name, value in secrets.items()],
    )

    quotes = values["QUOTES"]
    dollars = f"$ $$ ${{ ${{}} $1 ${{1}} $-x {quotes}. {quotes}x $nope ${{nope}} $code $run `id` $(id)"
    output = node.output("stdout.txt")
    assert code == 0
    assert output.startswith(f"{quotes}|{values['TEXT']}|{dollars}|{secrets['SECRET']}|{values['OWN']}||"), (
        "the names of the program are not known to a job: the keys of its record are among them"
    )
    assert "SLIPWAY_SECRET" not in output


def test_paths_with_quotes_are_found_by_the_record(node: NodesInShell) -> None:
    prefix = '$AZ_BATCHAI_MOUNT_ROOT/a "b" \\c\n\td'

    assert node.run(**custom("echo hello"), stdOutErrPathPrefix=prefix) == 0

    directory = Path(node.record()["directories"]["stdouterr"])
    assert directory == Path(f'{node.root}/mnt/a "b" \\c\n\td/jobs/n/7-0/stdouterr')
    assert (directory / "stdout.txt").read_text() == "hello\n"


def test_the_record_has_what_the_program_in_python_writes(node: NodesInShell, tmp_path: Path) -> None:
    other = Nodes(tmp_path / "python")

    assert node.run(**custom("exit 3")) == other.run(**custom("exit 3")) == 3

    records = [one.record() for one in (node, other)]
    assert records[0].keys() == records[1].keys()
    differing = {name for name in records[0] if records[0][name] != records[1][name]}
    assert differing <= {"started", "ended", "directories", "proof"}
    last_turns = [json.loads((one.root / "records/turns/2").read_text()) for one in (node, other)]
    assert [
        one["ended"] | {"proof": record["proof"]} for one, record in zip(last_turns, records, strict=True)
    ] == records


@pytest.mark.parametrize("before", ["python", "shell"])
def test_each_program_follows_what_the_other_has_written(node: NodesInShell, before: str) -> None:
    """A job whose toolkit was changed between attempts, or a dispatcher of another version."""
    other = Nodes(node.root)
    first, second = (other, node) if before == "python" else (node, other)
    assert first.run(**custom("exit 5")) == 5

    after = second.second(**custom(f"echo > {node.root}/ran"))

    assert after.wait(60) == 5
    after.communicate()
    record = json.loads((node.root / "second/8-0/result.json").read_text())
    assert (record["token"], record["run"], record["exitCode"]) == ("t.2", "8-0", 5)
    assert record["answers"] == {"name": "records", "run": "7-0"}
    assert not (node.root / "ran").exists()


def test_the_processes_that_a_job_leaves_end_with_it(node: NodesInShell) -> None:
    assert node.run(**custom(f"sleep 600 & echo $! > {node.root}/pid")) == 0

    pid = int((node.root / "pid").read_text())
    end = time.monotonic() + 120
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_process_that_does_not_end_when_it_is_asked_is_killed(node: NodesInShell) -> None:
    process = node.start(**custom(f"trap '' TERM; touch {node.root}/began; while :; do sleep 1; done"))
    node.until("began")
    process.send_signal(signal.SIGTERM)

    assert process.wait(60) == 143
    process.communicate()
    assert (node.record()["reason"], node.record()["final"]) == ("terminated", False)


def test_a_node_says_how_busy_it_is(node: NodesInShell) -> None:
    file = "$AZ_BATCHAI_STDOUTERR_DIR/usage.jsonl"
    assert node.run(**custom(f"while [ ! -s {file} ]; do sleep 0.1; done")) == 0

    sample = json.loads(node.output("usage.jsonl").splitlines()[0])
    assert sample.keys() == {"rank", "time", "memory_mib"}


@pytest.mark.parametrize(
    ("way", "name"), pairs(WAYS, ["stdout.txt", "stderr.txt", "usage.jsonl", "execution.log"])
)
def test_what_a_job_puts_in_the_place_of_a_file_holds_nothing_up(
    node: NodesInShell, way: str, name: str
) -> None:
    if way == "pipe with a reader":
        Path(node.site.path, "bash").symlink_to("/bin/bash")
    code = node.run(**custom("echo main; echo main >&2; sleep 0.2"), **prepared(displaced(way, name)))

    assert code == (126 if name.startswith("std") else 0)
    assert not list(node.root.rglob("other"))
    if code:
        assert f"{name} cannot be written" in node.record()["message"]


def test_a_run_of_another_name_waits_for_what_lives_on(node: NodesInShell) -> None:
    """Taken from an attempt that never began: nothing is waited for."""
    node.site = replace(node.site, records=str(node.root / "second"))
    first = Target(engine="kubernetes", cluster="c", experiment="e", name="records", token="t.1")

    process = node.start(token="t.2", earlier=(Earlier(first, "infrastructure"),), **custom("exit 4"))

    assert process.wait(60) == 4
    process.communicate()
    assert json.loads((node.root / "records/turns/1").read_text())["taken"] == "second"


def test_a_run_in_shell_that_is_asked_with_all_its_processes_may_be_run_again(
    asked_node: NodesInShell,
) -> None:
    test_asked.test_a_run_that_is_asked_with_all_its_processes_may_be_run_again(asked_node)


@pytest.mark.parametrize("word", ["Operation not permitted", "Operation not supported", "Not supported"])
def test_a_volume_without_hard_links_is_named_and_so_is_what_to_use(node: NodesInShell, word: str) -> None:
    program = Path(node.site.path, "ln")
    program.unlink()
    program.write_text(f'#!/bin/sh\necho "ln: $3: {word}" >&2\nexit 1\n')
    program.chmod(0o755)

    process = node.start(**custom("true"))
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 250
    assert b"turns/1 has no hard links" in errors
    assert b"Azure Files by NFS" in errors


@pytest.mark.parametrize("way", every_few(tuple(FORGERIES), 4))
def test_the_next_attempt_does_not_answer_with_a_forged_end_and_a_second_start_neither(
    node: NodesInShell, way: str
) -> None:
    """The first run is killed, and what it left of its own is a claim."""
    first = node.start(**custom(f"touch {node.root}/began; sleep 600"))
    node.until("began")
    first.kill()
    first.communicate()
    ended = {"token": TOKEN, "ended": dict(SUCCESS)}
    (node.root / "records/turns/2").write_bytes(FORGERIES[way]("turns/2", ended))
    (node.root / "records/7-0/left").write_text("{}")

    assert node.run(restarts="1", **custom("exit 4")) == 4
    after = node.second("infrastructure", **custom(f"touch {node.root}/ran; exit 3"))

    assert after.wait(60) == 4
    after.communicate()
    assert not (node.root / "ran").exists()


def test_in_an_image_without_sha256sum_openssl_proves_the_records(node: NodesInShell) -> None:
    program = Path(node.site.path, "sha256sum")
    openssl = shutil.which("openssl")
    assert openssl is not None
    program.unlink()
    program.with_name("openssl").symlink_to(openssl)

    assert node.run(**custom("exit 5")) == 5
    text = (node.root / "records/7-0/result.json").read_bytes()
    assert OWN.child("7-0").value("result.json", text)["exitCode"] == 5, "its proof is that of any other"
    assert node.run(restarts="1", **custom("exit 6")) == 5


@pytest.mark.parametrize("record", [{"token": "t.2", "run": "x"}, {"token": TOKEN, "taken": "n-2"}, None])
def test_in_an_image_without_a_program_for_a_proof_no_record_is_read_or_written_and_nothing_runs(
    node: NodesInShell, record: dict[str, str] | None
) -> None:
    Path(node.site.path, "sha256sum").unlink()
    turns = node.root / "records/turns"
    turns.mkdir(parents=True)
    if record is not None:
        (turns / "1").write_text(json.dumps(record, indent=1))

    process = node.start(**custom(f"touch {node.root}/ran"))
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 243
    assert b"neither sha256sum nor openssl" in errors
    assert not (node.root / "ran").exists()
    assert len(list(turns.iterdir())) == (record is not None)


@pytest.mark.parametrize("way", ["a pipe", "a file without end", "a link without end", "a directory"])
def test_what_a_job_puts_in_the_place_of_a_turn_holds_nothing_up(node: NodesInShell, way: str) -> None:
    file = node.root / "records/turns/2"
    process = node.start(
        **custom(f"touch {node.root}/began; until [ -e {node.root}/go ]; do sleep 0.1; done")
    )
    node.until("began")
    if way == "a pipe":
        os.mkfifo(file)
    elif way == "a file without end":
        file.touch()
        os.truncate(file, 1 << 40)
    elif way == "a link without end":
        file.symlink_to("/dev/zero")
    else:
        file.mkdir()
    time.sleep(2)  # two looks at the claim
    (node.root / "go").touch()

    assert process.wait(60) == 0
    process.communicate()
    assert json.loads((node.root / "records/turns/3").read_text())["ended"]["code"] == 0


def test_a_sha256sum_that_does_not_work_is_named_and_proves_nothing(node: NodesInShell) -> None:
    program = Path(node.site.path, "sha256sum")
    program.unlink()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)

    process = node.start(**custom("true"))
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 250
    assert b"sha256sum does not work" in errors
