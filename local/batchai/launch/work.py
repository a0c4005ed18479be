"""A job of Batch AI as its machines see it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from local.batchai.launch.layout import STDOUTERR, USAGE, job_environment, output_directories, segment
from local.batchai.launch.toolkits import PROGRAMS, processes
from local.batchai.launch.vault import MissingSecret, Vault
from local.batchai.launch.volumes import volumes
from local.batchai.state import ids
from local.batchai.state.models import Cluster, Job
from local.batchai.state.settings import Settings
from local.batchai.state.sizes import gpus_of
from local.nodes.fault import Fault
from local.nodes.machine import Directories, Machine
from local.nodes.work import Image, Output, Plan


class BatchAIWork:
    """The work of a job on its nodes."""

    def __init__(self, job: Job, cluster: Cluster, settings: Settings) -> None:
        self._job, self._cluster, self._settings = job, cluster, settings
        self.name = job.id
        self.mark = f"{job.instance}-{job.attempt}"
        self.names = ids.names_in(job.id)[2:]
        numbers = {node.id: node.number for node in cluster.nodes}
        size = cluster.document["vmSize"]
        self.machines = [
            Machine(node, numbers[node], gpus_of(numbers[node], size, settings.gpus)) for node in job.nodes
        ]

    async def plan(self, all_directories: Sequence[Directories]) -> Plan:
        """Everything from its document, secrets resolved. Raises OSError, and MissingSecret for mounts."""
        vault = Vault(self._settings.secrets_file)
        document, fault = _with_secrets(vault, self._job.document)
        shared = volumes(vault.resolved(self._cluster.mounts))
        job = self._job.evolve(document=document)
        path = await self._settings.path(self._cluster.id)
        envs = [
            job_environment(job, directories, self.machines, path, machine.gpus)
            for directories, machine in zip(all_directories, self.machines, strict=True)
        ]
        defined = (*document.get("environmentVariables", ()), *document.get("secrets", ()))
        return Plan(
            shared_volumes=shared,
            volumes=volumes(document.get("mountVolumes", {})),
            envs=envs,
            outputs=[_outputs(job, env) for env in envs],
            logs=STDOUTERR,
            reports=USAGE,
            image=_image(document),
            own=frozenset(variable["name"] for variable in defined),
            preparation=(document.get("jobPreparation") or {}).get("commandLine", ""),
            programs=PROGRAMS,
            processes=lambda find: processes(document, envs, find),
            fault=fault,
        )


class _Resolved(NamedTuple):
    """A document with its secrets; without those of its processes, and with a fault, if one is missing."""

    document: dict[str, Any]
    fault: Fault | None


def _with_secrets(vault: Vault, document: Mapping[str, Any]) -> _Resolved:
    try:
        return _Resolved(vault.resolved(document), None)
    except MissingSecret as error:
        rest = {name: one for name, one in document.items() if name not in ("secrets", "containerSettings")}
        return _Resolved(vault.resolved(rest), error.fault)


def _outputs(job: Job, env: Mapping[str, str]) -> dict[str, Output]:
    own = f"/{segment(job)}/"
    outputs = {}
    for name, path in output_directories(job.document, own.strip("/"), env).items():
        prefix, _, rest = str(path).partition(own)
        outputs[name] = Output(prefix, own + rest)
    return outputs


def _image(document: Mapping[str, Any]) -> Image | None:
    if not (settings := document.get("containerSettings")):
        return None
    source = settings["imageSourceRegistry"]
    login = source.get("credentials") or {}
    return Image(
        source["image"],
        server=source.get("serverUrl", ""),
        username=login.get("username", ""),
        password=login.get("password", ""),
        shm_size=settings.get("shmSize", ""),
    )
