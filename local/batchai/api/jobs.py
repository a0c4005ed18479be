"""Operations on jobs."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

from aiohttp import web

from local.batchai.api.bodies import JOB
from local.batchai.api.deletion import delete
from local.batchai.api.existing import check_same
from local.batchai.api.operations import accepted
from local.batchai.api.rules import WEEK, job_problems
from local.batchai.api.servers import check_servers
from local.batchai.api.shapes import seconds
from local.batchai.api.views import job_view
from local.batchai.api.wire import Call, one
from local.batchai.api.workspaces import experiment_of, refuse_while_deleting
from local.batchai.files.outputs import Page, listing
from local.batchai.state import ids
from local.batchai.state.errors import all_of, invalid, not_found
from local.batchai.state.models import Job
from local.nodes.containers import NO_RUNTIME
from local.nodes.docker import answering


def job_of(call: Call) -> Job:
    """The job of the call. Raises ArmError."""
    experiment_of(call)
    job = call.store.jobs.get(ids.job(call.names))
    if job is None:
        raise not_found("job", call.names["job"])
    return job


async def put_job(call: Call) -> web.Response:
    """Put it into the queue. Repeating the request changes nothing; another one is a conflict."""
    refuse_while_deleting(experiment_of(call))
    document: dict[str, Any] = (await call.body(JOB))["properties"]
    settings = call.emulator.settings
    if problems := job_problems(document, settings.unmanaged_mounts is not None):
        raise all_of(problems)
    if settings.containers == "require" and "containerSettings" in document and not await answering():
        raise invalid(NO_RUNTIME, "/properties/containerSettings", "ContainersNotSupported")
    existing = call.store.jobs.get(ids.job(call.names))
    if existing is not None:
        check_same(existing, document, "Choose another name, or delete the job first.")
        return _response(existing)
    cluster = call.store.clusters.get(document["cluster"]["id"])
    if cluster is None or cluster.deleting:
        name = ids.name(document["cluster"]["id"])
        raise invalid(
            f"The specified cluster {name} is not found", "/properties/cluster/id", "ClusterNotFound"
        )
    check_servers(call, document.get("mountVolumes", {}), "/properties/mountVolumes/fileServers")
    now = call.emulator.clock()
    limit = document.get("constraints", {}).get("maxWallClockTime")
    job = Job(
        id=ids.job(call.names),
        sequence=call.store.next_sequence(),
        created=now,
        since=now,
        document=document,
        cluster=ids.key(cluster.id),
        instance=str(uuid.uuid4()),
        wall_clock=(seconds(limit) if limit else None) or WEEK,
    )
    call.store.save(job)
    call.emulator.conductor.nudge()
    return accepted(call, "create", job)


async def get_job(call: Call) -> web.Response:
    """Answer with a job, or 404."""
    return _response(job_of(call))


async def delete_job(call: Call) -> web.Response:
    """Delete it; a running one is stopped first."""
    return delete(call, call.store.jobs.get(ids.job(call.names)))


async def list_jobs(call: Call) -> web.Response:
    """The jobs of an experiment."""
    return call.page(job_view, call.store.jobs.children(experiment_of(call).id))


async def terminate_job(call: Call) -> web.Response:
    """Stop the job, with all its processes; a job that has ended is not changed."""
    job = job_of(call)
    if not job.active:
        return web.Response(status=200)
    call.emulator.conductor.halt(job, "terminated")
    return accepted(call, "terminate", job)


async def list_output_files(call: Call) -> web.Response:
    """The files in one of the job's output directories, with addresses to fetch them from."""
    job = job_of(call)
    directory = call.query.get("outputdirectoryid")
    if not directory:
        raise invalid("The parameter outputdirectoryid is required.", "outputdirectoryid", "MissingParameter")
    inside = call.query.get("directory", ".")
    minutes = call.number("linkexpiryinminutes", 60, 5, 600)
    downloads, expires = call.emulator.downloads, call.emulator.clock() + timedelta(minutes=minutes)

    def sign(path: str) -> str:
        return downloads.url(call.download_base, path, expires)

    page = Page(call.query.get("$skiptoken", ""), call.page_size())
    part = await asyncio.to_thread(listing, job, directory, inside, page, sign, downloads)
    following = {"nextLink": call.next_link(part.next)} if part.next else {}
    return web.json_response({"value": part.entries, **following})


def _response(job: Job) -> web.Response:
    return one(job_view(job), job.since)
