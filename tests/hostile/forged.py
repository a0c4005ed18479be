"""A job that writes its own record: it ended well, and ran for no time. Then it runs for some seconds.

This file is the job's program, so it imports nothing of ours. It finds its record as any job could: beside
the directory that all nodes share, or by what the environment of a process above it says.
"""

import base64
import json
import os
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

#: How long it runs after it has forged its record.
SECONDS = 4


def forging() -> str:
    """The command of a job that runs this program."""
    program = base64.b64encode(Path(__file__).read_bytes()).decode()
    return f"echo {program} | base64 -d >forge.py && python3 forge.py"


def _record(token: str, run: str) -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    result = {"state": "ended", "reason": "", "message": "", "final": True, "code": 0, "exitCode": 0}
    places: dict[str, Any] = {"directories": {}, "hosts": []}
    return {"version": 1, "token": token, "run": run, "started": now, "ended": now, **result, **places}


def _write(path: Path, value: Any) -> None:
    new = path.with_name("new-" + path.name)
    new.write_text(json.dumps(value))
    new.rename(path)


def _forge_files(attempt: Path, run: str, token: str) -> None:
    last = max(int(one.name) for one in (attempt / "turns").iterdir())
    _write(attempt / "turns" / str(last + 1), {"token": token, "ended": _record(token, run)})
    _write(attempt / run / "result.json", _record(token, run))


def _forge_blobs(where: dict[str, str], run: str, token: str) -> None:
    body = json.dumps({"token": token, "ended": _record(token, run)}).encode()
    for number in range(2, 5):
        url = f"{where['container']}/{where['prefix']}/turns/{number}?{where['signature']}"
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02"}
        urllib.request.urlopen(urllib.request.Request(url, body, headers, method="PUT")).close()


def _plans() -> list[dict[str, Any]]:
    """What the environments of all processes say of this job."""
    plans = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError, ValueError):
            words = (word.partition("=") for word in entry.read_bytes().decode().split("\0"))
            plans += [json.loads(value) for name, _, value in words if name == "SLIPWAY_PLAN"]
    return [plan for plan in plans if plan["token"] == os.environ["SLIPWAY_TOKEN"]]


def main() -> None:
    """Forge the record, wherever it is, and go on."""
    shared, token = (
        Path(os.environ.get("AZ_BATCHAI_SHARED_JOB_TEMP", "/nowhere")),
        os.environ["SLIPWAY_TOKEN"],
    )
    run = shared.parent.name
    with suppress(OSError):
        _forge_files(shared.parent.parent, run, token)
    for plan in _plans():
        if plan["records"].startswith("{"):
            _forge_blobs(json.loads(plan["records"]), run, token)
    time.sleep(SECONDS)


if __name__ == "__main__":
    main()
