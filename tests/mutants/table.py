"""Small wrong changes by hand, over all rooms: each has to be noticed by the fast tests of its room."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """A text that stands once in a file, and what stands there instead."""

    file: str
    old: str
    new: str


#: By the beginning of a file's path, the longest one: what has to notice, as `make test` runs it.
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
    "shared/snapshots/": "tests/unit/snapshots tests/unit/engines/node",
    "shared/login.py": "tests/unit/test_login.py",
    "shared/setting_table/": "tests/unit/setting_table tests/unit/test_settings.py",
    "shared/connections/": "tests/unit/connections tests/slow/connections",
    "functions/": "tests/unit/functions",
    "slipway/": "tests/unit/slipway tests/slow/slipway",
    "confined/": "tests/unit/confined tests/slow/confined",
    "local/": "tests/unit/local tests/slow/local",
    "local/batchai/": "tests/unit/local tests/contract/emulator",
    "local/azurebatch/": "tests/unit/local tests/slow/local/azurebatch tests/contract/azurebatch",
    "local/host/": "tests/unit/local tests/contract/host",
}

#: All of them, by file.
CHANGES = (
    Change(
        "shared/intake/desk/deployment_limits.py",
        "most = policy.max_hold if of_team is None else min(policy.max_hold, of_team)",
        "most = policy.max_hold if of_team is None else max(policy.max_hold, of_team)",
    ),
    Change(
        "shared/lifecycle/hold/find_held.py",
        "min(held.until, ports.clock() + hold_of(job))",
        "held.until",
    ),
    Change(
        "shared/lifecycle/hold/own_end.py",
        "job.hold is None or job.spent.user < job.retry.user",
        "job.hold is None",
    ),
    Change(
        "shared/lifecycle/packages.py",
        'return f"team-{code}" if code and users == {job.team} and await _is_alone(ports, job) else ""',
        'return f"team-{code}" if code and job.team in users and await _is_alone(ports, job) else ""',
    ),
    Change("shared/engines/node/packages/reuse.py", "return is_closed and state", "return state"),
    Change("shared/engines/node/packages/reuse.py", "elif line and not _PLAIN.match(line):", "elif False:"),
    Change(
        "shared/lifecycle/dispatch.py",
        "stored = await _start_attempt(ports, permit.stored)",
        "stored = await _start_attempt(ports, await ports.ledger.get(permit.stored.job.id) or permit.stored)",
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
    Change("confined/__init__.py", "if not stat.S_ISDIR(os.fstat(fd).st_mode):", "if False:"),
    Change(
        "confined/names.py",
        "window.after <= after < window.names[-1]",
        "window.after <= after <= window.names[-1]",
    ),
    Change(
        "functions/allowance.py",
        "if self.in_use + count > self._most:",
        "if self.in_use + count >= self._most:",
    ),
    Change("functions/openapi/operation.py", "if name not in parameters:", "if name in parameters:"),
    Change("functions/openapi/operation.py", "if name.lower() in _OF_THE_HOST:", "if name in _OF_THE_HOST:"),
    Change(
        "shared/engines/node/proof.py",
        "if match is None or not self._fits(",
        "if match is None or self._fits(",
    ),
    Change(
        "shared/engines/node/code.py",
        '(size, digest.hexdigest()) != (order["bytes"], order["sha256"])',
        'size != order["bytes"]',
    ),
    Change("shared/engines/node/code.py", 'part in ("", ".", "..") or path.is_symlink()', 'part == ".."'),
    Change("shared/engines/node/unpack.py", "    tree.check_links()\n", ""),
    Change("shared/engines/node/unpack.py", 'elif self._kinds[path] != "folder":', "elif False:"),
    Change("shared/engines/node/proof.py", 'f"{self._place}{name}\\n"', 'f"{name}\\n"'),
    Change(
        "shared/engines/node/proof.py", "lines = text[match.end() :] if match", "lines = text[2:] if match"
    ),
    Change(
        "shared/engines/node/turns.py",
        "if content:\n                    return following if",
        "if True:\n                    return following if",
    ),
    Change(
        "shared/engines/node/claim.py",
        "self._attempt.sibling(name, Proof(keys))",
        "self._attempt.sibling(name, Proof())",
    ),
    Change(
        "shared/engines/proofs.py",
        "UNPROVEN not in last_turn and UNPROVEN not in record",
        "UNPROVEN not in last_turn",
    ),
    Change("shared/engines/proofs.py", "return {UNPROVEN: True}", "return {}"),
    Change("shared/engines/launch/plan.py", "one.reason, *order.keys.get(token, ())]", "one.reason]"),
    Change("shared/engines/batch/engine.py", "Records(cluster, proofs)", "Records(cluster)"),
    Change("shared/engines/batch/attempts.py", "self._records.proofs.with_keys(order)", "order"),
    Change(
        "local/azurebatch/run/schedule.py",
        "if len(fitting) >= task.instances:",
        "if len(fitting) > task.instances:",
    ),
    Change(
        "local/batchai/api/wire.py", "if len(entries) > start + most:", "if len(entries) >= start + most:"
    ),
    Change("local/batchai/files/outputs.py", "if real is None:", "if real is not None:"),
    Change("local/batchai/state/scheduler.py", "if surplus < 0:", "if surplus > 0:"),
    Change(
        "local/event_grid/blob_created.py", "if not line.startswith(_MARK):", "if line.startswith(_MARK):"
    ),
    Change("local/host/routes.py", "if default is not None:", "if default is None:"),
    Change("local/host/triggers/queue.py", 'if body.kind != "string" or not', "if not"),
    Change(
        "local/kubernetes/kubelet/status.py",
        "if self.code == 0 and not self.pod_reason else",
        "if self.code == 0 else",
    ),
    Change("local/nodes/docker.py", 'or first == "localhost"', ""),
    Change("local/setup/install.py", "if not _azurite_is_ready():", "if _azurite_is_ready():"),
    Change("local/slurm/programs.py", "if version >= (23, 11):", "if version > (23, 11):"),
    Change(
        "shared/adapters/storage/lists/listing.py",
        "key if going or key < ready[-1] else None",
        "key if going else None",
    ),
    Change("shared/adapters/storage/wire/rest.py", "headers.get(_ID, own_id) != own_id", "False"),
    Change(
        "shared/adapters/webhook/addresses.py",
        "(allow_loopback and address == _LOOPBACK_V6)",
        "(address == _LOOPBACK_V6)",
    ),
    Change("shared/connections/connector.py", "len(self._abandoned) < self._most", "True"),
    Change("shared/connections/transport.py", "name != request.headers.get(_ID, name)", "False"),
    Change("shared/core/notify/schedule.py", "if tries < 1:", "if tries < 0:"),
    Change(
        "shared/core/pacing/breaker.py",
        "if one.failures >= self._failures else None",
        "if one.failures > self._failures else None",
    ),
    Change("shared/admission/line.py", "len(chosen) < room:", "len(chosen) <= room:"),
    Change(
        "shared/delivery/receipt_files.py", "if stored is None or stored.job.archived:", "if stored is None:"
    ),
    Change(
        "shared/delivery/receipt.py",
        "entry.state is JobState.ACCEPTED and entry.attempt in by_number",
        "entry.attempt in by_number",
    ),
    Change("shared/delivery/try_delivery.py", 'if posted.outcome == "gone":', 'if posted.outcome != "gone":'),
    Change(
        "shared/delivery/try_delivery.py",
        'posted.outcome in ("gone", "refused")',
        'posted.outcome in ("gone",)',
    ),
    Change(
        "shared/engines/batch/attempts.py",
        "if task is not None and task.token == target.token:",
        "if task is not None:",
    ),
    Change(
        "shared/engines/batch/situation.py",
        'if task.task.get("state") != "active":',
        'if task.task.get("state") == "active":',
    ),
    Change("shared/engines/batch/job/request.py", "    if nodes > 1:", "    if nodes >= 1:"),
    Change(
        "shared/engines/batch/wire/client.py",
        "if answer.status >= 400 and answer.code not in accept:",
        "if answer.status >= 400:",
    ),
    Change("shared/engines/batchai/wait_reasons.py", "observation.state is not JobState.QUEUED or", ""),
    Change(
        "shared/engines/batchai/translation.py",
        'variable.get("name") == TOKEN',
        'variable.get("name") != TOKEN',
    ),
    Change("shared/engines/kubernetes/wire/errors.py", "if status == 409:", "if status == 410:"),
    Change(
        "shared/engines/kubernetes/translation/ends.py",
        "if any((_terminated(one) or",
        "if all((_terminated(one) or",
    ),
    Change("shared/engines/node/spread.py", "if len(agents) < count:", "if len(agents) <= count:"),
    Change("shared/engines/slurm/ended/leftovers.py", ">= _JOBS", "> _JOBS"),
    Change("shared/engines/launch/size.py", "if size > _LARGEST:", "if False:"),
    Change(
        "shared/engines/slurm/job/chosen.py",
        "mebibytes(memory) > listing.memory",
        "mebibytes(memory) < listing.memory",
    ),
    Change("shared/engines/slurm/translation.py", "if word in states:", "if word not in states:"),
    Change(
        "shared/intake/arrive.py",
        "if container != ports.policy.drop_container:",
        "if container == ports.policy.drop_container:",
    ),
    Change(
        "shared/intake/upkeep.py", "return _SLACK * every if last.whole else 0.0", "return _SLACK * every"
    ),
    Change("shared/intake/drops/folder.py", "if pattern is not None:", "if pattern is None:"),
    Change("shared/intake/drops/drop.py", "run is None or await is_ordered(ports, folder):", "run is None:"),
    Change(
        "shared/intake/drops/drop.py",
        "await ports.joint.run(folder, lambda: _one_look(ports, folder, door))",
        "await _one_look(ports, folder, door)",
    ),
    Change(
        "shared/intake/drops/late.py", "blob.modified > job.drop.newest]", "blob.modified >= job.drop.newest]"
    ),
    Change("shared/intake/drops/drop.py", " and all(one.is_done for one in results)", ""),
    Change("shared/intake/drops/named_folder.py", "    if is_readable(path):", "    if True:"),
    Change(
        "shared/intake/drops/named_folder.py",
        "whole = of_teams(every, is_readable)",
        "whole = every",
    ),
    Change("shared/intake/drops/needed_files.py", "= not own and await", "= await"),
    Change(
        "shared/intake/code_door.py", "if await off_loop(len(data), _digest_of, data) != sha256:", "if False:"
    ),
    Change("shared/intake/message.py", " or is_bare_job(document):", ":"),
    Change("shared/intake/reading/wakeups.py", "len(job_ids) > MOST_ENDED", "len(job_ids) >= MOST_ENDED"),
    Change("shared/jobspec/checks/lint.py", 'one.severity == "warning" and', ""),
    Change(
        "shared/jobspec/checks/rules/platform.py",
        "if any(address in network for network in _V6):",
        "if all(address in network for network in _V6):",
    ),
    Change("shared/jobspec/reader/reading.py", "if depth > max_depth:", "if depth >= max_depth:"),
    Change(
        "shared/lifecycle/archive.py",
        "if cluster not in ports.engines.clusters:",
        "if cluster in ports.engines.clusters:",
    ),
    Change("shared/lifecycle/push.py", "observation is None or target != asked_for", "observation is None"),
    Change(
        "shared/lifecycle/teams/lending.py",
        "job.claim is None or not claim.is_of(job.claim)",
        "job.claim is None",
    ),
    Change("shared/operate/files/metrics.py", "if not _LEAST <= most <= _MOST:", "if not _LEAST <= most:"),
    Change("shared/operate/files/series.py", "if not begins and start == 0:", "if start == 0:"),
    Change("shared/operate/files/series.py", "if stop <= start:", "if stop < start:"),
    Change("shared/setting_table/functions_off.py", "if scans and settings.get(", "if settings.get("),
    Change("shared/snapshots/pack.py", "if data.read(1):", "if False:"),
    Change(
        "shared/snapshots/pack.py",
        "(key := order(name)) <= self._last:",
        "(key := order(name)) < self._last:",
    ),
    Change("shared/snapshots/grammar.py", "if self._remaining < 0:", "if False:"),
    Change("shared/snapshots/grammar.py", 'OTHERS = "surrogateescape"', 'OTHERS = "replace"'),
    Change("shared/snapshots/grammar.py", "if size > _LONG:", "if False:"),
    Change("shared/snapshots/grammar.py", "if kind in heads or not", "if not"),
    Change("shared/snapshots/grammar.py", "if kind == _FOLDER and not int(digits):", "if kind == _FOLDER:"),
    Change("shared/snapshots/grammar.py", "if unzip.unused_data or archive.read(1):", "if False:"),
    Change(
        "slipway/client/snapshot/links.py", 'left out" if is_left_out(inside) else', 'left out" if False else'
    ),
    Change("slipway/client/snapshot/links.py", "    while place.is_symlink():", "    while False:"),
    Change(
        "slipway/client/snapshot/links.py", 'not {"secret", "usual"}.isdisjoint', 'not {"secret"}.isdisjoint'
    ),
    Change(
        "slipway/client/snapshot/pack.py",
        "if (after.st_size, after.st_mtime_ns) != (file.size, file.modified):",
        "if after.st_size != file.size:",
    ),
    Change(
        "slipway/client/snapshot/unpack.py",
        'inside = climbs <= link.name.count("/") and',
        "inside = True and",
    ),
    Change("slipway/client/snapshot/send.py", "return number > 0", "return False"),
    Change("slipway/client/snapshot/fetch.py", "if digest.hexdigest() != sha256:", "if False:"),
    Change("slipway/client/files/names.py", "if first == name:", "if first != name:"),
    Change("slipway/client/files/walk.py", "if not may_be_above:", "if may_be_above:"),
    Change(
        "slipway/client/jobs/selection.py", "if self.file and (self.rank or self.stream):", "if self.file:"
    ),
)
