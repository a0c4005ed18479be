"""Every operation of the contract by method and path; ids are matched without regard to case."""

import re
from typing import NamedTuple

from local.batchai.api import catalogue, clusters, groups, jobs, logins, operations, servers, workspaces
from local.batchai.api.wire import Handler

_SUBSCRIPTION = "/subscriptions/{subscription}"
_PROVIDER = "/providers/Microsoft.BatchAI"
_GROUP = f"{_SUBSCRIPTION}/resourceGroups/{{group}}{_PROVIDER}"
_LOCATION = f"{_SUBSCRIPTION}{_PROVIDER}/locations/{{location}}"
_WORKSPACE = f"{_GROUP}/workspaces/{{workspace}}"
_CLUSTER = f"{_WORKSPACE}/clusters/{{cluster}}"
_FILE_SERVER = f"{_WORKSPACE}/fileServers/{{fileServer}}"
_EXPERIMENT = f"{_WORKSPACE}/experiments/{{experiment}}"
_JOB = f"{_EXPERIMENT}/jobs/{{job}}"

_TABLE: dict[str, dict[str, Handler]] = {
    f"{_PROVIDER}/operations": {"GET": catalogue.list_operations},
    f"{_LOCATION}/usages": {"GET": catalogue.list_usages},
    f"{_SUBSCRIPTION}{_PROVIDER}/workspaces": {"GET": workspaces.list_all_workspaces},
    f"{_GROUP}/workspaces": {"GET": workspaces.list_workspaces},
    _WORKSPACE: {
        "PUT": workspaces.put_workspace,
        "PATCH": workspaces.patch_workspace,
        "GET": workspaces.get_workspace,
        "DELETE": workspaces.delete_workspace,
    },
    f"{_WORKSPACE}/clusters": {"GET": clusters.list_clusters},
    _CLUSTER: {
        "PUT": clusters.put_cluster,
        "PATCH": clusters.patch_cluster,
        "GET": clusters.get_cluster,
        "DELETE": clusters.delete_cluster,
    },
    # The SDK asks for the next page of lists by POST with GET.
    f"{_CLUSTER}/listRemoteLoginInformation": {
        "POST": logins.list_of_cluster,
        "GET": logins.list_of_cluster,
    },
    f"{_WORKSPACE}/fileServers": {"GET": servers.list_file_servers},
    _FILE_SERVER: {
        "PUT": servers.put_file_server,
        "GET": servers.get_file_server,
        "DELETE": servers.delete_file_server,
    },
    f"{_WORKSPACE}/experiments": {"GET": workspaces.list_experiments},
    _EXPERIMENT: {
        "PUT": workspaces.put_experiment,
        "GET": workspaces.get_experiment,
        "DELETE": workspaces.delete_experiment,
    },
    f"{_EXPERIMENT}/jobs": {"GET": jobs.list_jobs},
    _JOB: {"PUT": jobs.put_job, "GET": jobs.get_job, "DELETE": jobs.delete_job},
    f"{_JOB}/terminate": {"POST": jobs.terminate_job},
    f"{_JOB}/listOutputFiles": {"POST": jobs.list_output_files, "GET": jobs.list_output_files},
    f"{_JOB}/listRemoteLoginInformation": {"POST": logins.list_of_job, "GET": logins.list_of_job},
    f"{_LOCATION}/operationresults/{{operation}}": {"GET": operations.status},
    f"{_LOCATION}/operationstatuses/{{operation}}": {"GET": operations.result},
}


#: Resources of other providers, which have API versions of their own.
_STORAGE = "/providers/Microsoft.Storage/storageAccounts"
_ACCOUNT = f"{_SUBSCRIPTION}/resourceGroups/{{group}}{_STORAGE}/{{account}}"
_NEIGHBOURS: dict[str, dict[str, Handler]] = {
    f"{_SUBSCRIPTION}/resourceGroups": {"GET": groups.list_groups},
    f"{_SUBSCRIPTION}/resourceGroups/{{group}}": {
        "PUT": groups.put_group,
        "GET": groups.get_group,
        "HEAD": groups.head_group,
        "DELETE": groups.delete_group,
    },
    f"{_SUBSCRIPTION}/providers/Microsoft.Storage/checkNameAvailability": {"POST": groups.check_name},
    f"{_SUBSCRIPTION}{_STORAGE}": {"GET": groups.list_accounts},
    f"{_SUBSCRIPTION}/resourceGroups/{{group}}{_STORAGE}": {"GET": groups.list_accounts},
    _ACCOUNT: {"PUT": groups.show_account, "GET": groups.show_account},
    f"{_ACCOUNT}/listKeys": {"POST": groups.list_keys},
    f"{_SUBSCRIPTION}/providers/{{provider}}": {"GET": groups.registration},
    f"{_SUBSCRIPTION}/providers/{{provider}}/register": {"POST": groups.registration},
}


def is_neighbour(handlers: dict[str, Handler]) -> bool:
    """Whether these handlers belong to another provider."""
    return any(handlers is paths for paths in _NEIGHBOURS.values())


def templates() -> list[str]:
    """All paths, with the names of their parts in braces."""
    return [*_TABLE, *_NEIGHBOURS]


#: The parameters in the query of every operation, of lists, and of one list.
_ALWAYS, _OF_LISTS = frozenset({"api-version"}), frozenset({"maxresults", "$skiptoken"})
_OF_OUTPUT_FILES = frozenset({"outputdirectoryid", "directory", "linkexpiryinminutes"})


class Resource(NamedTuple):
    """The handlers of a path by method, the names in it, and the parameters that its query may have."""

    handlers: dict[str, Handler]
    names: dict[str, str]
    parameters: frozenset[str]


def find(path: str) -> Resource | None:
    """The route and resource that a path addresses; None for an unknown path."""
    for pattern, template, handlers in _PATTERNS:
        if match := pattern.fullmatch(path):
            return Resource(handlers, match.groupdict(), _parameters(template))
    return None


def _parameters(template: str) -> frozenset[str]:
    """A template that ends with a literal is that of a list, or of an action."""
    last = template.rpartition("/")[2]
    if last.startswith("{") or last == "terminate":
        return _ALWAYS
    return _ALWAYS | _OF_LISTS | (_OF_OUTPUT_FILES if last == "listOutputFiles" else frozenset())


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template.replace(".", r"\.")), re.IGNORECASE)


_PATTERNS = [(_pattern(path), path, handlers) for path, handlers in (_TABLE | _NEIGHBOURS).items()]
