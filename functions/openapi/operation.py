"""The decorator that declares an operation of the HTTP API, once.

From the declaration come the route, the checks of caller and query, the OpenAPI document, the page of
operations, and the page's types.
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, TypedDict, Unpack
from urllib.parse import parse_qsl, urlsplit

import azure.functions as func

from functions.caller import caller, challenge, identify, sign_in
from functions.openapi.elements import OPERATIONS, Body, Content, Operation, Parameter
from functions.problem import AS_DATA, problem
from functions.ranges import if_changed
from shared.core.errors import EngineError, Misconfigured, Misuse, SlipwayError, Unreadable, status_of

log = logging.getLogger(__name__)
Handler: TypeAlias = Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]

#: The media types that a web page may send across origins without a preflight request.
_FORM_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
#: The type of an answer, in the annotation of its handler.
_REPLY = re.compile(r"Reply\[(\w+)\]")
#: The function key and its name, which the host checks and passes on.
_OF_THE_HOST = frozenset({"code", "clientid"})
_SHOWN = 40


class Options(TypedDict, total=False):
    """What an operation may declare, too: members of `Operation`, where each is explained."""

    needs: str
    query: tuple[Parameter, ...]
    headers: tuple[Parameter, ...]
    body: Body
    refused: tuple[int, ...]
    refusals: Mapping[int, Content]
    public: bool
    head: bool


def operation(
    blueprint: func.Blueprint,
    method: str,
    route: str,
    *,
    answered: tuple[int, ...] = (200,),
    answers: Mapping[int, Content] = MappingProxyType({}),
    **options: Unpack[Options],
) -> Callable[[Handler], Any]:
    """Declare a handler to be an operation, named and explained as the function is.

    `answered`: the statuses with the answer that the handler's annotation names; `answers`: the others.
    """

    def declare(handler: Handler) -> Any:
        named = _REPLY.fullmatch(str(handler.__annotations__["return"]))
        summary, _, more = inspect.cleandoc(handler.__doc__ or "").partition("\n")
        declared = OPERATIONS[handler.__name__] = Operation(
            method=method,
            route=route,
            summary=summary.removesuffix("."),
            description=" ".join(more.split()),
            answers={**(dict.fromkeys(answered, named[1]) if named else {}), **answers},
            **options,
        )
        return _registered(blueprint, handler, declared)

    return declare


def _registered(blueprint: func.Blueprint, handler: Handler, declared: Operation) -> Any:
    """The handler as a trigger, behind what every operation checks."""
    needs_caller = not declared.public
    call = bordered(_identified(handler, declared) if needs_caller else checked(handler, declared.parameters))
    # The worker reads these, and cannot know the names that only type checkers import.
    call.__annotations__ = {"req": func.HttpRequest, "return": func.HttpResponse}
    level = None if needs_caller else func.AuthLevel.ANONYMOUS
    routed = blueprint.route(declared.route, methods=declared.methods, auth_level=level)(call)
    return blueprint.function_name(handler.__name__)(routed)


def _identified(handler: Handler, declared: Operation) -> Handler:
    """The handler for callers who are known and have the role; with a line in the trail for what they do."""

    @functools.wraps(handler)
    async def wrapped(req: func.HttpRequest) -> func.HttpResponse:
        from functions.activity import acting

        await identify(req)
        check_query(req, declared.parameters)
        async with acting(req, handler.__name__) as act:
            if declared.needs:
                caller().needs(declared.needs)
            return act.answered(await handler(req))

    return wrapped


def checked(handler: Handler, parameters: Collection[str]) -> Handler:
    """The handler for queries that have these parameters only."""

    @functools.wraps(handler)
    async def wrapped(req: func.HttpRequest) -> func.HttpResponse:
        check_query(req, parameters)
        return await handler(req)

    return wrapped


def bordered(handler: Handler) -> Handler:
    """The handler with its errors as problem documents."""

    @functools.wraps(handler)
    async def wrapped(req: func.HttpRequest) -> func.HttpResponse:
        try:
            _refuse_form(req)
            return _as_data(if_changed(req, await handler(req)))
        except Misuse as error:
            members = sign_in() if error.status == 401 else {}
            refused = problem(
                status_of(error), str(error), error.remedy, retry_after=error.retry_after, **members
            )
            if error.status == 401:
                refused.headers["WWW-Authenticate"] = challenge()
            return refused
        except Misconfigured as error:
            # It may quote a setting, and the caller may be anonymous.
            log.error("misconfigured: %s", error)
            what, remedy = "this deployment is misconfigured", "ask its operator: the log names the setting"
            return problem(status_of(error), what, remedy)
        except EngineError as error:
            return problem(status_of(error), str(error), "ask again in a minute; jobs are not affected")
        except Unreadable as error:
            remedy = f"ask the operator of this deployment: {error.remedy}"
            return problem(status_of(error), f"{error}; it is damaged, or a newer version wrote it", remedy)
        except SlipwayError as error:
            log.warning("unavailable: %s", error)
            remedy = "send the same request again, with the same Idempotency-Key"
            return problem(status_of(error), str(error), remedy)
        except Exception as error:
            # The entry point: on any other error the caller gets a document, and the log the traceback.
            log.exception("unexpected")
            return problem(status_of(error), "unexpected error", "ask the operator of this deployment")

    return wrapped


def _refuse_form(req: func.HttpRequest) -> None:
    kind = req.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind in _FORM_TYPES and req.get_body():
        raise Misuse(
            f"a body of the type {kind} is not accepted: any web page could have sent it",
            status=415,
            remedy="send the header Content-Type: application/json (curl: --json @FILE)",
        )


def _as_data(answer: func.HttpResponse) -> func.HttpResponse:
    for name, value in AS_DATA.items():
        answer.headers.setdefault(name, value)
    return answer


def check_query(req: func.HttpRequest, parameters: Collection[str]) -> None:
    """Raise Misuse for the first parameter that is unknown, empty or repeated: none is ignored in silence.

    The host joins repeated values by commas, so the address is parsed to separate them.
    """
    pairs = parse_qsl(urlsplit(req.url).query, keep_blank_values=True) or list(req.params.items())
    names: set[str] = set()
    for name, value in pairs:
        if name.lower() in _OF_THE_HOST:
            continue
        if name not in parameters:
            raise Misuse(f"there is no parameter {name[:_SHOWN]!r}", remedy=_remedy(name, parameters))
        if not value:
            raise Misuse(f"the parameter {name} is empty", remedy="give it a value, or leave it out")
        if name in names:
            raise Misuse(f"the parameter {name} is given more than once", remedy="give it once")
        names.add(name)


def _remedy(name: str, parameters: Collection[str]) -> str:
    if not parameters:
        return "this call takes no parameters"
    from difflib import get_close_matches

    near = get_close_matches(name.lower()[:_SHOWN], parameters, n=1, cutoff=0.6)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{guess}this call takes {', '.join(parameters)}"
