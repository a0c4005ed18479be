"""`slipway doctor`: reports what is installed, reachable and misconfigured, with the remedy."""

import asyncio
from collections.abc import Sequence
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
    report = asyncio.run(_findings(checks, options, _LIVE) if is_live else findings(checks, options))
    good = all(one.outcome != "fail" for one in report)
    if as_json:
        put_json({"ok": good, "findings": list(map(asdict, report))})
    else:
        print_lines(report)
    return 0 if good else 1


async def findings(checks: Sequence[Check], options: Options) -> list[Finding]:
    """What the checks find. They report what is, so they wait for nothing."""
    with patience(Patience(0.0)):
        return await _findings(checks, options, _PATIENCE)


async def _findings(checks: Sequence[Check], options: Options, patience: float) -> list[Finding]:
    """Run all checks at once; their findings in the order of the checks."""
    groups = await asyncio.gather(*(_one(check, options, patience) for check in checks))
    return [one for group in groups for one in group]


async def _one(check: Check, options: Options, patience: float) -> list[Finding]:
    try:
        async with asyncio.timeout(patience):
            return await check(options)
    except TimeoutError:
        subject = check.__module__.rpartition(".")[2]
        return [fail(subject, f"no end within {patience:g} s", "run it again")]
