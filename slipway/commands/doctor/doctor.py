"""`slipway doctor`: what is installed, reachable and misconfigured, and the remedy."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from slipway.commands.doctor import app, configuration, machine
from slipway.commands.doctor.findings import Check, Finding, Options, fail, print_lines
from slipway.screen import put_json

#: Seconds after which a check is given up.
_PATIENCE = 60.0
CHECKS: Sequence[Check] = (machine.check, configuration.check, app.check)


def run(options: Options, more: Sequence[Check] = (), *, as_json: bool) -> int:
    """Look at everything, `more` included, and show it; 1 if something does not work."""
    findings = asyncio.run(_findings([*CHECKS, *more], options))
    good = all(one.outcome != "fail" for one in findings)
    if as_json:
        put_json({"ok": good, "findings": list(map(asdict, findings))})
    else:
        print_lines(findings)
    return 0 if good else 1


async def _findings(checks: Sequence[Check], options: Options) -> list[Finding]:
    """Run all checks at once; their findings in the order of the checks."""
    return [one for some in await asyncio.gather(*(_one(check, options) for check in checks)) for one in some]


async def _one(check: Check, options: Options) -> list[Finding]:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await check(options)
    except TimeoutError:
        subject = check.__module__.rpartition(".")[2]
        return [fail(subject, f"no end within {_PATIENCE:g} s", "run it again")]
