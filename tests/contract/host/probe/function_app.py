"""The app whose answers on Azure's host are in answers.json; most functions answer what they received."""

import asyncio
import json
import logging
import sys

import azure.functions as func

_STORAGE = "AzureWebJobsStorage"
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def facts(req: func.HttpRequest, name: str) -> func.HttpResponse:
    """What a function received, as JSON."""
    body = req.get_body()
    members = {
        "function": name,
        "method": req.method,
        "url": req.url,
        "params": dict(req.params),
        "route": dict(req.route_params),
        "headers": sorted([k, v] for k, v in req.headers.items()),
        "body": {"type": type(body).__name__, "length": len(body), "start": body[:80].hex()},
        "form": sorted(req.form) if req.form else [],
    }
    return func.HttpResponse(json.dumps(members), mimetype="application/json")


@app.route(route="echo/{*path}")
def echo(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "echo")


@app.route(route="items/{id:int}/{rest?}", methods=["GET"])
def items(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "items")


@app.route(route="lit/{name}", methods=["GET"])
def lit_any(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "lit_any")


@app.route(route="lit/fixed", methods=["GET"])
def lit_fixed(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "lit_fixed")


@app.route(route="lit/{name:int}", methods=["GET"])
def lit_int(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "lit_int")


@app.route(route="lit/{*rest}", methods=["GET"])
def lit_all(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "lit_all")


@app.route(route="lit/fixed", methods=["PUT"])
def lit_put(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "lit_put")


@app.route(route="MiXed/{Name}", methods=["GET"])
def mixed(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "mixed")


@app.route(route="two/{a}-{b}.txt", methods=["GET"])
def two(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "two")


@app.route(route="dft/{x=5}", methods=["GET"])
def defaulted(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "defaulted")


@app.route(route="cons/{x:guid}", methods=["GET"])
def cons_guid(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "cons_guid")


@app.route(route="num/{x:min(5)}/{y:double}/{z:bool}", methods=["GET"])
def cons_num(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "cons_num")


@app.route()
def noroute(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "noroute")


@app.route(route="onlyget", methods=["GET"])
def onlyget(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "onlyget")


@app.route(route="onlypost", methods=["POST"])
def onlypost(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "onlypost")


@app.route(route="keyed", methods=["GET", "POST"], auth_level=func.AuthLevel.FUNCTION)
def keyed(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "keyed")


@app.route(route="mastered", methods=["GET"], auth_level=func.AuthLevel.ADMIN)
def mastered(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "mastered")


@app.function_name("off")
@app.route(route="off", methods=["GET"])
def switched_off(req: func.HttpRequest) -> func.HttpResponse:
    return facts(req, "off")


@app.route(route="str", methods=["GET", "POST"])
def as_str(req: func.HttpRequest) -> str:
    return str(req.params.get("v", "grüße"))


@app.route(route="none")
def as_none(req: func.HttpRequest) -> func.HttpResponse:
    return None  # type: ignore[return-value]


@app.route(route="wrong/{kind}", methods=["GET"])
def wrong(req: func.HttpRequest) -> func.HttpResponse:
    values = {"dict": {"a": 1}, "list": [1], "int": 3, "bytes": b"x"}
    return values[req.route_params["kind"]]  # type: ignore[return-value]


@app.route(route="raise/{kind}")
async def raises(req: func.HttpRequest) -> func.HttpResponse:
    if req.route_params["kind"] == "cancel":
        raise asyncio.CancelledError("as asked")
    if req.route_params["kind"] == "timeout":
        raise TimeoutError("as asked")
    raise ValueError("a secret detail")


@app.route(route="reply", methods=["GET", "POST", "HEAD", "OPTIONS"])
def reply(req: func.HttpRequest) -> func.HttpResponse:
    """Answer as the JSON in ?spec= says."""
    spec = json.loads(req.params.get("spec") or req.get_body() or b"{}")
    body = bytes.fromhex(spec["hex"]) if "hex" in spec else spec.get("body")
    if "size" in spec:
        body = b"x" * spec["size"]
    options = {name: spec[name] for name in ("mimetype", "charset") if name in spec}
    answer = func.HttpResponse(body, status_code=spec.get("status", 200), **options)
    for name, value in spec.get("headers", []):
        answer.headers.add(name, value)
    return answer


@app.route(route="slow", methods=["GET"])
async def slow(req: func.HttpRequest) -> func.HttpResponse:
    await asyncio.sleep(float(req.params.get("s", "1")))
    return func.HttpResponse("slow")


@app.route(route="context", methods=["GET"])
def in_context(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    trace, retry = context.trace_context, context.retry_context
    members = {
        "id": context.invocation_id,
        "name": context.function_name,
        "directory": context.function_directory,
        "traceparent": trace.Traceparent,  # type: ignore[attr-defined]
        "tracestate": trace.Tracestate,  # type: ignore[attr-defined]
        "attributes": dict(trace.Attributes or {}),  # type: ignore[attr-defined]
        "retry": None if retry is None else str(vars(retry)),
    }
    return func.HttpResponse(json.dumps(members), mimetype="application/json")


@app.route(route="log", methods=["GET"])
def logs(req: func.HttpRequest) -> func.HttpResponse:
    """Write lines of every level, of several loggers, in several lines, printed and with a stack."""
    mark = req.params["mark"]
    for name in ("", "probe", "azure.core", "other"):
        for level in (10, 20, 30, 40, 50):
            logging.getLogger(name or None).log(level, "%s %s", mark, name or "root")
    sys.stdout.write(f"{mark} printed\n")
    sys.stderr.write(f"{mark} printed\n")
    logging.info('%s {"json":\n"line"}', mark)
    try:
        raise ValueError("inner")
    except ValueError:
        logging.exception("%s caught", mark)
    return func.HttpResponse("logged")


@app.queue_trigger(arg_name="msg", queue_name="q-ok", connection=_STORAGE)
async def q_ok(msg: func.QueueMessage) -> None:
    """Run by hand."""


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
async def t_missed(timer: func.TimerRequest) -> None:
    """Run by hand."""


@app.blob_trigger(
    arg_name="blob", path="events/{name}", connection=_STORAGE, source=func.BlobSource.EVENT_GRID
)
def b_event(blob: func.InputStream) -> None:
    """Called by events."""
