"""Recognises texts and documents that are not a job.json, and names the best next step."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import Any, NamedTuple

from shared.jobspec.checks.arm import is_job, is_resource, resource_type, templated
from shared.jobspec.format.models import JOB_PROPERTIES, JobProperties
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.reader.quotes import line_and_column
from shared.jobspec.text.tree import JsonObject, step


class Foreign(NamedTuple):
    """The kind of a foreign document, and the remedy."""

    what: str
    remedy: str

    def document(self, document: JsonObject) -> Problem:
        """The one problem of a document in JSON. Nothing of its content is shown."""
        flaw = problem("SW086", "", f"this is {self.what}, not a job.json", self.remedy)
        return replace(flaw, unknown=frozenset(step("", name) for name in document))

    def text(self, text: str) -> Problem:
        """The one problem of a text that is not JSON; it points to the start."""
        at = len(text) - len(text.lstrip())
        line, column = line_and_column(text, at)
        message = f"line {line}, column {column}: this is {self.what}, not JSON"
        return problem("SW003", "", message, self.remedy, span=(at, at + 1))


_TOOLKIT = '"customToolkitSettings": {"commandLine": …}'
_INIT = "translate it: slipway init --from FILE"
_KUBERNETES = Foreign(
    "a Kubernetes manifest",
    f'write the image into containerSettings, command and args into {_TOOLKIT}, parallelism into "nodeCount"',
)
_AZURE_ML = Foreign(
    "an Azure Machine Learning job",
    f"{_INIT}; command is {_TOOLKIT}, environment containerSettings, instance_count nodeCount",
)
_BATCH = Foreign(
    "an Azure Batch task or job",
    f"write its command line into {_TOOLKIT}, its image into containerSettings, and wrap them in properties",
)
_SKYPILOT = Foreign("a SkyPilot task", f"{_INIT}; run is {_TOOLKIT}, num_nodes nodeCount")
_DSTACK = Foreign("a task of dstack", f"{_INIT}; commands are {_TOOLKIT}, nodes nodeCount")
_SBATCH = Foreign(
    "a Slurm batch script",
    f'{_INIT}; --nodes is "nodeCount", --time "constraints": {{"maxWallClockTime": …}}',
)
_CLUSTER = Foreign(
    "a Batch AI cluster or file server",
    'describe the job that runs on it: {"properties": {"cluster": {"id": …}, "nodeCount": 1, …}}',
)
_RESOURCE = Foreign("an Azure resource", 'write the job itself: {"properties": {…}}')
_TEMPLATE = Foreign(
    "an ARM template without a Batch AI job", 'write the job itself: {"properties": {"nodeCount": 1, …}}'
)
_AS_DICT = Foreign(
    "a job as as_dict() of the Python SDK prints it",
    'write the names of the format ("nodeCount", not "node_count"), as serialize() does, into "properties"',
)
_SCRIPT = Foreign("a script", "name it in a toolkit of a job.json, and drop both into one folder")
_HTML = Foreign("an HTML page", "fetch the file itself: the raw view of a repository, or with a log-in")
_ANSWER = Foreign("the answer of a web server, not a file", "fetch the file again: its address is wrong")
_MESSAGE = Foreign("the output of a command, not a file", "run the command again: it printed no job")
_FAILURE = Foreign("an error response of a service, not a job", "fetch the job again")
_NOTEBOOK = Foreign("a notebook", f"save its code as a script, and run that by {_TOOLKIT}")
_COMPOSE = Foreign(
    "a Docker Compose file", f"write the image into containerSettings, the command into {_TOOLKIT}"
)
_FENCED = Foreign("Markdown around a document", "delete the ``` lines around it")
_XML = Foreign("XML", 'write JSON: {"properties": {…}}')
_YAML = Foreign("YAML", 'write the same as JSON: {"properties": {…}}, names and texts in double quotes')
_BASE64 = Foreign("base64", "decode it: base64 -d; a message on a queue may be base64, once and as a whole")
_MERGE = Foreign("a file with merge conflict markers", "keep one side, and delete the marks")
_WARNING = Foreign("a document with messages of a command before it", "keep what begins with the bracket")

#: The first bytes of files that are not text.
_PACKED = (
    (b"\x1f\x8b", Foreign("a gzip file", "unpack it: gunzip")),
    (b"PK\x03\x04", Foreign("a ZIP archive", "unpack it, and send the job.json in it")),
    (b"BZh", Foreign("a bzip2 file", "unpack it: bunzip2")),
    (b"\xfd7zXZ\x00", Foreign("an xz file", "unpack it: unxz")),
    (b"\x28\xb5\x2f\xfd", Foreign("a zstd file", "unpack it: unzstd")),
    (b"7z\xbc\xaf\x27\x1c", Foreign("a 7-Zip archive", "unpack it, and send the job.json in it")),
    (b"%PDF-", Foreign("a PDF", "write the job into a text file; text copied from a PDF loses characters")),
)
#: Names that a document must all have, and names of which it needs one → its kind. The first match counts.
_BY_NAMES: tuple[tuple[frozenset[str], frozenset[str], Foreign], ...] = tuple(
    (frozenset(every.split()), frozenset(some.split()), foreign)
    for every, some, foreign in (
        ("apiVersion kind", "", _KUBERNETES),
        ("kind", "metadata items template", _KUBERNETES),
        ("command", "compute environment code distribution environment_variables experiment_name", _AZURE_ML),
        ("jobType", "command environmentId computeId", _AZURE_ML),
        ("script", "target framework communicator", _AZURE_ML),
        ("cells nbformat", "", _NOTEBOOK),
        ("services", "version volumes networks name x-common", _COMPOSE),
        ("type commands", "", _DSTACK),
        ("run", "resources setup num_nodes file_mounts workdir envs", _SKYPILOT),
        ("id", "poolInfo resourceFiles userIdentity multiInstanceSettings", _BATCH),
        ("poolInfo", "", _BATCH),
        ("commandLine", "id resourceFiles outputFiles userIdentity multiInstanceSettings dependsOn", _BATCH),
    )
)
#: The same for the properties of a resource without a type.
_OF_PROPERTIES: tuple[tuple[frozenset[str], Foreign], ...] = (
    (frozenset(("vmSize", "scaleSettings", "vmPriority", "sshConfiguration")), _CLUSTER),
    (frozenset(("jobType",)), _AZURE_ML),
)
_SNAKE = {name for name in JobProperties.model_fields if "_" in name}

_QUOTED_KEY = r"\"[A-Za-z_$][A-Za-z0-9_.$/-]{0,60}\"|'[A-Za-z_$][A-Za-z0-9_.$/-]{0,60}'"
_KEY = re.compile(
    rf"^(?:- )?(?P<key>[A-Za-z_$][A-Za-z0-9_.$/-]{{0,60}}|{_QUOTED_KEY})[ \t]*:(?:[ \t]|\r?$)", re.MULTILINE
)
_COMMENTS = re.compile(r"\A(?:[ \t]*(?:#[^\n]*|---[^\n]*|%YAML[^\n]*)?\r?\n)*")
_CODE = re.compile(r"(?:import|from|def|class|print)\b[^:{]*[\n(]")
_SBATCH_LINE = re.compile(r"^#SBATCH[ \t]", re.MULTILINE)
_STATUS = re.compile(r"(?:HTTP/[0-9.]+ )?[45][0-9]{2}:? [A-Z][A-Za-z ]{2,60}\.?\s*\Z")
_MESSAGES = re.compile(r"(?:(?:WARNING|ERROR|INFO|DEBUG)\b[^\n]*\n\s*)+(?=[{\[])")
_PRINTED = re.compile(r"(?:WARNING|ERROR): |Traceback \(most recent call last\)")
_BASE64_HEADS = tuple(mark for mark, _ in _PACKED[:5])
_LONGEST = 1 << 16


def foreign_bytes(data: bytes) -> Foreign | None:
    """The kind of the bytes, if they are not text."""
    return next((foreign for mark, foreign in _PACKED if data.startswith(mark)), None)


def foreign_text(text: str) -> Foreign | None:
    """The kind of a text that is not JSON; None if it may be meant as JSON."""
    start = text[:_LONGEST].lstrip("\ufeff \t\r\n")
    if re.search(r"^<{7} [^\n]*\n", start, re.MULTILINE) and re.search(r"^={7}\r?$", text, re.MULTILINE):
        return _MERGE
    if start[:1] in ("{", "[", ""):
        return None
    if start[:1] == "<":
        return _HTML if re.match(r"<(?:!doctype html|html|head|body)", start, re.IGNORECASE) else _XML
    body = start[_matched(start) :]
    if _SBATCH_LINE.search(start) and not body.startswith(("{", "[")):
        return _SBATCH
    if start.startswith("#!"):
        return _SCRIPT
    if _STATUS.match(start):
        return _ANSWER
    if _MESSAGES.match(start):
        return _WARNING
    if _PRINTED.match(start):
        return _MESSAGE
    if start.startswith("```"):
        return _FENCED
    if start[:1] not in ('"', "'") and _is_base64(start):
        return _BASE64
    if _is_yaml(body):
        return _of_yaml({match["key"].strip("\"'") for match in _KEY.finditer(body)}, body)
    return _SCRIPT if _CODE.match(body) else None


def foreign_document(document: JsonObject) -> Foreign | None:
    """The kind of a JSON document that is not a job.json."""
    names = set(document)
    if templated(document):
        return None if any(map(_is_job, templated(document))) else _of_template(document)
    if "properties" in names:
        return _of_resource(document)
    if "specBlob" in names or (isinstance(document.get("spec"), dict) and "kind" not in names):
        return None
    if "$schema" in names and "azureml" in str(document["$schema"])[:200]:
        return _AZURE_ML
    if names == {"error"} and isinstance(document["error"], dict):
        return _FAILURE
    if names & _SNAKE and not names & JOB_PROPERTIES - {"cluster", "secrets"} - _SNAKE:
        return _AS_DICT
    return _by_names(names)


def _is_job(resource: Any) -> bool:
    return isinstance(resource, dict) and is_job(resource_type(resource))


def _of_template(document: JsonObject) -> Foreign | None:
    template = "deploymentTemplate" in str(document.get("$schema"))[:200] or "contentVersion" in document
    return _TEMPLATE if template else _by_names(set(document))


def _of_resource(document: JsonObject) -> Foreign | None:
    """The kind of a resource that is not a job, by its type or its members."""
    properties = document["properties"]
    if not is_resource(document) or not isinstance(properties, dict):
        return None
    if kind := resource_type(document):
        if is_job(kind):
            return None
        services = {"microsoft.batchai": _CLUSTER, "microsoft.batch": _BATCH}
        return _AZURE_ML if "machinelearning" in kind else services.get(kind.partition("/")[0], _RESOURCE)
    names = set(properties)
    if names & JOB_PROPERTIES - {"cluster"}:
        return None
    return next((foreign for some, foreign in _OF_PROPERTIES if names & some), None)


def _by_names(names: set[str]) -> Foreign | None:
    if any(name.endswith("ToolkitSettings") for name in names):
        return None
    for every, some, foreign in _BY_NAMES:
        if every <= names and (not some or some & names):
            return foreign
    return None


def _is_yaml(body: str) -> bool:
    first = _KEY.match(body)
    if first is None:
        return False
    # A name in quotes may also be the beginning of an object without its bracket.
    return first["key"][0] not in "\"'" or not body.rstrip().endswith((",", "}"))


def _of_yaml(names: set[str], text: str) -> Foreign:
    if "$schema" in names and "azureml" in text:
        return _AZURE_ML
    return _by_names(names) or _YAML


def _matched(text: str) -> int:
    match = _COMMENTS.match(text)
    return match.end() if match else 0


def _is_base64(text: str) -> bool:
    packed = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    if len(packed) < 16:
        return False
    try:
        head = base64.b64decode(packed[: len(packed) // 4 * 4][:64], validate=True)
    except (binascii.Error, ValueError):
        return False
    plain = head.removeprefix(b"\xff\xfe").replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf \t\r\n")
    return plain[:1] in (b"{", b"[") or head.startswith(_BASE64_HEADS)
