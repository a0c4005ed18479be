"""Resource ids and names of the Microsoft.BatchAI provider."""

import re
from collections.abc import Mapping

from local.batchai.state.errors import invalid
from local.batchai.state.regions import region

PROVIDER = "Microsoft.BatchAI"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GROUP = re.compile(r"[A-Za-z0-9_.-]{1,90}")
#: Path parameters that are not names of Batch AI resources.
_LOOSE = {"subscription", "group", "location", "operation", "account", "provider", "tenant"}


def key(resource_id: str) -> str:
    """The id as it is looked up: ids do not depend on case."""
    return resource_id.rstrip("/").lower()


def group(names: Mapping[str, str]) -> str:
    """The id of a resource group's Batch AI provider."""
    return f"/subscriptions/{names['subscription']}/resourceGroups/{names['group']}/providers/{PROVIDER}"


def workspace(names: Mapping[str, str]) -> str:
    """The id of a workspace."""
    return f"{group(names)}/workspaces/{names['workspace']}"


def cluster(names: Mapping[str, str]) -> str:
    """The id of a cluster."""
    return f"{workspace(names)}/clusters/{names['cluster']}"


def file_server(names: Mapping[str, str]) -> str:
    """The id of a file server, spelled as the service did."""
    return f"{workspace(names)}/fileservers/{names['fileServer']}"


def experiment(names: Mapping[str, str]) -> str:
    """The id of an experiment."""
    return f"{workspace(names)}/experiments/{names['experiment']}"


def job(names: Mapping[str, str]) -> str:
    """The id of a job."""
    return f"{experiment(names)}/jobs/{names['job']}"


def name(resource_id: str) -> str:
    """The last part of an id."""
    return resource_id.rsplit("/", 1)[-1]


def parent(resource_id: str) -> str:
    """The id that a child's id starts with."""
    return resource_id.rsplit("/", 2)[0]


def names_in(resource_id: str) -> tuple[str, ...]:
    """The names in an id, from the subscription down."""
    pieces = resource_id.strip("/").split("/")
    return (pieces[1], pieces[3], *pieces[7::2])


def resource_type(resource_id: str) -> str:
    """The type of an id, such as Microsoft.BatchAI/workspaces/clusters."""
    return "/".join((PROVIDER, *resource_id.strip("/").split("/")[6::2]))


def check(names: Mapping[str, str]) -> None:
    """Raise ArmError for a name in a path that the service does not allow."""
    for parameter, value in names.items():
        if parameter in _LOOSE:
            if not _GROUP.fullmatch(region(value) if parameter == "location" else value):
                raise invalid(f"{value!r} is not a valid {parameter}.", parameter, "InvalidParameter")
        elif not _NAME.fullmatch(value):
            raise invalid(
                f"{value!r} is not a valid {parameter} name: use 1 to 64 letters, digits, '-' and '_'.",
                parameter,
                "InvalidResourceName",
            )
