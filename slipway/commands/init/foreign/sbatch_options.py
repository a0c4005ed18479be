"""The options of `sbatch`, by its manual page of Slurm 26.05, and the rule of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from slipway.commands.init.foreign import common, sbatch_rules
from slipway.commands.init.foreign.draft import Rule, absent
from slipway.commands.init.foreign.sbatch_rules import ON_NODES, TASKS

Value = Literal["needed", "possible", "none"]
_OPTIONS = 'slipway.json: "resources": {"options": …}, where the cluster allows it'
_OF_SUBMITTING = "is of the command sbatch, not of the job"
_LOG = "slipway log JOB shows it; slipway download JOB has its files"
_LATER = "a timer of yours calls slipway run --detach"
_MAIL = "name a webhook: slipway run --notify URL"
_CONTAINER = "name an image: slipway run --image NAME"
_LIMIT = "the limit is the job's own: slipway run --time LENGTH"


@dataclass(frozen=True)
class Option:
    """An option: its rule, its letter, and whether a value follows."""

    rule: Rule
    letter: str = ""
    value: Value = "needed"


def _all(names: str, text: str, value: Value = "needed") -> dict[str, Option]:
    """Options without a counterpart, as `name` or `name/letter`."""
    words = (one.partition("/") for one in names.split())
    return {name: Option(absent(text), letter, value) for name, _, letter in words}


OPTIONS: Mapping[str, Option] = {
    "account": Option(sbatch_rules.resource("account"), "A"),
    "comment": Option(sbatch_rules.comment),
    "constraint": Option(sbatch_rules.resource("constraint"), "C"),
    "cpus-per-task": Option(sbatch_rules.cpus, "c"),
    "exclusive": Option(sbatch_rules.exclusive, value="possible"),
    "export": Option(sbatch_rules.export),
    "gpus": Option(sbatch_rules.gpus_of_job, "G"),
    "gpus-per-node": Option(sbatch_rules.gpus_of_node),
    "gres": Option(sbatch_rules.gres),
    "job-name": Option(common.name, "J"),
    "mem": Option(sbatch_rules.memory),
    "nodes": Option(sbatch_rules.nodes, "N"),
    "no-requeue": Option(sbatch_rules.no_retry, value="none"),
    "ntasks-per-node": Option(sbatch_rules.tasks_of_node),
    "partition": Option(sbatch_rules.resource("partition"), "p"),
    "qos": Option(sbatch_rules.resource("qos"), "q"),
    "reservation": Option(sbatch_rules.resource("reservation")),
    "time": Option(sbatch_rules.time, "t"),
    **_all("array/a", "a sweep: slipway run --sweep NAME=1,2,3; its value replaces {NAME} in the arguments"),
    **_all("dependency/d", "slipway run --after JOB, or --after-failure JOB"),
    **_all("kill-on-invalid-dep", "a job that can never start is cancelled"),
    **_all("begin/b deadline", _LATER),
    **_all("hold/H", "submit it when it may start", "none"),
    **_all("time-min", _LIMIT),
    **_all("requeue", "a job whose node is lost starts again by itself, three times", "possible"),
    **_all("chdir/D", "the script runs in its folder, which is sent; write `cd` into it"),
    **_all("output/o error/e open-mode", _LOG),
    **_all("input/i", "write `< FILE` into the script"),
    **_all("mail-type mail-user", _MAIL),
    **_all("signal", "a job gets SIGTERM before it ends: docs/how-to/save-before-the-end.md"),
    **_all("priority", common.PRIORITY),
    **_all("nice", common.PRIORITY, "possible"),
    **_all("clusters/M cluster-constraint", "slipway run --cluster NAME"),
    **_all("container container-id runtime", _CONTAINER),
    **_all("export-file", "slipway run --env NAME for each variable"),
    **_all("get-user-env", "slipway run --env NAME for each variable", "possible"),
    **_all("gid uid", "the job runs as the user of its cluster"),
    **_all("wrap", "write the command into the script"),
    **_all("ntasks/n ntasks-per-core ntasks-per-gpu ntasks-per-socket", TASKS),
    **_all("overcommit/O", TASKS, "none"),
    **_all("distribution/m", TASKS),
    **_all("cores-per-socket sockets-per-node threads-per-core thread-spec core-spec/S", ON_NODES),
    **_all("extra-node-info/B cpus-per-gpu gpus-per-socket gpus-per-task tres-per-task", ON_NODES),
    **_all("mem-per-cpu mem-per-gpu mem-update mem-bind cpu-freq gpu-freq gpu-bind tres-bind", ON_NODES),
    **_all("gres-flags hint mincpus tmp", ON_NODES),
    **_all("oversubscribe/s", ON_NODES, "none"),
    **_all("batch bb bbf acctg-freq delay-boot exclude/x extra licenses/L mcs-label network", _OPTIONS),
    **_all("nodefile/F nodelist/w prefer profile resources segment switches wckey wait-all-nodes", _OPTIONS),
    **_all("consolidate-segments contiguous reboot spread-job spread-segments", _OPTIONS, "none"),
    **_all("stepmgr use-min-nodes", _OPTIONS, "none"),
    **_all("no-kill/k oom-kill-step propagate resv-ports", _OPTIONS, "possible"),
    **_all("help/h ignore-pbs parsable quiet/Q test-only usage verbose/v version/V", _OF_SUBMITTING, "none"),
    **_all("wait/W", "slipway wait JOB", "none"),
}
