"""The job.json format: read, complete, validate; and the envelope around it. Pure: no I/O and no clock.

In: bytes or a tree of JSON. Out: a document, and problems with their places and remedies.
"""

from __future__ import annotations

from shared.jobspec.checks.lint import Facts, lint, with_lint
from shared.jobspec.checks.validate import shaped, validate
from shared.jobspec.envelope import (
    TERMINAL_EVENTS,
    Envelope,
    RequestedReceiver,
    Retry,
    is_bare_job,
    read_envelope,
    sound_members,
)
from shared.jobspec.format.complete import Defaults, complete
from shared.jobspec.format.credentials import with_credentials
from shared.jobspec.format.duration import iso_duration, parse_duration, wall_clock
from shared.jobspec.format.limits import Limits
from shared.jobspec.format.models import JobSpec
from shared.jobspec.format.scripts import script_pattern, scripts_wanted
from shared.jobspec.format.secrets import masked, open_secrets, redact, seal_secrets
from shared.jobspec.hidden.embedded import SEALED
from shared.jobspec.job_sweep import Value, combinations, filled, longest, text_of
from shared.jobspec.problems.codes import CODES, problem
from shared.jobspec.problems.fix import applied
from shared.jobspec.problems.problem import (
    Problem,
    Severity,
    has_errors,
    page_of,
    unknown_properties,
    with_pages,
)
from shared.jobspec.reader.reading import read, read_through
from shared.jobspec.reader.repair import mended
from shared.jobspec.reader.source import Source
from shared.jobspec.resources import RESOURCES, SHARE, mebibytes, read_resources
from shared.jobspec.text.tree import JsonObject

__all__ = [
    "CODES",
    "RESOURCES",
    "SEALED",
    "SHARE",
    "TERMINAL_EVENTS",
    "Defaults",
    "Envelope",
    "Facts",
    "JobSpec",
    "JsonObject",
    "Limits",
    "Problem",
    "RequestedReceiver",
    "Retry",
    "Severity",
    "Source",
    "Value",
    "applied",
    "combinations",
    "complete",
    "filled",
    "has_errors",
    "is_bare_job",
    "iso_duration",
    "lint",
    "longest",
    "masked",
    "mebibytes",
    "mended",
    "open_secrets",
    "page_of",
    "parse_duration",
    "problem",
    "read",
    "read_envelope",
    "read_resources",
    "read_through",
    "redact",
    "script_pattern",
    "scripts_wanted",
    "seal_secrets",
    "shaped",
    "sound_members",
    "text_of",
    "unknown_properties",
    "validate",
    "wall_clock",
    "with_credentials",
    "with_lint",
    "with_pages",
]
