"""What the program on the nodes needs to know of a Slurm cluster: srun, scontrol, containers, mounts.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.engine import Order
from shared.core.errors import Misconfigured
from shared.engines.launch.mounts import code_file, image_of, linked
from shared.engines.launch.site import Container, Scheduler, Site, Spread
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.resources import gpus, merged


def srun(spread: Spread) -> tuple[str, ...]:
    """srun within the job's allocation. Steps share the nodes; one failed process ends its whole step."""
    each, remainder = divmod(spread.tasks, spread.nodes)
    return (
        "srun",
        "--quiet",
        f"--nodes={spread.nodes}",
        f"--ntasks={spread.tasks}",
        *(() if remainder else (f"--ntasks-per-node={each}",)),
        f"--relative={spread.first}",
        "--overlap",
        "--overcommit",
        "--kill-on-bad-exit=1",
        f"--input={'all' if spread.is_fed else 'none'}",
        f"--mpi={spread.mpi or 'none'}",
    )


SLURM = Scheduler(
    hosts=("scontrol", "show", "hostnames"),
    ready=("scontrol", "ping"),
    run=("SLURM_JOB_ID", "SLURM_RESTART_COUNT"),
    node="SLURMD_NODENAME",
    rank="SLURM_PROCID",
    spread=srun,
    # The steps alone, not the program.
    ask_far=("scancel", "--quiet", "--signal=TERM", "{SLURM_JOB_ID}"),
    asks_all=True,
    afterwards=r"srun: |slurmstepd\S*: error: \*\*\* ",
)


def site(cluster: SlurmCluster, order: Order) -> Site:
    """The site of one attempt. Raises Misconfigured if `check` would refuse the job now."""
    target, properties = order.target, order.document["properties"]
    links = linked(cluster.mounts, properties)
    temporary = f"{cluster.temporary.rstrip('/')}/{target.name}"
    count = gpus(cluster, merged(cluster, order.resources))
    return Site(
        scheduler=SLURM,
        segment=cluster.layout.segment(target),
        records=cluster.layout.attempt(target),
        saved=cluster.layout.saved(target.job_id),
        resumed=cluster.layout.saved(order.resumes) if order.resumes else "",
        temporary=temporary,
        output=f"{cluster.shared.rstrip('/')}/{{SLURM_JOB_ID}}.out",
        mount_root=cluster.mount_root,
        path=cluster.path,
        gpus=count,
        grace=cluster.grace_seconds,
        links=links,
        ends=cluster.ends,
        container=_container(
            cluster, properties, (cluster.shared, cluster.mount_root, temporary), links, gpus=count
        ),
        mpi=cluster.mpi,
        longest=cluster.longest,
        code=order.code,
        code_file=code_file(cluster.mounts, order.code),
    )


def _container(
    cluster: SlurmCluster,
    properties: Mapping[str, Any],
    roots: tuple[str, ...],
    links: tuple[tuple[str, str], ...],
    *,
    gpus: int,
) -> Container | None:
    if not properties.get("containerSettings"):
        return None
    image = image_of(properties)
    if cluster.container == "oci":
        if image not in cluster.bundles:
            raise Misconfigured(
                f"the bundle of {image} was taken away from {cluster.name} after the job came"
            )
        # The bundle's own configuration lists what it sees of the node.
        return Container(options=(f"--container={cluster.bundles[image]}",))
    directories = tuple(dict.fromkeys((*roots, *(path for _, path in links))))
    if cluster.container == "apptainer":
        binds = tuple(word for path in directories for word in ("--bind", path))
        gpu = ("--nv",) if gpus else ()
        return Container(words=("apptainer", "exec", *gpu, *binds, f"docker://{image}"))
    mounts = ",".join(f"{path}:{path}" for path in directories)
    # A named container lives as long as the allocation, so what the preparation installs stays.
    options = (f"--container-image={_enroot(image)}", f"--container-mounts={mounts}", "--container-writable")
    return Container(options=(*options, "--container-name=job"))


def _enroot(image: str) -> str:
    """enroot separates the registry from the image with a '#'."""
    host, _, rest = image.partition("/")
    return f"{host}#{rest}" if rest and ("." in host or ":" in host) else image
