"""`slipway doctor`: reports what is installed, reachable and misconfigured, with the remedy."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict

from slipway.client.calls.patience import Patience, patience
from slipway.commands.doctor import app, configuration, machine
from slipway.commands.doctor.findings import Check, Finding, Options, fail, print_lines
from slipway.commands.doctor.live import live, quotas
from slipway.terminal.screen import put_json

#: Seconds until a check is given up. With `live`, a drop may take minutes.
_PATIENCE, _LIVE = 60.0, 600.0
CHECKS: Sequence[Check] = (machine.check, configuration.check, app.check, quotas.check)


def run(options: Options, more: Sequence[Check] = (), *, is_live: bool = False, as_json: bool) -> int:
    """Run all checks, including `more`, and show the findings; 1 if something does not work.

    Deployments on Azure are checked only if `is_live`, and then instead of the local stack.
    """
    checks = (app.check, quotas.check, live.check) if is_live else (*CHECKS, *more)
    # It reports what is, so it waits for nothing but the end of a live drop.
    with nullcontext() if is_live else patience(Patience(0.0)):
        findings = asyncio.run(_findings(checks, options, _LIVE if is_live else _PATIENCE))
    good = all(one.outcome != "fail" for one in findings)
    if as_json:
        put_json({"ok": good, "findings": list(map(asdict, findings))})
    else:
        print_lines(findings)
    return 0 if good else 1


async def _findings(checks: Sequence[Check], options: Options, patience: float) -> list[Finding]:
    """Run all checks at once; their findings in the order of the checks."""
    findings = await asyncio.gather(*(_one(check, options, patience) for check in checks))
    return [one for some in findings for one in some]


async def _one(check: Check, options: Options, patience: float) -> list[Finding]:
    try:
        async with asyncio.timeout(patience):
            return await check(options)
    except TimeoutError:
        subject = check.__module__.rpartition(".")[2]
        return [fail(subject, f"no end within {patience:g} s", "run it again")]
