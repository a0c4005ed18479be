"""The Docker containers of jobs, one on each node, where the program on the nodes is root on the host.

Pure. Everything that varies is in the variables of a step; no value of a job's environment, and no password,
is in a command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from shared.engines.launch.mounts import image_of
from shared.engines.launch.site import Container

#: Variables that belong to the node; the image has its own. Those that a job sets have other names here.
_HOSTS_OWN = ("PATH", "HOME", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "LD_LIBRARY_PATH")

#: With it a process starts others on the nodes themselves; only steps beside the container get it.
_AGENT_KEY = "SLIPWAY_AGENT_KEY"

#: Where MPI processes find the files of the host's mpirun.
_SESSIONS = "/tmp"  # noqa: S108 - of the nodes

#: The first process of a container waits for a signal to end, then gives all others so many seconds.
_KEEP = (
    "trap 'kill -TERM -1; for i in {1..%d0}; do kill -0 -1 || exit 0; sleep 0.1; done; exit 0' TERM; "
    "while :; do sleep 86400 & wait $!; done"
)

#: Starts the container, after removing those of a killed run, which would hold the GPUs: a node has one task
#: at a time.
_BEGIN = """
for left in $(docker ps --all --quiet --filter "label=slipway.node=$%s"); do
  docker rm --force "$left" >/dev/null || exit
done
if [ -n "$SLIPWAY_IMAGE_PASSWORD" ]; then
  DOCKER_CONFIG=$(mktemp -d) && export DOCKER_CONFIG && trap 'rm -rf -- "$DOCKER_CONFIG"' EXIT || exit
  printf %-s "$SLIPWAY_IMAGE_PASSWORD" |
    docker login --username "$SLIPWAY_IMAGE_USER" --password-stdin "$SLIPWAY_IMAGE_SERVER" >/dev/null || exit
  unset SLIPWAY_IMAGE_PASSWORD
fi
docker pull --quiet "$SLIPWAY_IMAGE" >/dev/null || exit
mapfile -t options <<<"$SLIPWAY_BOX_OPTIONS"
[ -d /dev/infiniband ] && options+=(--device /dev/infiniband)
docker run --detach --pull never --name "$SLIPWAY_BOX-$%s" --label "slipway.node=$%s" "${options[@]}" \\
  --entrypoint /bin/bash "$SLIPWAY_IMAGE" -c "$SLIPWAY_BOX_FIRST" >/dev/null || exit
"""

#: Signals every process in the container to end, and removes the container.
_END = 'docker stop -t {grace} "$0-$%s" >/dev/null 2>&1; docker rm --force "$0-$%s" >/dev/null 2>&1; :'

#: Runs its arguments in the container, with the variables that are set here: by their names.
_ENTER = (
    "given=(); while read -r name; do case $name in {own}) ;; *) given+=(--env $name) ;; esac; "
    "done < <(compgen -e); client=$(PATH={path} && command -v docker) || exit; "
    'exec "$client" exec "${{given[@]}}" "$0-${node}" "$@"'
)


def docker(
    name: str,
    properties: Mapping[str, Any],
    *,
    node: str,
    path: str,
    gpus: int,
    grace: int,
    directories: Sequence[str],
) -> Container:
    """The container of a job with that name; `node`: the variable with a node's id, `path`: PATH there.

    It has the directories at their own paths and the node's network, and lives as long as the run.
    `grace`: seconds from SIGTERM to SIGKILL.
    """
    settings = properties["containerSettings"]
    registry = settings["imageSourceRegistry"]
    credentials = registry.get("credentials") or {}
    image = image_of(properties)
    words = ["--network", "host", "--user", "0", "--ulimit", "memlock=-1"]
    words += [
        word for path in dict.fromkeys((*directories, _SESSIONS)) for word in ("--volume", f"{path}:{path}")
    ]
    words += ["--gpus", "all"] if gpus else []
    words += ["--shm-size", str(settings["shmSize"])] if settings.get("shmSize") else []
    own = "|".join((*_HOSTS_OWN, _AGENT_KEY))
    return Container(
        words=("bash", "-c", _ENTER.format(own=own, path=shlex.quote(path), node=node), name),
        begin=_BEGIN,
        end=("bash", "-c", _END.format(grace=grace + 2).replace("%s", node), name),
        variables={
            "SLIPWAY_BOX": name,
            "SLIPWAY_BOX_FIRST": _KEEP % grace,
            "SLIPWAY_BOX_OPTIONS": "\n".join(words),
            "SLIPWAY_IMAGE": image,
            "SLIPWAY_IMAGE_SERVER": _server(image, str(registry.get("serverUrl") or "")),
            "SLIPWAY_IMAGE_USER": str(credentials.get("username") or ""),
            "SLIPWAY_IMAGE_PASSWORD": str(credentials.get("password") or ""),
        },
    )


def _server(image: str, url: str) -> str:
    """The host to log in to: the named one, or else the host in the image's name."""
    if url:
        return urlsplit(url).netloc or url
    first, slash, _ = image.partition("/")
    return first if slash and (set(first) & {".", ":"} or first == "localhost") else "docker.io"
