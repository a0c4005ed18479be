"""Every route: its method, its path, and its handler."""

from collections.abc import Sequence

from local.azurebatch.api import autoscaling, catalogue, control, files, jobs, nodes, pools, tasks
from local.azurebatch.api.wire import Handler
from local.azurebatch.service.facts import Operation, facts

_POOL, _NODE, _JOB, _TASK = (
    "/pools/{pool}",
    "/pools/{pool}/nodes/{node}",
    "/jobs/{job}",
    "/jobs/{job}/tasks/{task}",
)
#: Of a file's name, which may have slashes and line ends.
_ANY = ":(?s:.+)"
_FILE = f"/files/{{file{_ANY}}}"

ROUTES: Sequence[tuple[str, str, Handler]] = (
    ("GET", "/supportedimages", catalogue.images),
    ("GET", "/nodeagentskus", catalogue.agents),
    ("GET", "/nodecounts", catalogue.node_counts),
    ("GET", "/applications", catalogue.applications),
    ("GET", "/applications/{application}", catalogue.application),
    ("POST", "/pools", pools.add),
    ("GET", "/pools", pools.every),
    ("GET", _POOL, pools.get),
    ("HEAD", _POOL, pools.exists),
    ("DELETE", _POOL, pools.delete),
    ("PATCH", _POOL, pools.patch),
    ("POST", f"{_POOL}/updateproperties", pools.update),
    ("POST", f"{_POOL}/resize", pools.resize),
    ("POST", f"{_POOL}/stopresize", pools.stop_resize),
    ("POST", f"{_POOL}/removenodes", pools.remove_nodes),
    ("POST", f"{_POOL}/enableautoscale", autoscaling.enable),
    ("POST", f"{_POOL}/disableautoscale", autoscaling.disable),
    ("POST", f"{_POOL}/evaluateautoscale", autoscaling.evaluate),
    ("GET", f"{_POOL}/nodes", nodes.every),
    ("GET", _NODE, nodes.get),
    ("POST", f"{_NODE}/reboot", nodes.reboot),
    ("POST", f"{_NODE}/reimage", nodes.reimage),
    ("POST", f"{_NODE}/disablescheduling", nodes.disable),
    ("POST", f"{_NODE}/enablescheduling", nodes.enable),
    ("POST", f"{_NODE}/users", nodes.add_user),
    ("PUT", f"{_NODE}/users/{{user}}", nodes.update_user),
    ("DELETE", f"{_NODE}/users/{{user}}", nodes.delete_user),
    ("GET", f"{_NODE}/remoteloginsettings", nodes.remote_login),
    ("GET", f"{_NODE}/files", files.of_node),
    ("GET", f"{_NODE}{_FILE}", files.read_of_node),
    ("HEAD", f"{_NODE}{_FILE}", files.read_of_node),
    ("DELETE", f"{_NODE}{_FILE}", files.delete_of_node),
    ("POST", "/jobs", jobs.add),
    ("GET", "/jobs", jobs.every),
    ("GET", _JOB, jobs.get),
    ("PATCH", _JOB, jobs.patch),
    ("PUT", _JOB, jobs.update),
    ("DELETE", _JOB, jobs.delete),
    ("POST", f"{_JOB}/terminate", jobs.terminate),
    ("POST", f"{_JOB}/disable", jobs.disable),
    ("POST", f"{_JOB}/enable", jobs.enable),
    ("GET", f"{_JOB}/taskcounts", jobs.counts),
    ("GET", f"{_JOB}/jobpreparationandreleasetaskstatus", jobs.commands),
    ("POST", f"{_JOB}/tasks", tasks.add),
    ("GET", f"{_JOB}/tasks", tasks.every),
    ("POST", f"{_JOB}/addtaskcollection", tasks.add_many),
    ("GET", _TASK, tasks.get),
    ("PUT", _TASK, tasks.update),
    ("DELETE", _TASK, tasks.delete),
    ("POST", f"{_TASK}/terminate", tasks.terminate),
    ("POST", f"{_TASK}/reactivate", tasks.reactivate),
    ("GET", f"{_TASK}/subtasksinfo", tasks.subtasks),
    ("GET", f"{_TASK}/files", files.of_task),
    ("GET", f"{_TASK}{_FILE}", files.read_of_task),
    ("HEAD", f"{_TASK}{_FILE}", files.read_of_task),
    ("DELETE", f"{_TASK}{_FILE}", files.delete_of_task),
    ("POST", f"{control.PREFIX}{_NODE}/preempt", control.preempt),
    ("POST", f"{control.PREFIX}{_NODE}/fail", control.fail_node),
    ("POST", f"{control.PREFIX}{_POOL}/resizeerrors", control.fail_resize),
    ("POST", f"{control.PREFIX}/faults", control.add_fault),
    ("GET", f"{control.PREFIX}/faults", control.faults),
    ("DELETE", f"{control.PREFIX}/faults", control.clear_faults),
)


def operation_of(method: str, path: str) -> Operation | None:
    """What the service says of a route; None below /emulator, which it does not have."""
    return facts().operations.get((method, path.replace(_ANY, "")))
