"""The volumes of a pod as directories of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from local.kubernetes.api import Api
from local.kubernetes.kubelet.environment import NotYet, contents

_READABLE = 0o644
#: Of a directory whose files belong to the group of the pod.
_FOR_GROUP = 0o2775


class Mount(NamedTuple):
    """Where the container has it, what is there, and whether it may write."""

    place: str
    origin: str
    is_read_only: bool


async def mounts(api: Api, pod: Mapping[str, Any], container: Mapping[str, Any], folder: Path) -> list[Mount]:
    """The mounts of a container; what belongs to its pod alone is made in `folder`. Raises NotYet."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    origins: dict[str, Path] = {}
    places = []
    for mount in container.get("volumeMounts") or ():
        name = mount["name"]
        if name not in origins:
            origins[name] = await _origin(api, pod, volumes[name], folder / name)
        origin = origins[name] / mount.get("subPath", "")
        if not origin.exists():
            origin.mkdir(parents=True)
        places.append(Mount(mount["mountPath"], str(origin), bool(mount.get("readOnly"))))
    return places


async def _origin(api: Api, pod: Mapping[str, Any], volume: Mapping[str, Any], own: Path) -> Path:
    namespace, group = pod["metadata"]["namespace"], (pod["spec"].get("securityContext") or {}).get("fsGroup")
    if "hostPath" in volume:
        return _host_path(volume["hostPath"])
    if "persistentVolumeClaim" in volume:
        return _owned(await _claimed(api, namespace, volume["persistentVolumeClaim"]["claimName"]), group)
    for kind in ("configMap", "secret"):
        if kind in volume:
            return _filled(own, await contents(api, namespace, kind, volume[kind]), volume[kind])
    if "emptyDir" in volume:
        return _empty(own, group)
    if "projected" in volume:  # the tokens of newer versions, which no pod of ours uses
        return _empty(own, None)
    kinds = ", ".join(key for key in volume if key != "name")
    raise NotYet("ContainerCreating", f"a node here knows no volume of the kind {kinds}")


def _empty(folder: Path, group: int | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    return _owned(folder, group)


def _owned(folder: Path, group: int | None) -> Path:
    """The same directory, in which the group of the pod may write, where this machine lets us choose."""
    if group is not None and os.geteuid() == 0 and folder.stat().st_gid != group:
        os.chown(folder, -1, group)
        folder.chmod(_FOR_GROUP)
    return folder


async def _claimed(api: Api, namespace: str, name: str) -> Path:
    claim = await api.find(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
    bound = (claim or {}).get("spec", {}).get("volumeName")
    volume = await api.find(f"/api/v1/persistentvolumes/{bound}") if bound else None
    if volume is None:
        raise NotYet("ContainerCreating", f'persistentvolumeclaim "{name}" is bound to no volume')
    origin = volume["spec"].get("hostPath") or volume["spec"].get("local")
    if not origin:
        raise NotYet("ContainerCreating", f"the volume {bound} is not a directory of this machine")
    return _host_path(origin)


def _host_path(origin: Mapping[str, Any]) -> Path:
    path = Path(origin["path"])
    if origin.get("type") == "DirectoryOrCreate":
        path.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        raise NotYet("ContainerCreating", f"hostPath {path} is not there")
    return path


def _filled(folder: Path, texts: Mapping[str, bytes], source: Mapping[str, Any]) -> Path:
    """The directory with the entries of a ConfigMap or Secret. Raises NotYet where one is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in source.get("items") or [{"key": key, "path": key} for key in texts]:
        if item["key"] not in texts:
            raise NotYet("ContainerCreating", f"references non-existent config key: {item['key']}")
        file = folder / item["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(texts[item["key"]])
        file.chmod(item.get("mode", source.get("defaultMode", _READABLE)))
    return folder
