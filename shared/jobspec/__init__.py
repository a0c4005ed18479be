"""The job.json format: read, complete, validate; and the envelope around it. Pure: no I/O and no clock.

In: bytes or a tree of JSON. Out: a document, and problems with their places and remedies. Other rooms
import from here; beside it stand the modules `report` and `schema`, which few processes load. A name loads
just its own module: most invocations, such as a timer's or a list's, need no rule of documents.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.jobspec.checks.dropped_name import with_dropped_name
    from shared.jobspec.checks.lint import Facts, lint, with_lint
    from shared.jobspec.checks.shape import shape_problems
    from shared.jobspec.checks.validate import shaped, validate
    from shared.jobspec.checks.wrapper import has_job_members, unwrapped
    from shared.jobspec.code import is_digest
    from shared.jobspec.envelope import Envelope, Retry, is_bare_job, read_envelope, sound_members
    from shared.jobspec.format.base import Items, Model, Text
    from shared.jobspec.format.complete import MOUNTED, complete, mounts_drops, without_drop_mount
    from shared.jobspec.format.credentials import closed_mount, directory_key, with_credentials
    from shared.jobspec.format.defaults import Defaults
    from shared.jobspec.format.drop_paths import DROP_MOUNT
    from shared.jobspec.format.duration import (
        duration_flaw,
        iso_duration,
        meant_duration,
        parse_duration,
        wall_clock,
    )
    from shared.jobspec.format.limits import Limits
    from shared.jobspec.format.message_key import LONGEST_KEY, is_idempotency_key
    from shared.jobspec.format.models import JobSpec
    from shared.jobspec.format.mounts import MOUNT_LISTS
    from shared.jobspec.format.placeholders import placeholder_flaw, script_pattern
    from shared.jobspec.format.scripts import (
        mounts_scripts,
        names_mounted_scripts,
        scripts_possible,
        scripts_wanted,
    )
    from shared.jobspec.format.secrets import masked, open_secrets, redact, seal_secrets
    from shared.jobspec.hold import hold_length
    from shared.jobspec.job_sweep import Value, combinations, filled, longest, text_of
    from shared.jobspec.needs import is_met_by, is_pattern
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
    from shared.jobspec.problems.suggest import Suggestions
    from shared.jobspec.reader.foreign import foreign_document
    from shared.jobspec.reader.reading import read, read_through
    from shared.jobspec.reader.repair import mended
    from shared.jobspec.reader.source import Source
    from shared.jobspec.receivers import TERMINAL_EVENTS, RequestedReceiver, are_sound, channel_of
    from shared.jobspec.resources import RESOURCES, SHARE, mebibytes, read_resources
    from shared.jobspec.secrets.embedded import SEALED
    from shared.jobspec.text.file_names import character_flaw, is_ignored, is_left_over, level_flaw, name_flaw
    from shared.jobspec.text.tree import JsonObject, Node, quote, step, walk

#: Module → the names of other rooms in it; for type checkers they are imported above.
_NAMES = {
    "checks.dropped_name": "with_dropped_name",
    "checks.lint": "Facts lint with_lint",
    "checks.shape": "shape_problems",
    "checks.validate": "shaped validate",
    "checks.wrapper": "has_job_members unwrapped",
    "code": "is_digest",
    "envelope": "Envelope Retry is_bare_job read_envelope sound_members",
    "format.base": "Items Model Text",
    "format.complete": "MOUNTED complete mounts_drops without_drop_mount",
    "format.credentials": "closed_mount directory_key with_credentials",
    "format.defaults": "Defaults",
    "format.drop_paths": "DROP_MOUNT",
    "format.duration": "duration_flaw iso_duration meant_duration parse_duration wall_clock",
    "format.limits": "Limits",
    "format.message_key": "LONGEST_KEY is_idempotency_key",
    "format.models": "JobSpec",
    "format.mounts": "MOUNT_LISTS",
    "format.placeholders": "placeholder_flaw script_pattern",
    "format.scripts": "mounts_scripts names_mounted_scripts scripts_possible scripts_wanted",
    "format.secrets": "masked open_secrets redact seal_secrets",
    "secrets.embedded": "SEALED",
    "hold": "hold_length",
    "job_sweep": "Value combinations filled longest text_of",
    "needs": "is_met_by is_pattern",
    "problems.codes": "CODES problem",
    "problems.fix": "applied",
    "problems.problem": "Problem Severity has_errors page_of unknown_properties with_pages",
    "problems.suggest": "Suggestions",
    "reader.foreign": "foreign_document",
    "reader.reading": "read read_through",
    "reader.repair": "mended",
    "reader.source": "Source",
    "receivers": "TERMINAL_EVENTS RequestedReceiver are_sound channel_of",
    "resources": "RESOURCES SHARE mebibytes read_resources",
    "text.file_names": "character_flaw is_ignored is_left_over level_flaw name_flaw",
    "text.tree": "JsonObject Node quote step walk",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A name, when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


__all__ = [
    "CODES",
    "DROP_MOUNT",
    "LONGEST_KEY",
    "MOUNTED",
    "MOUNT_LISTS",
    "RESOURCES",
    "SEALED",
    "SHARE",
    "TERMINAL_EVENTS",
    "Defaults",
    "Envelope",
    "Facts",
    "Items",
    "JobSpec",
    "JsonObject",
    "Limits",
    "Model",
    "Node",
    "Problem",
    "RequestedReceiver",
    "Retry",
    "Severity",
    "Source",
    "Suggestions",
    "Text",
    "Value",
    "applied",
    "are_sound",
    "channel_of",
    "character_flaw",
    "closed_mount",
    "combinations",
    "complete",
    "directory_key",
    "duration_flaw",
    "filled",
    "foreign_document",
    "has_errors",
    "has_job_members",
    "hold_length",
    "is_bare_job",
    "is_digest",
    "is_idempotency_key",
    "is_ignored",
    "is_left_over",
    "is_met_by",
    "is_pattern",
    "iso_duration",
    "level_flaw",
    "lint",
    "longest",
    "masked",
    "meant_duration",
    "mebibytes",
    "mended",
    "mounts_drops",
    "mounts_scripts",
    "name_flaw",
    "names_mounted_scripts",
    "open_secrets",
    "page_of",
    "parse_duration",
    "placeholder_flaw",
    "problem",
    "quote",
    "read",
    "read_envelope",
    "read_resources",
    "read_through",
    "redact",
    "script_pattern",
    "scripts_possible",
    "scripts_wanted",
    "seal_secrets",
    "shape_problems",
    "shaped",
    "sound_members",
    "step",
    "text_of",
    "unknown_properties",
    "unwrapped",
    "validate",
    "walk",
    "wall_clock",
    "with_credentials",
    "with_dropped_name",
    "with_lint",
    "with_pages",
    "without_drop_mount",
]
