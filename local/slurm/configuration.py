"""The configuration of the mini cluster, as text: nothing here touches the machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from local.slurm.accounting import Accounting, slurm_conf_lines

#: Seconds after which a node that does not answer is lost.
_LOST_AFTER = 20


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Nodes of one kind, named `{name}-1` and so on. Elastic ones run only while jobs need them."""

    name: str
    nodes: int = 4
    #: Per node; both are simulated, so that a small machine can stand for many larger ones.
    cpus: int = 4
    gpus: int = 0
    elastic: bool = True
    #: whether jobs may share a node
    divided: bool = False
    #: The longest that a job may ask for, as slurm.conf has it.
    max_time: str = "INFINITE"

    @property
    def node_names(self) -> tuple[str, ...]:
        """The names of its nodes, as Slurm shows them."""
        return tuple(f"{self.name}-{number}" for number in range(1, self.nodes + 1))


@dataclass(frozen=True, kw_only=True)
class Site:
    """The inputs of the configuration: a directory, this machine, its user, and free ports."""

    home: Path
    #: A directory with a short path: those of the sockets within may have 107 characters.
    sockets: Path
    #: This machine's own host name; slurmctld refuses to run under another.
    hostname: str
    #: The user of every daemon. Jobs run as the user of a token; only root's daemons can run them as others.
    user: str
    partitions: tuple[Partition, ...]
    controller_port: int
    #: Of slurmrestd.
    gateway_port: int
    node_ports: Mapping[str, int]
    #: Seconds after which an elastic node without a job is stopped.
    idle_seconds: int
    #: Seconds that a node may take to start; after that it is tried again.
    boot_seconds: int = 30
    #: Slurm's version, and the directory of its plugins if it is not this system's.
    version: tuple[int, int] = (22, 5)
    plugins: Path | None = None
    accounting: Accounting | None = None
    #: The most jobs that slurmctld remembers, including ended ones, and for how many seconds.
    max_jobs: int = 10_000
    job_age: int = 300
    #: EnforcePartLimits: whether a job that fits no partition is refused at once.
    enforced: str = "ALL"


def slurm_conf(site: Site) -> str:
    """The text of slurm.conf for these partitions, nodes and ports."""
    return "\n".join([*_cluster(site), *_power(site), *_nodes(site), ""])


def hosts(site: Site) -> str:
    """The text of a file like /etc/hosts, for jobs: each node has an address of its own on the loopback.

    Slurm itself reaches all of them at 127.0.0.1, the only one that slurmd can be made to listen on.
    """
    names = [name for partition in site.partitions for name in partition.node_names]
    return "".join(f"127.0.{1 + at // 250}.{1 + at % 250} {name}\n" for at, name in enumerate(names))


def gres_conf(site: Site) -> str:
    """The text of gres.conf: each GPU is a file, of which slurmd reads only the name."""
    lines = [
        f"NodeName={','.join(partition.node_names)} Name=gpu File={devices(site.home, partition.gpus)}"
        for partition in site.partitions
        if partition.gpus
    ]
    return "\n".join([*lines, ""])


def cgroup_conf(site: Site) -> str:
    """The text of cgroup.conf: without cgroups, as far as the version allows."""
    return f"CgroupPlugin={'disabled' if site.version >= (24, 5) else 'cgroup/v1'}\n"


def oci_conf(site: Site) -> str:
    """The text of oci.conf, for `srun --container`: by runc, with its state in a directory of ours."""
    name, runc = "%n.%u.%j.%s.%t", f"runc --root={site.home}/run/containers"
    return "".join(
        f'{option}="{runc} {words}"\n'
        for option, words in (
            ("RunTimeQuery", f"state {name}"),
            ("RunTimeKill", f"kill -a {name}"),
            ("RunTimeDelete", f"delete --force {name}"),
            ("RunTimeRun", f"run {name} -b %b"),
        )
    )


def devices(home: Path, count: int) -> str:
    """The device files of the GPUs, as a host list; Slurm takes the indices from the names."""
    return f"{home}/dev/nvidia[0-{count - 1}]"


def _cluster(site: Site) -> Iterator[str]:
    yield from _daemons(site)
    yield from _accounts(site)
    yield from _scheduling(site)
    if site.plugins:
        yield f"PluginDir={site.plugins}"


def _daemons(site: Site) -> Iterator[str]:
    """The user, the directories, and how the daemons authenticate each other."""
    home = site.home
    yield from (
        "ClusterName=slipway",
        f"SlurmctldHost={site.hostname}(127.0.0.1)",
        f"SlurmctldPort={site.controller_port}",
        f"SlurmUser={site.user}",
        f"SlurmdUser={site.user}",
        "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
        "AuthType=auth/munge",
        # A requeued job waits for its old credential to expire: 121 s by default.
        f"AuthInfo=socket={site.sockets}/munge,cred_expire=10",
        "CredType=cred/munge",
        "AuthAltTypes=auth/jwt",
        f"AuthAltParameters=jwt_key={home}/jwt.key",
        f"StateSaveLocation={home}/state",
        f"SlurmdSpoolDir={site.sockets}/%n",
        f"SlurmctldPidFile={home}/run/slurmctld.pid",
        f"SlurmdPidFile={home}/run/%n.pid",
        f"SlurmctldLogFile={home}/logs/slurmctld.log",
        f"SlurmdLogFile={home}/logs/%n.log",
        "MailProg=/bin/true",
    )


def _accounts(site: Site) -> Iterator[str]:
    """What is measured about jobs, and where their ends are recorded."""
    yield from (
        # Nothing that needs a machine of its own, cgroups or a database.
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        *(
            slurm_conf_lines(site.accounting, site.sockets / "munge")
            if site.accounting
            else ["AccountingStorageType=accounting_storage/none"]
        ),
        "JobCompType=jobcomp/filetxt",
        f"JobCompLoc={site.home}/logs/completions.log",
    )


def _scheduling(site: Site) -> Iterator[str]:
    """When jobs start, how they run, and how they end."""
    yield from (
        "MpiDefault=none",
        f"TaskProlog={site.home}/bin/task-prolog",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SchedulerType=sched/backfill",
        # Jobs are scheduled when they arrive and every second, not every minute, as on a busy controller.
        "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1",
        "PriorityType=priority/basic",
        f"EnforcePartLimits={site.enforced}",
        "JobRequeue=1",
        "KillWait=30",
        f"MaxJobCount={site.max_jobs}",
        f"MinJobAge={site.job_age}",
        # Lists include powered-off nodes, too.
        "PrivateData=cloud",
        "ReturnToService=2",
        f"SlurmdTimeout={_LOST_AFTER}",
        "SlurmdParameters=config_overrides",
        "GresTypes=gpu",
    )


def _power(site: Site) -> Iterator[str]:
    """How elastic nodes start and stop."""
    scripts = site.home / "bin"
    yield from (
        # A lost node is powered off instead of staying down until an operator comes.
        "SlurmctldParameters=idle_on_node_suspend,power_save_interval=1",
        f"ResumeProgram={scripts}/node-on",
        f"ResumeFailProgram={scripts}/node-failed",
        f"SuspendProgram={scripts}/node-off",
        f"PrologSlurmctld={scripts}/wait-for-nodes",
        f"ResumeTimeout={site.boot_seconds}",
        "SuspendTimeout=2",
        "ResumeRate=0",
        "SuspendRate=0",
        f"SuspendTime={site.idle_seconds}",
    )
    if fixed := [
        name for partition in site.partitions if not partition.elastic for name in partition.node_names
    ]:
        yield f"SuspendExcNodes={','.join(fixed)}"


def _nodes(site: Site) -> Iterator[str]:
    for partition in site.partitions:
        gpus = f" Gres=gpu:{partition.gpus}" if partition.gpus else ""
        state = "CLOUD" if partition.elastic else "UNKNOWN"
        for name in partition.node_names:
            yield (
                f"NodeName={name} NodeHostname={site.hostname} NodeAddr=127.0.0.1"
                f" Port={site.node_ports[name]} CPUs={partition.cpus} RealMemory=4096{gpus} State={state}"
            )
    for number, partition in enumerate(site.partitions):
        default = "YES" if number == 0 else "NO"
        shares = "NO" if partition.divided else "EXCLUSIVE"
        yield (
            f"PartitionName={partition.name} Nodes={','.join(partition.node_names)} Default={default}"
            f" OverSubscribe={shares} MaxTime={partition.max_time} State=UP"
        )
