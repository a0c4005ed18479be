"""Problems of a document, and problem documents."""

from __future__ import annotations

from typing import Any, Literal

from shared.answers.base import Answer


class Replacement(Answer):
    """A part of a fix: the text that belongs between two places. Lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Finding(Answer):
    """One problem of a document; with its place if the text is known, and with a fix if one is certain."""

    code: str
    """Its rule, as in docs/rules."""
    severity: Literal["error", "warning", "hint"]
    pointer: str
    """JSON pointer of the place in the document."""
    message: str
    remedy: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    source: str | None = None
    """The line, without secrets."""
    caret: int | None = None
    """How many characters of `source` precede the faulty piece."""
    width: int | None = None
    """The length of the faulty piece in characters."""
    help: str | None = None
    """The documentation of the rule."""
    edits: tuple[Replacement, ...] | None = None
    """The fix, as replacements in the text."""
    patch: tuple[dict[str, Any], ...] | None = None
    """The fix, as a JSON Patch (RFC 6902)."""


class Validated(Answer):
    """The problems of a document."""

    valid: bool
    problems: tuple[Finding, ...]
    notes: tuple[str, ...]


class SignInWay(Answer):
    """Where a browser gets an access token: OAuth 2.0, authorization code with PKCE."""

    authorize: str
    token: str
    issuer: str
    client: str
    scope: str


class ProblemDocument(Answer):
    """An error (RFC 9457). `errors`, `jobId` and `receipt` belong to a document that cannot run."""

    type: str
    title: str
    status: int
    detail: str
    remedy: str | None = None
    """What the caller can do."""
    job_id: str | None = None
    errors: tuple[Finding, ...] | None = None
    receipt: str | None = None
    sign_in: SignInWay | None = None
    """Only in a 401 that asks for a token: where people can sign in."""
