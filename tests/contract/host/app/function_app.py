"""A small app for the host's conformance suite: one function for each thing the host promises."""

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import List  # noqa: UP035 - the production runtime refuses list[str] here

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)
log = logging.getLogger("sample")


@app.queue_trigger(arg_name="msg", queue_name="work", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="$return", queue_name="done", connection="AzureWebJobsStorage")
async def work(msg: func.QueueMessage, context: func.Context) -> str:
    """Act on a command and report what was received."""
    body = msg.get_body().decode()
    command = json.loads(body) if body.startswith("{") else {"do": body}
    log.info("working on %s", command["do"])
    if command["do"] == "fail":
        raise ValueError("asked to fail")
    if command["do"] == "crash":
        os._exit(3)
    if command["do"] == "hang":
        await asyncio.sleep(600)
    if command["do"] == "nap":
        await asyncio.sleep(float(command["seconds"]))
    if command["do"] == "mark":
        await asyncio.sleep(float(command["seconds"]))
        await asyncio.to_thread(Path(command["file"]).touch)
    if command["do"] == "sdk":
        logging.getLogger("azure.core").info("a request of the library")
    return json.dumps(
        {
            "body": body,
            "id": msg.id,
            "attempt": msg.dequeue_count,
            "inserted": msg.insertion_time is not None,
            "invocation": context.invocation_id,
        }
    )


@app.queue_trigger(
    arg_name="msg",
    queue_name="bytes",
    connection="AzureWebJobsStorage",
    data_type=func.DataType.BINARY,
)
@app.queue_output(arg_name="$return", queue_name="done", connection="AzureWebJobsStorage")
async def as_bytes(msg: func.QueueMessage) -> str:
    """Report a message that the host hands over as bytes."""
    return json.dumps({"body": msg.get_body().decode(), "id": msg.id, "attempt": msg.dequeue_count})


@app.queue_trigger(arg_name="text", queue_name="plain", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="out", queue_name="done", connection="AzureWebJobsStorage")
def plain(text: str, out: func.Out[str]) -> None:
    """A function on a thread with a text parameter and an output parameter."""
    logging.info("plain got %s", text)
    out.set(f"plain:{text}")


@app.queue_trigger(arg_name="msg", queue_name="%FAN_QUEUE%", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="out", queue_name="done", connection="AzureWebJobsStorage")
def fan(msg: func.QueueMessage, out: func.Out[List[str]]) -> None:  # noqa: UP006 - as above
    out.set(msg.get_body().decode().split(","))


@app.blob_trigger(arg_name="blob", path="drop/{folder}/{name}.txt", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="$return", queue_name="done", connection="AzureWebJobsStorage")
@app.blob_output(arg_name="copy", path="copies/{folder}/{name}.upper", connection="AzureWebJobsStorage")
def dropped(blob: func.InputStream, copy: func.Out[str]) -> str:
    """Report a blob and write another one."""
    text = blob.read().decode()
    if text == "fail":
        raise ValueError("asked to fail")
    copy.set(text.upper())
    return f"{blob.name}:{blob.length}:{text}"


@app.blob_trigger(
    arg_name="blob",
    path="events/{name}",
    connection="AzureWebJobsStorage",
    source=func.BlobSource.EVENT_GRID,
)
@app.queue_output(arg_name="$return", queue_name="done", connection="AzureWebJobsStorage")
def announced(blob: func.InputStream) -> str:
    """Report a blob whose event came."""
    return f"event:{blob.name}"


@app.timer_trigger(arg_name="timer", schedule="%TICK%", run_on_startup=False)
@app.queue_output(arg_name="$return", queue_name="ticks", connection="AzureWebJobsStorage")
async def tick(timer: func.TimerRequest) -> str:
    return f"tick past_due={timer.past_due}"


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:00")
@app.queue_output(arg_name="$return", queue_name="ticks", connection="AzureWebJobsStorage")
def stubborn(timer: func.TimerRequest, context: func.Context) -> str:
    """Fail until the last retry."""
    if context.retry_context.retry_count < 2:
        raise RuntimeError("not yet")
    return f"stubborn after {context.retry_context.retry_count} retries"


@app.queue_trigger(arg_name="msg", queue_name="never", connection="AzureWebJobsStorage")
def switched_off(msg: func.QueueMessage) -> None:
    """Disabled by a setting."""


@app.route(route="items/{id:int}/{rest?}", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
def item(req: func.HttpRequest) -> func.HttpResponse:
    """Answer with what the request held."""
    parts = {"id": req.route_params["id"], "rest": req.route_params.get("rest"), "q": dict(req.params)}
    return func.HttpResponse(json.dumps(parts), mimetype="application/json", headers={"X-Seen": "yes"})


@app.route(route="echo", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
async def echo(req: func.HttpRequest) -> func.HttpResponse:
    """Give the body back, with two cookies."""
    response = func.HttpResponse(req.get_body(), status_code=201, mimetype="application/octet-stream")
    response.headers.add("Set-Cookie", "a=1; Path=/; HttpOnly")
    response.headers.add("Set-Cookie", "b=2; Max-Age=60; SameSite=Lax")
    return response


@app.route(route="broken", auth_level=func.AuthLevel.ANONYMOUS)
def broken(req: func.HttpRequest) -> func.HttpResponse:
    """Raise."""
    raise RuntimeError("a secret detail")


@app.route(route="settings/{name}", auth_level=func.AuthLevel.ADMIN)
def setting(req: func.HttpRequest) -> str:
    """The value of an environment variable."""
    return os.environ.get(req.route_params["name"], "")
