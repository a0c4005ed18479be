"""spans: reads how long a running job has done nothing, from the files beside its log.

The nodes of a job report their use in `usage.jsonl`. That file shows that the others are current, too: a node
or a share that hangs makes no log silent. All times are those of the files, so only durations count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.core.engine import Engine, OutputFile
from shared.core.job import Job
from shared.core.ports import Ports
from shared.core.relations.contents import IdleCause
from shared.lifecycle.idle.use import LONGEST_LINE, Span, Use, joined, use_of

#: Bytes of one call, and calls that read one file: the end of it is read first, and mostly enough.
_CHUNK, _READS = 1 << 19, 4
#: Bytes of a line and of each GPU in it, at most, and seconds between the first lines of a node.
_LINE, _OF_GPU, _EVERY = 64, 48, 15
#: How much older the last report of a node may be than it would be by our clock.
_FRESH = timedelta(minutes=5)
_DIRECTORY, _USAGE = "stdouterr", "usage.jsonl"
_PRINTED = re.compile(r"std(?:out|err)(?!-job_prep)[\w.-]{0,50}\.txt", re.ASCII)


async def idle_spans(ports: Ports, job: Job) -> Mapping[IdleCause, Span]:
    """For how long each sign of work has been missing; one that cannot be judged is left out.

    Costs a list of files and, with a report of the nodes among them, one to four reads; of many nodes as many
    as what they report in the time that matters. Raises EngineError.
    """
    target, began = job.fixed_target, job.started
    engine = ports.engines.get(target.engine)
    files = await engine.files(target, _DIRECTORY)
    usage = next((one for one in files if one.name == _USAGE and one.size), None)
    if usage is None or began is None or any(one.left_out and not one.kind for one in files):
        return {}
    longest = max(ports.policy.idle_gpus, ports.policy.idle_log) + ports.policy.idle_grace
    use = await _read(engine, job, usage.size or 0, ports.clock(), longest)
    latest = use.last_seen(job.nodes)
    if latest is None or abs(ports.clock() - latest) > _FRESH + use.longest_wait(job.nodes):
        return {}
    spans: dict[IdleCause, Span] = {}
    if ports.policy.idle_gpus and (gpus := use.idle_gpus(job.nodes, job.gpus)):
        spans["gpus"] = _of_this_run(gpus, began)
    if ports.policy.idle_log and (log := _silence(files, usage)):
        spans["log"] = _of_this_run(log, began)
    return spans


async def _read(engine: Engine, job: Job, size: int, now: datetime, seconds: float) -> Use:
    """The end of the file, as far back as it matters."""
    since = now - timedelta(seconds=seconds)
    pieces, start, begun_line, use = list[Use](), size, b"", Use({})
    # Once enough is read, nothing more is.
    most = _most_reads(job, seconds)
    while start and len(pieces) < most:
        # Each piece is parsed once, and what is there by then is judged more seldom the more that is.
        for _ in range(min(max(1, len(pieces) // 2), most - len(pieces))):
            stop, start = start, max(0, start - _CHUNK)
            chunk = await engine.read(job.fixed_target, _DIRECTORY, _USAGE, start, stop - start)
            text = chunk.data + begun_line
            if start:
                first, _, text = text.partition(b"\n")
                begun_line = first[-LONGEST_LINE - 1 :]
            pieces.insert(0, use_of(text))
            if not start:
                break
        use = joined(pieces)
        if use.covers(since, job.nodes):
            break
    return use


def _most_reads(job: Job, seconds: float) -> int:
    """How many pieces all nodes may have filled in that time, with long lines that come often."""
    line = _LINE + _OF_GPU * math.ceil(job.gpus / max(1, job.nodes))
    return max(_READS, math.ceil(job.nodes * line * (seconds / _EVERY + 1) / _CHUNK))


def _silence(files: Sequence[OutputFile], usage: OutputFile) -> Span | None:
    """How long nothing was added to what the job prints; None where the files do not say."""
    printed = [one.modified for one in files if _PRINTED.fullmatch(one.name) and not one.left_out]
    times = [at for at in printed if at is not None]
    if not times or len(times) < len(printed) or usage.modified is None:
        return None
    return Span(min(max(times), usage.modified), usage.modified)


def _of_this_run(span: Span, began: datetime) -> Span:
    """The part of it since the job began; what ran before in the same place does not count."""
    return Span(min(max(span.since, began), span.until), span.until)
