"""The API server's validation of a new Job."""

from __future__ import annotations

import re
from typing import Any

from tests.doubles.kubernetes.errors import Refusal, invalid
from tests.doubles.kubernetes.object_store import KINDS

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_FIELDS = frozenset(
    {
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "podFailurePolicy",
        "successPolicy",
        "backoffLimit",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
        "selector",
        "manualSelector",
        "template",
        "ttlSecondsAfterFinished",
        "completionMode",
        "suspend",
        "podReplacementPolicy",
        "managedBy",
    }
)
#: The fields that a server of version 1.20 does not know.
NEWER = frozenset({"podFailurePolicy", "successPolicy", "completionMode", "suspend", "podReplacementPolicy"})
_NUMBERS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
#: As apimachinery has it: it refuses fewer texts than it then reads, as `1ki`.
_QUANTITY = re.compile(r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
Cause = tuple[str, str, str]


def check_fields(document: Any, *, strict: bool, is_old: bool) -> None:
    """Check types and, if `strict`, names of fields. Raises Refusal."""
    spec = document.get("spec") or {}
    for name in _NUMBERS:
        if name in spec and not isinstance(spec[name], int):
            text = 'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal string into Go '
            raise Refusal(400, "BadRequest", f"{text}struct field JobSpec.spec.{name} of type int32")
    containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or ()
    lists = [one for container in containers for one in (container.get("resources") or {}).values()]
    if not all(_QUANTITY.fullmatch(str(value)) for one in lists for value in one.values()):
        text = f"quantities must match the regular expression '^{_QUANTITY.pattern}$'"
        raise Refusal(400, "BadRequest", f'Job in version "v1" cannot be handled as a Job: {text}')
    unknown = [name for name in spec if name not in _FIELDS]
    if strict and unknown and not is_old:
        text = f'strict decoding error: unknown field "spec.{unknown[0]}"'
        raise Refusal(400, "BadRequest", f'Job in version "v1" cannot be handled as a Job: {text}')
    for name in unknown:
        del spec[name]


def check_job(document: Any) -> None:
    """Check values. Raises Refusal."""
    metadata = document.get("metadata") or {}
    name, spec = str(metadata.get("name") or ""), document.get("spec") or {}
    causes = [*_names(name, spec), *_metadata(metadata), *_values(spec)]
    if causes:
        raise invalid(KINDS["jobs"], name, causes)


def _names(name: str, spec: Any) -> list[Cause]:
    if not name:
        text = "Required value: name or generateName is required"
        return [("FieldValueRequired", text, "metadata.name")]
    causes = []
    value = f'Invalid value: "{name}"'
    if not _NAME.fullmatch(name):
        causes.append(
            ("FieldValueInvalid", f"{value}: a lowercase RFC 1123 subdomain must …", "metadata.name")
        )
    subdomain = ((spec.get("template") or {}).get("spec") or {}).get("subdomain")
    if subdomain and not _NAME.fullmatch(subdomain):
        text = f'Invalid value: "{subdomain}": a lowercase RFC 1123 label must …'
        causes.append(("FieldValueInvalid", text, "spec.template.spec.subdomain"))
    if len(name) > 63:
        causes.append(
            ("FieldValueInvalid", f"{value}: must be no more than 63 bytes", "spec.template.labels")
        )
    indexed = spec.get("completionMode") == "Indexed"
    last = f"{name}-{int(spec.get('completions') or 1) - 1}"
    if indexed and (len(last) > 63 or not _NAME.fullmatch(name)):
        text = f"{value}: will not able to create pod with invalid DNS label: {last}"
        causes.append(("FieldValueInvalid", text, "metadata.name"))
    return causes


def _metadata(metadata: Any) -> list[Cause]:
    causes = []
    for value in (metadata.get("labels") or {}).values():
        if len(value) > 63 or not _VALUE.fullmatch(value):
            text = f'Invalid value: "{value}": must be no more than 63 bytes'
            causes.append(("FieldValueInvalid", text, "metadata.labels"))
    if sum(len(key) + len(value) for key, value in (metadata.get("annotations") or {}).items()) > 262144:
        text = "Too long: may not be more than 262144 bytes"
        causes.append(("FieldValueTooLong", text, "metadata.annotations"))
    return causes


def _values(spec: Any) -> list[Cause]:
    causes = []
    if spec.get("parallelism", 1) < 0:
        text = "Invalid value: -1: must be greater than or equal to 0"
        causes.append(("FieldValueInvalid", text, "spec.parallelism"))
    if spec.get("completionMode") == "Indexed" and "completions" not in spec:
        text = "Required value: when completion mode is Indexed"
        causes.append(("FieldValueRequired", text, "spec.completions"))
    pod = (spec.get("template") or {}).get("spec") or {}
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        text = 'Required value: valid values: "OnFailure", "Never"'
        causes.append(("FieldValueRequired", text, "spec.template.spec.restartPolicy"))
    for key, value in (pod.get("nodeSelector") or {}).items():
        if len(value) > 63 or not _VALUE.fullmatch(value):
            text = f'Invalid value: "{value}": a valid label must be an empty string or consist of …'
            causes.append(("FieldValueInvalid", text, f"spec.template.spec.nodeSelector[{key}]"))
    if not pod.get("containers"):
        causes.append(("FieldValueRequired", "Required value", "spec.template.spec.containers"))
    for number, container in enumerate(pod.get("containers") or ()):
        for place, variable in enumerate(container.get("env") or ()):
            if "=" in variable["name"] or not variable["name"].isprintable():
                field = f"spec.template.spec.containers[{number}].env[{place}].name"
                causes.append(("FieldValueInvalid", f'Invalid value: "{variable["name"]}": …', field))
    return causes
