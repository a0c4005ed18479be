"""Small wrong changes by hand, over all rooms: each has to be noticed by the fast tests of its room."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """A text that stands once in a file, and what stands there instead."""

    file: str
    old: str
    new: str


#: By the beginning of a file's path, the longest one: the tests that have to notice, without `--all`.
NOTICED_BY = {
    "shared/intake/": "tests/unit/intake",
    "shared/lifecycle/": "tests/unit/lifecycle",
    "shared/admission/": "tests/unit/admission tests/unit/lifecycle/waiting",
    "shared/delivery/": "tests/unit/delivery tests/slow/delivery",
    "shared/operate/": "tests/unit/operate",
    "shared/core/": "tests/unit/core tests/unit/functions",
    "shared/jobspec/": "tests/unit/jobspec",
    "shared/engines/batchai/": "tests/unit/engines/batchai",
    "shared/engines/batch/": "tests/unit/engines/batch",
    "shared/engines/slurm/": "tests/unit/engines/slurm",
    "shared/engines/kubernetes/": "tests/unit/engines/kubernetes",
    "shared/engines/": "tests/unit/engines tests/slow/engines",
    "shared/adapters/": "tests/unit/adapters",
    "shared/login.py": "tests/unit/test_login.py",
    "shared/setting/": "tests/unit/setting tests/unit/test_settings.py",
    "shared/connections/": "tests/unit/connections tests/slow/connections",
    "functions/": "tests/unit/functions",
    "slipway/": "tests/unit/slipway tests/slow/slipway",
    "fence/": "tests/unit/fence tests/slow/fence",
    "local/": "tests/unit/local tests/slow/local",
    "local/batchai/": "tests/unit/local tests/contract/emulator",
    "local/azurebatch/": "tests/unit/local tests/slow/local/azurebatch tests/contract/azurebatch",
    "local/host/": "tests/unit/local tests/contract/host",
}

_INTAKE = (
    Change("shared/intake/reading/wakeups.py", "len(job_ids) > MOST_ENDED", "len(job_ids) >= MOST_ENDED"),
    Change("shared/intake/reading/event.py", "if event is None or not event.type:", "if event is None:"),
    Change(
        "shared/intake/request_door.py", "keyed=key is not None and drop is None", "keyed=key is not None"
    ),
    Change("shared/intake/drops/folder.py", "if pattern is not None:", "if pattern is None:"),
)
_LIFECYCLE = (
    Change(
        "shared/lifecycle/dispatch.py",
        "stored = await _start_attempt(ports, permit.stored)",
        "stored = await _start_attempt(ports, await ports.ledger.get(permit.stored.job.id) or permit.stored)",
    ),
    Change("shared/lifecycle/push.py", "observation is None or target != asked_for", "observation is None"),
    Change(
        "shared/lifecycle/carry_out.py",
        "not in (JobState.QUEUED, JobState.RUNNING)",
        "not in (JobState.QUEUED,)",
    ),
    Change(
        "shared/admission/gates.py",
        "row.claim.is_of(world.claims.get(_id(row)))",
        "_id(row) in world.claims",
    ),
    Change("shared/admission/gates.py", "else row.unmet)", "else ())"),
    Change("shared/admission/slots.py", "if _is_crowded(ports, job_id) else None", "if False else None"),
    Change(
        "shared/lifecycle/job_sweeps/seats.py",
        "for index in sweep.seats}",
        "for index in sweep.open}",
    ),
)
_DELIVERY = (
    Change("shared/delivery/try_delivery.py", 'if posted.outcome == "gone":', 'if posted.outcome != "gone":'),
    Change(
        "shared/delivery/try_delivery.py",
        'posted.outcome in ("gone", "refused")',
        'posted.outcome in ("gone",)',
    ),
    Change(
        "shared/delivery/receipt.py",
        "entry.state is JobState.ACCEPTED and entry.attempt in by_number",
        "entry.attempt in by_number",
    ),
    Change("shared/delivery/answers.py", "if stored is None or stored.job.archived:", "if stored is None:"),
)
_OPERATE = (
    Change(
        "shared/operate/receivers.py",
        'delivery.webhook and delivery.state != "delivered"',
        "delivery.webhook",
    ),
    Change("shared/operate/files/series.py", "if stop <= start:", "if stop < start:"),
    Change(
        "shared/operate/files/zipped.py",
        "if number > self.bounds.folders:",
        "if number >= self.bounds.folders:",
    ),
    Change("shared/operate/audit.py", "if row.state not in AT_WORK and", "if"),
)
_CORE = (
    Change("shared/core/caller.py", "job.source != self.source and not self.teams", "not self.teams"),
    Change("shared/core/account.py", "container in own or container.startswith", "container.startswith"),
    Change("shared/core/teams/use.py", "gpus=total.gpus - claim.gpus", "gpus=total.gpus"),
    Change(
        "shared/core/teams/document.py",
        "self.budget is not None or self.job_cost is not None",
        "self.budget is not None",
    ),
    Change(
        "shared/core/notify/secret_rights.py",
        '(one.get("secret") or DEFAULT) == name',
        'one.get("secret") == name',
    ),
)
_JOBSPEC = (
    Change("shared/jobspec/reader/reading.py", "if depth > max_depth:", "if depth >= max_depth:"),
    Change(
        "shared/jobspec/checks/wrapper.py",
        'not document.keys() & {"spec", "specBlob"}',
        'not document.keys() & {"spec"}',
    ),
    Change("shared/jobspec/checks/lint.py", 'one.severity == "warning" and', ""),
    Change(
        "shared/jobspec/problems/fix.py",
        'self.kind == "nest" and entry.key is not None',
        'self.kind == "nest"',
    ),
)
_ENGINES = (
    Change(
        "shared/engines/batchai/words.py", 'variable.get("name") == TOKEN', 'variable.get("name") != TOKEN'
    ),
    Change(
        "shared/engines/batchai/engine.py",
        "understood is not None and not understood.state.terminal",
        "understood is not None",
    ),
    Change("shared/engines/batchai/waits.py", "observation.state is not JobState.QUEUED or", ""),
    Change("shared/engines/batch/account.py", "if status != 200 or not", "if not"),
    Change("shared/engines/batch/job/request.py", "    if nodes > 1:", "    if nodes >= 1:"),
    Change("shared/engines/batch/storage/records.py", 'last_turn.get("token") != target.token or', ""),
    Change("shared/engines/slurm/words.py", "if word in states:", "if word not in states:"),
    Change("shared/engines/slurm/waits.py", "passes=word in _PASSING", "passes=False"),
    Change("shared/engines/slurm/ended/leftovers.py", ">= _JOBS", "> _JOBS"),
    Change("shared/engines/slurm/jobs.py", "if copy.user == self._cluster.user:", "if True:"),
    Change(
        "shared/engines/kubernetes/words/ends.py",
        'record is not None and record.get("final")',
        "record is not None",
    ),
    Change("shared/engines/kubernetes/wire/errors.py", "if status == 409:", "if status == 410:"),
    Change("shared/engines/kubernetes/sweep.py", "return is_fresh and", "return"),
    Change("shared/engines/node/spread.py", "if len(agents) < count:", "if len(agents) <= count:"),
    Change("shared/engines/launch/steps.py", "if self.nodes > 1:", "if self.nodes > 2:"),
    Change(
        "shared/engines/launch/volumes.py",
        'kind == "azureFileShares" and path is None',
        'kind == "azureFileShares"',
    ),
)
_ADAPTERS = (
    Change("shared/adapters/storage/wire/rest.py", "headers.get(_ID, own_id) != own_id", "False"),
    Change(
        "shared/adapters/storage/lists/listing.py",
        "key if going or key < ready[-1] else None",
        "key if going else None",
    ),
    Change("shared/adapters/storage/finished_rows.py", "if record is None or waiting:", "if record is None:"),
    Change("shared/login.py", "if now < self._renew_at:", "if now <= self._renew_at + 60:"),
    Change("shared/setting/crontab.py", "if step is not None and int(step) == 0", "if step is None"),
    Change(
        "shared/setting/values.py",
        'if text not in ("true", "false", "1", "0"):',
        'if text not in ("true", "false", "1"):',
    ),
    Change("shared/connections/connector.py", "len(self._abandoned) < self._most", "True"),
    Change("shared/connections/transport.py", "name != request.headers.get(_ID, name)", "False"),
)
_DOORS = (
    Change("functions/activity.py", "or not caller().id", ""),
    Change("functions/query.py", "if name not in parameters:", "if name in parameters:"),
    Change("functions/document.py", "if not any(name in req", "if not all(name in req"),
    Change("slipway/client/curves.py", "not self._names or any(", "any("),
    Change("slipway/commands/output/log.py", "if self.file and self.rank:", "if self.file:"),
    Change("slipway/commands/running/foresee.py", 'if body.get("verdict") != "rejected":', "if True:"),
    Change(
        "slipway/commands/running/drop.py",
        "one in own or (one in again and is_rejected(one))",
        "one in own or one in again",
    ),
    Change(
        "fence/names.py",
        "window.after <= after < window.names[-1]",
        "window.after <= after <= window.names[-1]",
    ),
    Change("fence/__init__.py", "if not stat.S_ISDIR(os.fstat(fd).st_mode):", "if False:"),
)
_LOCAL = (
    Change(
        "local/batchai/api/wire.py", "if len(entries) > start + most:", "if len(entries) >= start + most:"
    ),
    Change("local/batchai/files/outputs.py", "if real is None:", "if real is not None:"),
    Change(
        "local/azurebatch/run/scaler.py",
        "while history[0][0] < now - _HISTORY:",
        "while history[0][0] > now:",
    ),
    Change("local/azurebatch/api/app.py", "if error.status in (429, 503):", "if error.status in (503,):"),
    Change("local/nodes/docker.py", 'or first == "localhost"', ""),
    Change(
        "local/nodes/mounts.py", "if volume.account != account.name:", "if volume.account == account.name:"
    ),
    Change("local/host/triggers/queue.py", 'if body.kind != "string" or not', "if not"),
    Change("local/host/routes.py", "if default is not None:", "if default is None:"),
    Change("local/bicep/policy.py", "if text and _SECRET.search(member):", "if _SECRET.search(member):"),
    Change("local/event_grid/topic.py", "if write.container != container or write", "if write"),
    Change("local/setup/install.py", "if not _azurite_is_ready():", "if _azurite_is_ready():"),
    Change("local/slurm/programs.py", "if version >= (23, 11):", "if version > (23, 11):"),
)
#: All of them.
CHANGES = (
    *_INTAKE, *_LIFECYCLE, *_DELIVERY, *_OPERATE, *_CORE, *_JOBSPEC, *_ENGINES, *_ADAPTERS, *_DOORS, *_LOCAL,
)  # fmt: skip
