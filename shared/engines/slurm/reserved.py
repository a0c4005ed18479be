"""The members of a Slurm job that `options` must not set. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Members that the submission itself, a resource, the job.json, or a setting determines.
_OF_SUBMISSION = """
    name comment hold nodes minimum_nodes maximum_nodes tasks tasks_per_node tasks_per_socket tasks_per_core
    time_limit time_minimum end_time current_working_directory open_mode environment spank_environment
    standard_input standard_output standard_error get_user_environment script argv requeue no_requeue priority
    exclusive shared oversubscribe memory_per_node memory_per_cpu memory_per_gpu memory_per_tres cpus_per_task
    job_name ntasks ntasks_per_node test_only
    gres gpus gpus_per_node gpus_per_socket gpus_per_task tres_per_node tres_per_job tres_per_socket
    tres_per_task constraints partition account qos reservation
"""
#: Members that would make another kind of job, several jobs, or another user's job, or hide its end.
_ELSE = """
    array dependency kill_on_invalid_dependency hetjob_group crontab immediate job_id user_id group_id
    clusters container container_id admin_comment flags no_kill kill_on_node_fail x11 x11_magic_cookie
    x11_target_host x11_target_port allocation_node_list allocation_node_port
"""
RESERVED = frozenset((*_OF_SUBMISSION.split(), *_ELSE.split()))


def refusal(options: Mapping[str, Any]) -> str:
    """Why these options are refused; "" if they are allowed."""
    names = sorted(RESERVED & options.keys())
    if not names:
        return ""
    return f"options cannot set {', '.join(names)}: Slipway, or another resource, sets that"
