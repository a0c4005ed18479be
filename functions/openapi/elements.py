"""What declarations of operations consist of: parameters, bodies, answers. Light: a cold start loads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query, or a request's header."""

    name: str
    description: str
    schema: Mapping[str, Any]
    example: str = ""


@dataclass(frozen=True)
class Body:
    """The body of a request, as JSON or of another type: one of these schemas, named or written out."""

    description: str
    schemas: tuple[str | Mapping[str, Any], ...]
    #: whether it may be the data of a CloudEvent
    in_event: bool = False
    #: whether a request may come without it
    optional: bool = False
    kind: str = "application/json"


@dataclass(frozen=True)
class Raw:
    """An answer by media type; `headers` are those that a caller reads, with their descriptions."""

    #: a schema, or the name of an answer
    content: Mapping[str, str | Mapping[str, Any]]
    headers: Mapping[str, str] = field(default_factory=dict)


#: The name of an answer, a type of `shared/answers`; None: no content.
Content: TypeAlias = str | Raw | None

#: The refusals of any call that needs a caller, and the failures of any call.
REFUSED = (400, 401, 403, 500, 502, 503)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call. `route` is as the trigger has it, `answers` by status; refusals are problem documents."""

    method: str
    route: str
    summary: str
    #: in Markdown, for the page of operations
    description: str
    answers: Mapping[int, Content]
    #: the role without which it is forbidden; "" where others decide, or none is needed
    needs: str = ""
    #: statuses of refusals beside the usual ones
    refused: tuple[int, ...] = ()
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()
    body: Body | None = None
    #: whether it needs no caller
    public: bool = False
    #: whether a GET also takes HEAD, which Functions answers 404 otherwise
    head: bool = False
    #: a refusal that has members of its own
    refusals: Mapping[int, Content] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.answers:
            raise TypeError(f"{self.method} {self.route} does not declare what it answers")

    @property
    def methods(self) -> tuple[str, ...]:
        """Those of HTTP that it takes."""
        return (self.method, "HEAD") if self.head else (self.method,)

    @property
    def parameters(self) -> tuple[str, ...]:
        """All that the query may have."""
        return tuple(one.name for one in self.query)

    @property
    def statuses(self) -> tuple[int, ...]:
        """All with which it answers, in order."""
        usual = {400, 500, 503} if self.public else {*REFUSED}
        usual |= {415} if self.method != "GET" else set()
        usual |= {411} if self.body else set()
        return tuple(sorted({*usual, *self.refused, *self.refusals, *self.answers}))


#: By the name of the function, once the modules of the handlers are loaded.
OPERATIONS: dict[str, Operation] = {}


def text(name: str, description: str, example: str = "") -> Parameter:
    """A parameter that is a text."""
    return Parameter(name, description, {"type": "string", "minLength": 1}, example)


_STRING: Mapping[str, Any] = {"type": "string"}
BYTES = Raw({"application/json": {"type": "object"}})
LOG = Raw(
    {"text/plain": _STRING},
    {
        "Slipway-Next-Offset": "where to go on",
        "Slipway-More": "whether more may come: true or false",
        "Slipway-File": "the name of the file, percent-encoded",
    },
)
ATTACHMENT = Raw(
    {"*/*": {}},
    {
        "ETag": "changes when the file does; missing where the cluster's storage does not say",
        "Content-Range": "the bytes of this answer, and how many the file has",
        "Content-Digest": "SHA-256 of the bytes in this answer (RFC 9530)",
    },
)
REDIRECT = Raw({}, {"Location": "where storage itself answers with the file, for some minutes"})
ZIP = Raw(
    {"application/zip": {}},
    {
        "Content-Digest": ATTACHMENT.headers["Content-Digest"],
        "Slipway-Left-Out": "how many entries of the directory are not in it",
    },
)
#: A file of the page, and where the page is.
PAGE_FILE = Raw(
    {"*/*": {}},
    {"ETag": "changes when the file does", "Content-Security-Policy": "nothing of another origin"},
)
ELSEWHERE = Raw({}, {"Location": "the address with a slash at its end"})
EXPLAINED = Raw({"application/json": "Explanation", "text/markdown": _STRING})

KEY = Parameter(
    "Idempotency-Key",
    "the same key and document are the same job",
    {"type": "string", "minLength": 1, "maxLength": 256},
)
RANGES = (
    Parameter("Range", "a part of the file", _STRING, "bytes=0-99"),
    Parameter("If-Match", "412 when the file has changed since", _STRING),
    Parameter("If-None-Match", "304 when the file has not changed since", _STRING),
    Parameter("If-Range", "the whole file when it has changed since", _STRING),
)
#: Of a list that comes in pages, and of a folder.
AFTER = text("after", "the `next` of an earlier answer")
FOLDER = (
    text("directory", "`stdouterr`, the default, or the id of an output directory", "stdouterr"),
    text("path", "a folder in it; `.`, the default, is the directory itself", "."),
)
ATTEMPT = Parameter(
    "attempt",
    "the attempt whose files are meant, by default the current one",
    {"type": "integer", "minimum": 1},
)
#: Of a log, of an answer with numbers, and of both with the job.
LOG_PART = (
    text("file", "a file of `stdouterr`; by default the standard output", "stderr.txt"),
    Parameter("offset", "the byte to begin with", {"type": "integer", "minimum": 0}),
    ATTEMPT,
)
_POINTS = Parameter(
    "points", "points of a series at most", {"type": "integer", "minimum": 4, "maximum": 2000}
)
NUMBERS = (AFTER, _POINTS, ATTEMPT)
LIVE = (AFTER, LOG_PART[0], _POINTS, ATTEMPT)
#: Of an archive.
FILE = text("file", "the name of one file of it, whose text is answered, too", "train.py")
#: Of every GET that answers JSON.
UNLESS_SAME = Parameter("If-None-Match", "304 when the answer is still the one of this ETag", _STRING)
#: Of a CloudEvent in binary mode, whose data is the body.
EVENT = tuple(
    Parameter(f"ce-{name}", f"the {what} of a CloudEvent whose data is the body", _STRING, example)
    for name, what, example in (
        ("specversion", "version", "1.0"),
        ("type", "type", "io.slipway.job.submit.v1"),
        ("source", "sender: with the id, the key of the request", "/ci"),
        ("id", "id", "A234-1234-1234"),
    )
)
JOB_HEADERS = (KEY, *EVENT)
JOB_DOCUMENT = Body("an envelope, or a bare job.json", ("JobMessage", "JobFile"), in_event=True)
RECEIPT_DOCUMENT = Body("the job's receipt.json, as it is, or nothing", ("Receipt",), optional=True)
SNAPSHOT = Body(
    "the digest and the length of an archive",
    (
        {
            "type": "object",
            "properties": {
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "bytes": {"type": "integer", "minimum": 1},
            },
            "required": ["sha256", "bytes"],
            "additionalProperties": False,
        },
    ),
)
ARCHIVE = Body("the archive, as it was packed", ({},), kind="application/octet-stream")
TEAMS = Body("the teams, whole", ({"type": "object"},))
ENTRY = Body(
    "the rank to enter, 0 if it is left out, and a new key for a login node that wants certificates",
    (
        {
            "type": "object",
            "properties": {
                "rank": {"type": "integer", "minimum": 0},
                "publicKey": {"type": "string", "pattern": "^ssh-ed25519 [A-Za-z0-9+/]{68}$"},
            },
            "additionalProperties": False,
        },
    ),
    optional=True,
)
PRIORITY = Body(
    "the priority that it gets",
    (
        {
            "type": "object",
            "properties": {"priority": {"enum": ["high", "normal", "low"]}},
            "required": ["priority"],
            "additionalProperties": False,
        },
    ),
)
RECEIVER = Body(
    "the address, and the name of a configured secret",
    (
        {
            "type": "object",
            "properties": {"url": {"type": "string", "minLength": 1}, "secret": {"type": "string"}},
            "required": ["url"],
            "additionalProperties": False,
        },
    ),
)
