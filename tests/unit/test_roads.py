"""The roads beside the HTTP API on which one team could reach another, each with the test that holds it.

Roads are counted in the code: functions without a route, lists of mounts, containers, engines, and what the
ports send out. A new one fails here until its test is named.
"""

from __future__ import annotations

import ast
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from shared.core.ports import Ports
from shared.engines.batch.cluster import BatchCluster
from shared.engines.registry import ENGINES
from shared.jobspec import MOUNT_LISTS, Envelope
from shared.setting_table.rows import SETTINGS
from tests.unit.routes import BY_EVENT

ROOT = Path(__file__).resolve().parents[2]
_OWN_FOLDER = ("tests/unit/intake/test_teams.py", "test_a_drop_is_the_team_s_of_its_folder")
_ANY_TEAM = ("tests/unit/intake/test_teams.py", "test_a_message_may_name_any_team_and_has_the_default_else")
_SECRETS = ("tests/unit/delivery/test_webhook_secrets.py", "test_each_signature_is_checked_again")
_MOUNTS = ("tests/unit/lifecycle/test_mountable.py", "test_any_other_container_is_refused_with_its_place")
_BY_NAME = "tests/unit/intake/test_other_teams.py"
_OWN_MOUNTS = "tests/unit/engines/test_own_mounts.py"
_WALLS = (
    "tests/unit/engines/test_mount_walls.py",
    "test_a_job_reaches_what_is_named_for_it_and_nothing_else",
)
_ON_NODES = (
    "tests/unit/operate/test_ready.py",
    "test_nodes_with_the_container_of_drops_keep_no_teams_apart",
)
_CANARIES = ("tests/unit/intake/test_canaries.py", "test_a_canary_is_seen_nowhere")
_RECORDS = (
    "tests/unit/engines/test_shared_records.py",
    "test_an_attempt_that_became_a_link_to_another_shows_nothing_of_it",
)

#: A road → its test.
ROADS: dict[str, tuple[str, str]] = {
    # messages and timers
    "function accept_drop": _OWN_FOLDER,
    "function accept_message": _ANY_TEAM,
    "function bury_drop": _CANARIES,
    "function bury_message": _CANARIES,
    "function bury_wake_up": _CANARIES,
    "function deliver": _SECRETS,
    "function sweeper": (
        "tests/unit/lifecycle/test_mountable.py",
        "test_a_container_that_the_team_lost_meanwhile_is_not_mounted",
    ),
    # mounts
    "mount azureBlobFileSystems": _MOUNTS,
    "mount azureFileShares": _MOUNTS,
    "mount fileServers": (_OWN_MOUNTS, "test_a_file_server_that_the_operator_does_not_name_is_refused"),
    "mount unmanagedFileSystems": (
        _OWN_MOUNTS,
        "test_a_mount_command_is_refused_unless_the_operator_allows_it",
    ),
    "option mounts": _WALLS,
    "option identity": _WALLS,
    **dict.fromkeys(("option mounted", "option mount_root"), _ON_NODES),
    # storage
    "container SLIPWAY_DROP_CONTAINER": (
        "tests/unit/lifecycle/test_mountable.py",
        "test_the_container_of_drops_is_only_read_by_the_deployment_s_key",
    ),
    "container SLIPWAY_RECEIPTS_CONTAINER": _MOUNTS,
    "container SLIPWAY_ARCHIVE_CONTAINER": _MOUNTS,
    "container SLIPWAY_SNAPSHOTS_CONTAINER": _MOUNTS,
    "container SLIPWAY_SPEC_CONTAINERS": (
        "tests/unit/intake/desk/test_fetch.py",
        "test_only_who_sees_every_job_may_name_a_drop",
    ),
    # outputs and records of the engines
    "container SLIPWAY_MOUNTABLE": _MOUNTS,
    "engine batchai": (
        "tests/contract/emulator/files/test_files.py",
        "test_a_job_cannot_list_or_serve_by_its_links_what_is_not_of_its_run",
    ),
    "engine slurm": _RECORDS,
    "engine batch": (
        "tests/unit/engines/test_forged_records.py",
        "test_a_record_changes_no_end_that_its_scheduler_reports",
    ),
    "engine kubernetes": _RECORDS,
    # what a message names
    **dict.fromkeys(
        ("member after", "member afterFailure"),
        (_BY_NAME, "test_a_drop_waits_for_jobs_of_its_team_only_and_learns_of_no_other"),
    ),
    "member cluster": ("tests/unit/intake/test_teams.py", "test_a_team_uses_its_own_clusters_only"),
    "member team": ("tests/unit/intake/test_teams.py", "test_a_callers_job_is_their_teams"),
    "member specBlob": (_BY_NAME, "test_a_dropped_document_is_used_by_those_who_may_submit_for_its_team"),
    "member code": ("tests/unit/intake/desk/test_code.py", "test_a_digest_of_another_scope_opens_nothing"),
    "member idempotencyKey": (_BY_NAME, "test_a_key_of_one_caller_joins_no_job_of_another"),
    "member notify": _SECRETS,
    "member hold": (
        "tests/unit/intake/desk/test_holds.py",
        "test_a_team_s_jobs_are_held_within_its_own_limit",
    ),
    "member needs": (
        "tests/unit/intake/test_folders_beside.py",
        "test_nothing_that_is_said_of_a_folder_depends_on_files_of_another_team",
    ),
    # what goes out, and the addresses of files
    "port webhooks": _SECRETS,
    "port addresses": ("tests/unit/test_walls.py", "test_no_answer_shows_a_text_of_another_team"),
    "port snapshots": (
        "tests/unit/intake/desk/test_code.py",
        "test_a_digest_of_another_scope_opens_nothing",
    ),
    "port channels": (
        "tests/unit/delivery/test_channels.py",
        "test_a_channel_of_another_team_is_as_unknown_as_one_that_is_not_there",
    ),
    "port queues": _CANARIES,
    "port certificates": (
        "tests/unit/operate/test_entry.py",
        "test_a_certificate_is_for_a_caller_with_a_name_and_a_key_and_for_a_job_alone",
    ),
    "port activity": (
        "tests/unit/operate/test_trail.py",
        "test_managers_see_the_acts_on_jobs_of_the_teams_that_they_manage",
    ),
    # the local stack
    "local admin": ("tests/contract/host/test_http_trigger.py", "test_keys_open_what_their_level_allows"),
}
#: Members of a message that say something of its own job, and name nothing that could be another's. The
#: mounts of a `spec` are roads of their own.
_OF_ITS_OWN = {
    *("name", "experiment", "spec", "labels", "retry", "resources", "sweep", "parallel"),
}
#: Ports that keep what only the app reads, and those whose roads are functions, containers or engines.
_APP_ONLY = {
    *("ledger", "outbox", "dead", "finished", "archive", "leases", "node_histories", "job_sweeps", "teams"),
    *("drops", "engines", "seal", "policy", "clock", "token", "jitter", "pause"),
    *("troubles", "breaker", "receivers"),
    *(
        "secrets",
        "account_keys",
        "client_settings",
        "functions_off",
        "memo",
        "chores",
        "joint",
        "looks",
        "meter",
        "tokens",
        "keys",
    ),
}


def _roads() -> set[str]:
    containers = {name for name, one in SETTINGS.items() if one.kind in ("container", "containers")}
    return {
        *(f"function {name}" for name in BY_EVENT),
        *(f"mount {name}" for name in MOUNT_LISTS),
        *(f"container {name}" for name in containers),
        *(f"engine {name}" for name in ENGINES),
        *(f"member {name}" for name in _members() - _OF_ITS_OWN),
        *(f"option {name}" for name in _options() if "mount" in name or name == "identity"),
        *(f"port {one.name}" for one in fields(Ports) if one.name not in _APP_ONLY),
        "local admin",
    }


def _options() -> set[str]:
    return {one.name for one in fields(BatchCluster)}


def _members() -> set[str]:
    return {one.alias or name for name, one in Envelope.model_fields.items()}


def test_each_road_is_listed() -> None:
    assert _roads() == ROADS.keys()


@pytest.mark.parametrize("place", sorted(set(ROADS.values())))
def test_what_holds_a_road_is_there(place: tuple[str, str]) -> None:
    file, name = place

    assert (ROOT / file).is_file()
    assert name in _tests(file)


@cache
def _tests(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_bytes())
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
