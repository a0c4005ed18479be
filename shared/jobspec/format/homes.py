"""Finds where a misplaced name belongs: by the models, and by the names that other formats use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from shared.jobspec.format.base import models_in
from shared.jobspec.format.models import JobProperties
from shared.jobspec.format.mounts import ACCOUNT_MOUNT_LISTS
from shared.jobspec.format.toolkits import TOOLKITS

_BESIDE_JOB = "beside the job, into the message or into slipway.json"
_TIME = 'into constraints, as "maxWallClockTime": "PT12H"'
_RETRY = f'{_BESIDE_JOB}, as "retry": {{"user": 2}}'
_IMAGE = 'into containerSettings, as "imageSourceRegistry": {"image": …}'
#: The name in other formats → its place here.
_CALLED = {
    "timeout": _TIME,
    "maxTaskRetryCount": _RETRY,
    "retryCount": _RETRY,
    "maxRetries": _RETRY,
    "command": 'into a toolkit, as "customToolkitSettings": {"commandLine": …}',
    **dict.fromkeys(("containerImage", "dockerImage", "imageName"), _IMAGE),
    "env": 'into environmentVariables, as [{"name": …, "value": …}]',
    **dict.fromkeys(("experiment", "labels", "notify", "retry", "resources", "idempotencyKey"), _BESIDE_JOB),
}
#: Where it is and its name → the objects to put it into, if that is certain.
_NESTED = {
    ("properties", "image"): "containerSettings/imageSourceRegistry",
    ("containerSettings", "image"): "imageSourceRegistry",
    ("containerSettings", "serverUrl"): "imageSourceRegistry",
    ("properties", "maxWallClockTime"): "constraints",
    ("properties", "commandLine"): "customToolkitSettings",
    **{(name, "accountKey"): "credentials" for name in ACCOUNT_MOUNT_LISTS},
    **{(name, "accountKeySecretReference"): "credentials" for name in ACCOUNT_MOUNT_LISTS},
    **{("imageSourceRegistry", name): "credentials" for name in ("username", "password")},
    **{("properties", name): "mountVolumes" for name in ACCOUNT_MOUNT_LISTS},
}


class Home(NamedTuple):
    """Where a name belongs; `nest` are the objects to put it into, outermost first, if that is certain."""

    says: str
    nest: str = ""


def home_of(holder: str, name: str, siblings: Any) -> Home | None:
    """Where a name in the object `siblings`, called `holder`, belongs; None if that is unknown."""
    if not holder and ("properties", name) in _NESTED:
        return Home(f"into properties.{_NESTED['properties', name].replace('/', '.')}")
    nest = _NESTED.get((holder, name), "")
    if nest:
        return Home(f"into {nest.replace('/', '.')}", nest if _certain(holder, nest, siblings) else "")
    if name in _CALLED:
        return Home(_CALLED[name])
    homes = _homes().get(name, ())
    if not homes or holder in homes:
        return None
    if set(homes) <= set(TOOLKITS):
        return Home(f"into {homes[0]}" if len(homes) == 1 else "into the block of a toolkit")
    return Home(f"into {homes[0]}") if len(homes) == 1 else None


def _certain(holder: str, nest: str, siblings: Any) -> bool:
    """Whether the place is still free, so that nothing has to be merged."""
    outer = nest.partition("/")[0]
    if not isinstance(siblings, dict) or outer in siblings:
        return False
    if outer in TOOLKITS and siblings.keys() & TOOLKITS.keys():
        return False
    same = [name for (at, name), where in _NESTED.items() if at == holder and where.startswith(outer)]
    return len(siblings.keys() & set(same)) == 1


@cache
def _homes() -> dict[str, tuple[str, ...]]:
    """Each name of a job → the members whose objects have it."""
    homes: dict[str, dict[str, None]] = {}
    for holder, name in _members("properties", JobProperties):
        homes.setdefault(name, {})[holder] = None
    return {name: tuple(holders) for name, holders in homes.items()}


def _members(holder: str, model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for field in model.model_fields.values():
        name = str(field.alias)
        yield holder, name
        for inner in models_in(field.annotation):
            yield from _members(name, inner)
