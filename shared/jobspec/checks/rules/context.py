"""The input of a rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TypeAlias

from shared.jobspec.checks.rules.mounted import Mounted
from shared.jobspec.format.limits import Limits
from shared.jobspec.format.mounts import MOUNT_LISTS
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.problems.problem import Problem
from shared.jobspec.problems.suggest import Suggestions
from shared.jobspec.text.tree import Node, words

_COMMANDS = (
    "commandLine",
    "commandLineArgs",
    "masterCommandLineArgs",
    "workerCommandLineArgs",
    "parameterServerCommandLineArgs",
)
#: The place of code that is unpacked into the directory that a job starts in.
CODE_AT_WORK = "work"
_FILES = ("pythonScriptFilePath", "configFilePath", "pythonInterpreterPath")


@dataclass(frozen=True)
class Context:
    """The job's properties, as raw JSON, and the known facts about the deployment that will run it."""

    properties: Node
    limits: Limits
    #: Mount paths below $AZ_BATCHAI_MOUNT_ROOT; None while they are unknown.
    cluster_mounts: Collection[str] | None = None
    #: Ids of the configured clusters; None while they are unknown.
    clusters: Collection[str] | None = None
    #: The deployment's own storage accounts; None while they are unknown.
    accounts: Collection[str] | None = None
    #: What follows ACCOUNT.file. in the cloud of those accounts; None while that is unknown.
    storage_suffix: str | None = None
    #: The keys (`directory_key`) of what the cluster's nodes have a directory for, which asks for no key.
    directories: Collection[str] = ()
    #: Where the job's own code is: CODE_AT_WORK, or a folder below the job's mounts; None if it has none.
    code_at: str | None = None
    suggestions: Suggestions = field(default_factory=Suggestions)

    @cached_property
    def job_mounted(self) -> Mounted:
        """The mounts of the job itself, and its own code, which is below them as well."""
        paths = [path for mount in self.mounts() if (path := mount.member("relativeMountPath").text)]
        return Mounted([*paths, self.code_folder])

    @property
    def code_folder(self) -> str:
        """The folder of the job's own code below its mounts, or ""."""
        return self.code_at if self.code_at and self.code_at != CODE_AT_WORK else ""

    @cached_property
    def cluster_mounted(self) -> Mounted | None:
        """The mounts of the cluster; None while they are unknown."""
        return None if self.cluster_mounts is None else Mounted(self.cluster_mounts)

    @cached_property
    def toolkits(self) -> list[Node]:
        """The toolkit blocks, in document order; a valid job has one."""
        members = self.properties.value if isinstance(self.properties.value, dict) else {}
        blocks = (self.properties.member(name) for name in members if name in TOOLKITS)
        return [block for block in blocks if block.is_written]

    def mounts(self, *lists: str) -> Iterator[Node]:
        """The entries of these lists of mounts, of all lists if none is named."""
        for name in lists or MOUNT_LISTS:
            yield from self._mounts[name]

    @cached_property
    def commands(self) -> list[Node]:
        """Texts that a shell reads."""
        blocks = [*self.toolkits, self.properties.member("jobPreparation")]
        return _texts(block.member(key) for block in blocks for key in _COMMANDS)

    @cached_property
    def files(self) -> list[Node]:
        """Paths of scripts, configurations and interpreters."""
        return _texts(block.member(key) for block in self.toolkits for key in _FILES)

    @cached_property
    def inputs(self) -> list[Node]:
        """The paths of the input directories, as nodes with their places."""
        return _texts(entry.member("path") for entry in self.properties.member("inputDirectories").each())

    @cached_property
    def prefixes(self) -> list[Node]:
        """Paths below which the job's results are kept."""
        outputs = self.properties.member("outputDirectories").each()
        nodes = [
            self.properties.member("stdOutErrPathPrefix"),
            *(entry.member("pathPrefix") for entry in outputs),
        ]
        return _texts(iter(nodes))

    @cached_property
    def environment_values(self) -> list[Node]:
        """Values of the variables that are not secret."""
        return _texts(
            entry.member("value") for entry in self.properties.member("environmentVariables").each()
        )

    @cached_property
    def text(self) -> str:
        """Every text of the job, one per line, so that one search covers all of them."""
        return "\n".join(words(self.properties.value).texts)

    @cached_property
    def _mounts(self) -> dict[str, list[Node]]:
        volumes = self.properties.member("mountVolumes")
        return {name: list(volumes.member(name).each()) for name in MOUNT_LISTS}


Rule: TypeAlias = Callable[[Context], Iterable[Problem]]


def only_if(may_apply: Callable[[Context], object]) -> Callable[[Rule], Rule]:
    """Skip a rule that cannot find anything: one search of all texts is cheaper than many.

    `may_apply` may be true in vain, but never false by mistake. The rule itself is `__wrapped__`.
    """

    def decorate(rule: Rule) -> Rule:
        @wraps(rule)
        def looked(context: Context) -> Iterable[Problem]:
            return rule(context) if may_apply(context) else ()

        return looked

    return decorate


def _texts(nodes: Iterator[Node]) -> list[Node]:
    return [node for node in nodes if node.value and isinstance(node.value, str)]
