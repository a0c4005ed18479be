"""ASP.NET route templates as HTTP triggers write them: jobs/{id:int}/{name?}, files/{*path}."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

_PARAMETER = re.compile(r"\{(\*{0,2})(\w+)((?::[^{}:=]+?)*)(?:=([^{}?]*))?(\?)?\}")


@dataclass(frozen=True)
class Route:
    """A compiled template."""

    template: str
    pattern: re.Pattern[str]
    checks: tuple[tuple[str, str], ...]
    defaults: tuple[tuple[str, str], ...]

    def match(self, path: str) -> dict[str, str] | None:
        """The parameters in a path (decoded, no leading slash); None if it differs. A slash may end it."""
        if "//" in f"/{path}":
            return None
        match = self.pattern.fullmatch(path)
        if match is None:
            return None
        values = {name: value for name, value in match.groupdict().items() if value}
        for name, check in self.checks:
            if name in values and not _satisfies(check, values[name]):
                return None
        return {**dict(self.defaults), **values}


class _Segment(NamedTuple):
    """The pattern of one segment, and whether it may be absent."""

    pattern: str
    optional: bool


def parse_route(template: str) -> Route:
    """Compile a template; raises ValueError that shows the part."""
    segments = [s for s in template.strip("/").split("/") if s]
    pattern = ""
    checks: list[tuple[str, str]] = []
    defaults: list[tuple[str, str]] = []
    for number, segment in enumerate(segments):
        whole = _PARAMETER.fullmatch(segment)
        if whole is not None and whole[1] and number < len(segments) - 1:
            raise ValueError(f"route {template!r}: {segment} takes the rest of the path and must be last")
        separator = "/" if number else ""
        body, optional = _segment(template, segment, checks, defaults)
        pattern += f"(?:{separator}{body})?" if optional else f"{separator}{body}"
    return Route(
        template, re.compile(f"{pattern}/?", re.IGNORECASE | re.DOTALL), tuple(checks), tuple(defaults)
    )


def _segment(
    template: str, segment: str, checks: list[tuple[str, str]], defaults: list[tuple[str, str]]
) -> _Segment:
    body = ""
    end = 0
    optional = False
    for match in _PARAMETER.finditer(segment):
        stars, name, constraints, default, question = match.groups()
        body += _literal(template, segment[end : match.start()])
        body += f"(?P<{name}>{'.*' if stars else '[^/]+'})"
        end = match.end()
        names = [c for c in constraints.split(":") if c]
        for check in names:
            _constraint(template, check)
            checks.append((name, check))
        if default is not None:
            defaults.append((name, default))
        optional = bool(stars or question or default is not None)
    return _Segment(body + _literal(template, segment[end:]), optional)


def _literal(template: str, text: str) -> str:
    if "{" in text or "}" in text:
        raise ValueError(
            f"route {template!r}: cannot read {text!r}; write a parameter as {{name}} or {{name:int?}}"
        )
    return re.escape(text)


#: As .NET reads them: with ASCII digits, a sign, and white space around.
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_SIMPLE: dict[str, Callable[[str], bool]] = {
    "int": lambda v: _INTEGER.fullmatch(v) is not None and -(2**31) <= int(v) < 2**31,
    "long": lambda v: _INTEGER.fullmatch(v) is not None and -(2**63) <= int(v) < 2**63,
    "bool": lambda v: v.lower() in ("true", "false"),
    "alpha": lambda v: re.fullmatch(r"[A-Za-z]*", v) is not None,
    "guid": lambda v: _parses(UUID, v),
    "double": lambda v: "_" not in v and _parses(float, v),
    "decimal": lambda v: "_" not in v and _parses(float, v),
    "required": lambda v: v != "",
}
_SIZED: dict[str, Callable[[str, list[int]], bool]] = {
    "min": lambda v, n: _SIMPLE["long"](v) and int(v) >= n[0],
    "max": lambda v, n: _SIMPLE["long"](v) and int(v) <= n[0],
    "range": lambda v, n: _SIMPLE["long"](v) and n[0] <= int(v) <= n[1],
    "minlength": lambda v, n: len(v) >= n[0],
    "maxlength": lambda v, n: len(v) <= n[0],
    "length": lambda v, n: n[0] <= len(v) <= n[-1],
}


def _constraint(template: str, check: str) -> None:
    name, _, argument = check.partition("(")
    is_known = (
        check in _SIMPLE
        or name == "regex"
        or (name in _SIZED and re.fullmatch(r"-?\d+(,\s*-?\d+)?\)", argument))
    )
    if not is_known:
        raise ValueError(f"route {template!r}: the constraint {check!r} is not known here")


def _satisfies(check: str, value: str) -> bool:
    if simple := _SIMPLE.get(check):
        return simple(value)
    name, _, argument = check.partition("(")
    argument = argument.removesuffix(")")
    if name == "regex":
        return re.search(argument, value, re.IGNORECASE) is not None
    return _SIZED[name](value, [int(n) for n in argument.split(",")])


def _parses(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True
