"""The timer that moves the records of jobs that ended long ago into the archive."""

from __future__ import annotations

import logging

import azure.functions as func

from functions.bindings import ARCHIVE
from functions.process import ports

log = logging.getLogger(__name__)
blueprint = func.Blueprint()  # type: ignore[no-untyped-call]


@blueprint.function_name("archive")
@blueprint.timer_trigger("timer", schedule=ARCHIVE, run_on_startup=False)
async def archive(timer: func.TimerRequest) -> None:
    """Archive what ended longer ago than the retention, and delete code that no record names."""
    from shared.lifecycle.archive import archive as archive_jobs
    from shared.lifecycle.collect import collect_now_and_then

    archived = await archive_jobs(ports())
    if archived.jobs:
        log.info("archived: %s", archived)
    collected = await collect_now_and_then(ports())
    if collected.deleted:
        log.info("collected: %s", collected)
