"""Every operation of the HTTP API, with its input and its answers.

Add each new route here, and each new parameter of one; tests compare this table with the routes.
"""

from __future__ import annotations

from collections.abc import Mapping

from functions.openapi.elements import (
    ATTACHMENT,
    BYTES,
    ELSEWHERE,
    EVENT,
    EXPLAINED,
    JOB_CONDITIONS,
    JOB_DOCUMENT,
    KEY,
    LOG,
    PAGE_FILE,
    RANGES,
    RECEIPT_DOCUMENT,
    RECEIVER,
    REDIRECT,
    UNLESS_SAME,
    UNREADABLE,
    ZIP,
    Operation,
    Parameter,
    text,
)
from functions.openapi.operator_calls import OPERATOR_CALLS
from shared.answers import events, job, job_sweep, output, problem

_NO_JOB = (404, 410)
_JOB_HEADERS = (KEY, *EVENT)
_SWEEP = {202: job_sweep.SweepDetail, 200: job_sweep.SweepDetail}
_FOLDER = (
    text("directory", "`stdouterr`, the default, or the id of an output directory", "stdouterr"),
    text("path", "a folder in it; `.`, the default, is the directory itself", "."),
)

#: By the name of the function.
OPERATIONS: Mapping[str, Operation] = {
    "post_job": Operation(
        "POST",
        "jobs",
        "Submit a job",
        {202: job.AcceptedJob, 200: job.AcceptedJob},
        (409, 413, 422, 429, *UNREADABLE),
        query=(text("name", "the job's name where the document has none", "digits"),),
        headers=_JOB_HEADERS,
        body=JOB_DOCUMENT,
    ),
    "get_jobs": Operation("GET", "jobs", "List jobs, newest first", {200: job.JobPage}, (), JOB_CONDITIONS),
    "get_job": Operation("GET", "jobs/{id}", "Get a job with its history", {200: job.JobDetail}, _NO_JOB),
    "cancel_job": Operation(
        "POST",
        "jobs/{id}/cancel",
        "Cancel a job",
        {202: job.JobDetail, 200: job.JobDetail},
        (*_NO_JOB, *UNREADABLE),
    ),
    "rerun_job": Operation(
        "POST",
        "jobs/{id}/rerun",
        "Run the job of a receipt again, exactly as it ran",
        {202: job.AcceptedJob, 200: job.AcceptedJob},
        (404, 409, 410, 413, 422, 429, *UNREADABLE),
        headers=(KEY,),
        body=RECEIPT_DOCUMENT,
    ),
    "post_sweep": Operation(
        "POST",
        "sweeps",
        "Submit a sweep: a job of each combination of parameters",
        {202: job_sweep.AcceptedSweep, 200: job_sweep.AcceptedSweep},
        (409, 413, 422, *UNREADABLE),
        (text("name", "the sweep's name where the document has none", "tune"),),
        _JOB_HEADERS,
        JOB_DOCUMENT,
    ),
    "get_sweep": Operation("GET", "sweeps/{id}", "Get a sweep", {200: job_sweep.SweepDetail}, (404,)),
    "cancel_sweep": Operation("POST", "sweeps/{id}/cancel", "Cancel all jobs of a sweep", _SWEEP, (404, 415)),
    "get_log": Operation(
        "GET",
        "jobs/{id}/log",
        "Read a part of a job's log",
        {200: LOG},
        (*_NO_JOB, 409),
        (
            text("file", "a file of `stdouterr`; by default the standard output", "stderr.txt"),
            Parameter("offset", "the byte to begin with", {"type": "integer", "minimum": 0}),
        ),
    ),
    "get_errors": Operation(
        "GET",
        "jobs/{id}/errors",
        "Read the last lines of standard error of a job's processes, without its secrets",
        {200: output.ErrorEnds},
        (*_NO_JOB, 409),
    ),
    "get_files": Operation(
        "GET",
        "jobs/{id}/files",
        "List the files in a folder of an output directory",
        {200: output.OutputEntries},
        (*_NO_JOB, 409),
        (*_FOLDER, text("after", "the `next` of an earlier answer")),
    ),
    "get_file": Operation(
        "GET",
        "jobs/{id}/files/{directory}/{*path}",
        "Read a file that a job wrote, whole or in part",
        {200: ATTACHMENT, 206: ATTACHMENT, 304: None, 307: REDIRECT},
        (*_NO_JOB, 409, 412, 413, 416),
        headers=RANGES,
    ),
    "get_zip": Operation(
        "GET",
        "jobs/{id}/zip",
        "Get a small output directory as one ZIP file",
        {200: ZIP},
        (*_NO_JOB, 409, 413),
        _FOLDER,
    ),
    "get_addresses": Operation(
        "GET",
        "jobs/{id}/addresses",
        "Get addresses by which a finished job's files are read from storage itself",
        {200: output.FileAddresses},
        (*_NO_JOB, 409),
        (*_FOLDER, text("after", "the `next` of an earlier answer")),
    ),
    "get_metrics": Operation(
        "GET",
        "jobs/{id}/metrics",
        "Read the numbers that a job and its nodes report",
        {200: output.Metrics},
        (*_NO_JOB, 409),
        (
            text("after", "the `next` of an earlier answer"),
            Parameter(
                "points", "points of a series at most", {"type": "integer", "minimum": 4, "maximum": 2000}
            ),
        ),
    ),
    "get_outputs": Operation(
        "GET",
        "jobs/{id}/outputs",
        "List a job's output directories",
        {200: output.OutputDirectories},
        (*_NO_JOB, 409),
    ),
    "get_receipt": Operation(
        "GET", "jobs/{id}/receipt", "Get a job's receipt", {200: output.Receipt}, _NO_JOB
    ),
    "get_events": Operation(
        "GET",
        "jobs/{id}/events",
        "List a job's events and their deliveries",
        {200: events.JobEvents},
        _NO_JOB,
    ),
    "redeliver_job": Operation(
        "POST",
        "jobs/{id}/events/redeliver",
        "Send every event of a job again",
        {202: events.Redelivered},
        (*_NO_JOB, 409, *UNREADABLE),
    ),
    "redeliver_event": Operation(
        "POST",
        "events/{id}/redeliver",
        "Send one event again",
        {202: events.Redelivered},
        (*_NO_JOB, 409, *UNREADABLE),
    ),
    "test_receiver": Operation(
        "POST",
        "receivers/test",
        "Send a test event to an address",
        {200: events.ReceiverTested},
        (413, *UNREADABLE),
        body=RECEIVER,
    ),
    "get_receivers": Operation(
        "GET",
        "receivers",
        "List receivers that have not taken all their events",
        {200: events.ReceiverStates},
    ),
    "get_disabled": Operation(
        "GET", "receivers/disabled", "List disabled receivers", {200: events.DisabledReceivers}
    ),
    "get_dead": Operation("GET", "dead", "List dead messages and events", {200: events.DeadList}),
    "redrive": Operation(
        "POST",
        "dead/{id}/redrive",
        "Send a dead message or event on its way again",
        {202: events.Redriven},
        (404, 409, *UNREADABLE),
    ),
    "validate": Operation(
        "POST",
        "validate",
        "Validate a document without running it",
        {200: problem.Validated},
        (413, *UNREADABLE),
        headers=EVENT,
        body=JOB_DOCUMENT,
    ),
    "explain": Operation(
        "POST",
        "explain",
        "Explain what would happen to a job",
        {200: EXPLAINED},
        (409, 413, 422, *UNREADABLE),
        (
            text("folder", "treat the document as the job file of this folder of the drop container"),
            text("script", "the script that a template is for"),
            Parameter("format", "json is the default", {"enum": ["json", "markdown"]}),
        ),
        _JOB_HEADERS,
        JOB_DOCUMENT,
    ),
    **OPERATOR_CALLS,
    "get_openapi": Operation("GET", "openapi.json", "Get this document", {200: BYTES}),
    "get_page": Operation(
        "GET",
        "ui/{*path}",
        "Get a file of the page for browsers",
        {200: PAGE_FILE, 304: None, 308: ELSEWHERE},
        (404,),
        headers=(UNLESS_SAME,),
        public=True,
        head=True,
    ),
}
