"""The job.json format: read, complete, validate; and the envelope around it. Pure: no I/O and no clock."""

from __future__ import annotations

from shared.spec.codes import CODES, Code, problem
from shared.spec.complete import Defaults, complete
from shared.spec.credentials import accounts_without_credentials, with_credentials
from shared.spec.duration import iso_duration, parse_duration
from shared.spec.embedded import SEALED
from shared.spec.envelope import (
    TERMINAL_EVENTS,
    Envelope,
    Retry,
    Subscription,
    is_bare_job,
    read_envelope,
    sound_members,
)
from shared.spec.fix import Edit, Fix, applied
from shared.spec.limits import Limits
from shared.spec.lint import Facts, lint, with_lint
from shared.spec.mend import mended
from shared.spec.models import JobProperties, JobSpec
from shared.spec.problem import Place, Problem, Severity, has_errors, page_of, unknown_properties, with_pages
from shared.spec.reading import read, read_through
from shared.spec.scripts import DROP_MOUNT, script_pattern, scripts_wanted
from shared.spec.secrets import masked, open_secrets, redact, seal_secrets, secret_pointers
from shared.spec.source import Source
from shared.spec.tree import JsonObject
from shared.spec.validate import shaped, validate

__all__ = [
    "CODES",
    "DROP_MOUNT",
    "SEALED",
    "TERMINAL_EVENTS",
    "Code",
    "Defaults",
    "Edit",
    "Envelope",
    "Facts",
    "Fix",
    "JobProperties",
    "JobSpec",
    "JsonObject",
    "Limits",
    "Place",
    "Problem",
    "Retry",
    "Severity",
    "Source",
    "Subscription",
    "accounts_without_credentials",
    "applied",
    "complete",
    "has_errors",
    "is_bare_job",
    "iso_duration",
    "lint",
    "masked",
    "mended",
    "open_secrets",
    "page_of",
    "parse_duration",
    "problem",
    "read",
    "read_envelope",
    "read_through",
    "redact",
    "script_pattern",
    "scripts_wanted",
    "seal_secrets",
    "secret_pointers",
    "shaped",
    "sound_members",
    "unknown_properties",
    "validate",
    "with_credentials",
    "with_lint",
    "with_pages",
]
