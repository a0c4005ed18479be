"""The same job as a Celery task: late acknowledgement, results, a signed POST. Run by `bench.celery.peer`."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from standardwebhooks.webhooks import Webhook

app = Celery("bench", broker=os.environ["BENCH_REDIS"], backend=os.environ["BENCH_REDIS"])
app.conf.update(task_acks_late=True, task_reject_on_worker_lost=True, worker_prefetch_multiplier=4)
_webhook = Webhook(os.environ["BENCH_SECRET"])
_connections: dict[str, http.client.HTTPConnection] = {}


@app.task  # type: ignore[untyped-decorator]
def run(document: dict[str, Any], hook: str, command: str) -> int:
    """Run the command, if there is one, and send the webhook."""
    code = subprocess.run([command], check=False).returncode if command else 0
    body = json.dumps({"type": "succeeded", "data": {"job": document["properties"], "exitCode": code}})
    identity, now = f"evt_{uuid.uuid4().hex}", datetime.now(UTC)
    headers = {
        "webhook-id": identity,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": _webhook.sign(identity, now, body),
        "Content-Type": "application/json",
    }
    address = urlsplit(hook)
    connection = _connections.setdefault(address.netloc, http.client.HTTPConnection(address.netloc))
    connection.request("POST", address.path, body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status
