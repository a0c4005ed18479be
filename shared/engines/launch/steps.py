"""The ways to start processes of a job: once, everywhere, by rank, under MPI. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.engines.launch.shells import CLEANUP, HOLD, KEEP, ONE, RANKED, RESUME, SETUP, STAY, USAGE, quote
from shared.engines.launch.site import Container, Site, Spread
from shared.engines.node.processes import OWN

_JOURNAL = "{SLIPWAY_LOG}"
Step = dict[str, Any]


@dataclass(frozen=True)
class Steps:
    """Makes the steps of one job on one site; `names` are the variables that Slipway sets for them."""

    site: Site
    nodes: int
    names: tuple[str, ...]
    #: those that the job's author chose, which only the job's own processes get
    chosen: tuple[str, ...] = ()

    def on_one_node(self, command: str) -> Step:
        """The step that runs a command on the first node of the job."""
        start = self._entered(("bash", "-c", ONE))
        if self.site.container and self.site.container.options:
            start = (*self._spread(Spread(1, 1)), *start)
        return self._step(start, command, ("stdout.txt", "stderr.txt"))

    def single(self, command: str, node: int, name: str, more: Mapping[str, str], *, service: bool) -> Step:
        """One process on a node, with files and variables of its own."""
        start = self._entered(("bash", "-c", ONE))
        if self.nodes > 1 or (self.site.container and self.site.container.options):
            start = (*self._spread(Spread(1, 1, first=node)), *start)
        files = (f"stdout-{name}.txt", f"stderr-{name}.txt")
        return self._step(start, command, files, more, service=service)

    def on_all_nodes(self, shell: str, command: str = "", *, host: bool = False) -> Step:
        """One process on every node; `host`: outside the container."""
        if self.nodes == 1 and command:
            return self.on_one_node(command) | {"files": ["stdout-job_prep.txt", "stderr-job_prep.txt"]}
        text = ("bash", "-c", shell.replace("%s", self.site.scheduler.node))
        start = text if host else self._entered(text)
        if self.nodes > 1:
            start = (*self._spread(Spread(self.nodes, self.nodes), host=host), *start)
        return self._step(start, command, (_JOURNAL, _JOURNAL))

    def setup(self) -> Step:
        """The step that makes every node ready, and starts the container if there is one."""
        container = self.site.container or Container()
        step = self.on_all_nodes(SETUP + container.begin, host=True)
        return step | {"literal": {**step["literal"], **container.variables}}

    def entering(self) -> list[Step]:
        """The step that starts a process in the job's image on every node, which fails without the image.

        None where there is no image, or `setup` has started its container.
        """
        container = self.site.container
        if container is None or container.begin:
            return []
        start = self._entered(("bash", "-c", "exit 0"))
        if self.nodes > 1 or container.options:
            start = (*self._spread(Spread(self.nodes, self.nodes)), *start)
        return [self._step(start, "", (_JOURNAL, _JOURNAL))]

    def usage(self) -> Step:
        """The step that samples the load of every node, outside the container. Its errors are ignored."""
        start: tuple[str, ...] = ("bash", "-c", USAGE.replace("{RANK}", self.site.scheduler.rank))
        return self._step((*self._spread_to_all(), *start), "", ("usage.jsonl", "/dev/null"), service=True)

    def holding(self, seconds: int) -> Step:
        """The step in which a process on every node waits in the environment of the job."""
        start = self._entered(("bash", "-c", STAY))
        if self.nodes > 1 or (self.site.container and self.site.container.options):
            start = (*self._spread(Spread(self.nodes, self.nodes)), *start)
        return self._step(start, HOLD % (seconds // 2 + 1), (_JOURNAL, _JOURNAL))

    def keeping(self, word: str, *, service: bool = False, first: bool = False) -> list[Step]:
        """The step in which every node, or the first, uploads to the blob container; none without one."""
        if not self.site.keep:
            return []
        nodes = () if first else self._spread_to_all()
        step = self._step((*nodes, "bash", "-c", KEEP, word), "", (_JOURNAL, _JOURNAL), service=service)
        return [step | {"input": self.site.keep}]

    def bringing(self) -> list[Step]:
        """The step in which every node gets what earlier jobs left in the container; none without that."""
        if not self.site.before:
            return []
        (step,) = self.keeping("bring")
        where = {**json.loads(self.site.keep), "before": [list(one) for one in self.site.before]}
        return [step | {"input": json.dumps(where)}]

    def saving(self, word: str, *, service: bool = False) -> Step:
        """The step in which every node fills its saved directory, or writes it back."""
        start = (*self._spread_to_all(), "bash", "-c", KEEP, word)
        step = self._step(start, "", (_JOURNAL, _JOURNAL), service=service)
        return step | {"input": self.site.generations}

    def mounting(self) -> list[Step]:
        """The step in which every node mounts the job's volumes, and unmounts those of a killed run."""
        if not self.site.mounter:
            return []
        step = self._step(
            (*self._spread_to_all(), *self._mounter("mount")), "", ("mounting.txt", "mounting.txt")
        )
        return [step | {"input": json.dumps([one.document for one in self.site.volumes])}]

    def resuming(self) -> list[Step]:
        """The step in which the first node copies what an earlier job saved; none without one."""
        if not self.site.resumed:
            return []
        new = f"{self.site.records}/{{SLIPWAY_RUN}}/saved"
        start = ("bash", "-c", RESUME, self.site.resumed, self.site.saved, new)
        return [self._step(start, "", ("mounting.txt", "mounting.txt"))]

    def code(self, program: str) -> list[Step]:
        """The step in which every node gets the job's code; none without one."""
        source = self.site.code
        if source is None:
            return []
        if self.site.unpacked:
            start = (*self._spread_to_all(), *self.site.placing)
            step = self._step(start, "", ("code.txt", "code.txt"))
            return [step | {"literal": {"SLIPWAY_UNPACKED": self.site.unpacked}}]
        start = ("python3", "-I", "-c", program)
        step = self._step((*self._spread_to_all(is_fed=True), *start), "", ("code.txt", "code.txt"))
        where = {"file": self.site.code_file} if self.site.code_file else {"address": source.address}
        request = {**where, "sha256": source.sha256, "bytes": source.bytes, "at": source.at}
        return [step | {"input": json.dumps(request)}]

    def _mounter(self, word: str) -> tuple[str, ...]:
        text = f'SLIPWAY_NODE="${self.site.scheduler.node}" exec "$@"'
        return ("bash", "-c", text, "bash", *self.site.mounter, word, "{SLIPWAY_TEMP}")

    def _spread_to_all(self, *, is_fed: bool = False) -> tuple[str, ...]:
        spread = Spread(self.nodes, self.nodes, is_fed=is_fed)
        return self._spread(spread, host=True) if self.nodes > 1 else ()

    def removing(self) -> list[list[str]]:
        """The commands that remove from the nodes the files that were uploaded."""
        return (
            [[*self._spread_to_all(), "bash", "-c", KEEP, "remove", "{SLIPWAY_REMOVED}"]]
            if self.site.keep
            else []
        )

    def ranked(self, command: str, count: int, more: Mapping[str, str]) -> Step:
        """`count` processes, each with its rank and files of its own."""
        shell = RANKED % self.site.scheduler.rank
        start = self._entered(("bash", "-c", shell))
        return self._step(
            (*self._spread(self._spread_over(count)), *start), command, (_JOURNAL, _JOURNAL), more
        )

    def under_mpi(
        self, command: str, count: int, more: Mapping[str, str] | None = None, *, own_files: bool = False
    ) -> Step:
        """`count` processes that MPI starts; with `own_files` each writes into files of its own."""
        more, site = more or {}, self.site
        native = site.mpi != "mpirun"
        rank = site.scheduler.rank if native else "OMPI_COMM_WORLD_RANK"
        start = self._entered(("bash", "-c", RANKED % rank if own_files else ONE))
        if native:
            before = self._spread(self._spread_over(count, mpi=site.mpi))
        else:
            own = (f"{OWN}{name}" for name in self.chosen)
            before = self._mpirun(count, (*self.names, *own, *more, "SLIPWAY_COMMAND"))
        return self._step((*before, *start), command, ("stdout.txt", "stderr.txt"), more, scheduler=True)

    def script(self, block: Mapping[str, Any], arguments: str = "commandLineArgs") -> str:
        """Shell text that runs the block's Python script."""
        interpreter, script = block.get("pythonInterpreterPath") or "python", block["pythonScriptFilePath"]
        path = f"./{script}" if script.startswith("-") else script  # it would be an option
        return self.command((interpreter, path), block.get(arguments))

    def command(self, words: tuple[str, ...], arguments: str | None) -> str:
        """Shell text of a command. Its arguments are shell text already, by the job's author."""
        names = (*self.names, *self.chosen)
        return " ".join([*(quote(word, names) for word in words), arguments or ""]).rstrip()

    def node_of(self, index: int, count: int) -> int:
        """The node of a process: the nodes are filled in blocks, from the first one on."""
        return index // self._each(count)

    def slots(self, properties: Mapping[str, Any]) -> int:
        """The largest number of processes on one node."""
        blocks = (value for name, value in properties.items() if name.endswith("Settings"))
        counts = [block["processCount"] for block in blocks if block and block.get("processCount")]
        return self._each(max(counts, default=self.nodes))

    def ending(self) -> list[list[str]]:
        """The commands that end the job's containers, which its processes may outlive outside them."""
        end = self.site.container.end if self.site.container else ()
        return [[*self._spread_to_all(), *end]] if end else []

    def cleanup(self) -> list[list[str]]:
        """The commands that remove the nodes' directories, and the program's own output if it is empty."""
        to_all = self._spread_to_all()
        return [
            *([[*to_all, *self._mounter("unmount")]] if self.site.mounter else []),
            [*to_all, "bash", "-c", CLEANUP, "{SLIPWAY_TEMP}"],
            ["find", self.site.output, "-maxdepth", "0", "-empty", "-delete"],
        ]

    def _each(self, count: int) -> int:
        return -(-count // self.nodes)

    def _spread_over(self, count: int, mpi: str = "") -> Spread:
        return Spread(-(-count // self._each(count)), count, mpi=mpi)

    def _mpirun(self, count: int, names: tuple[str, ...]) -> tuple[str, ...]:
        exported = [word for name in dict.fromkeys(names) for word in ("-x", name)]
        spread = ("--map-by", f"ppr:{self._each(count)}:node:oversubscribe", "-n", str(count))
        options = ("--allow-run-as-root", "--bind-to", "none", "--hostfile", "{AZ_BATCHAI_MPI_HOST_FILE}")
        return ("mpirun", *options, *spread, *exported)

    def _spread(self, spread: Spread, *, host: bool = False) -> tuple[str, ...]:
        container = None if host else self.site.container
        return (*self.site.scheduler.spread(spread), *(container.options if container else ()))

    def _entered(self, start: tuple[str, ...]) -> tuple[str, ...]:
        return (*(self.site.container.words if self.site.container else ()), *start)

    def _step(
        self,
        argv: tuple[str, ...],
        command: str,
        files: tuple[str, str],
        more: Mapping[str, str] | None = None,
        *,
        service: bool = False,
        scheduler: bool = False,
    ) -> Step:
        return {
            "argv": list(argv),
            "files": list(files),
            "environment": [list(pair) for pair in (more or {}).items()],
            "literal": {"SLIPWAY_COMMAND": command},
            "service": service,
            "isFar": bool(self.site.scheduler.ask_far) and argv[0] == self._spread(Spread(1, 1))[0],
            "scheduler": scheduler or argv[0] not in ("bash", *self._entered(())[:1]),
        }
