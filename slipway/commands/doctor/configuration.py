"""Checks profiles, environment and settings: readable, valid, and private to their owner."""

import asyncio
import difflib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.setting_table.functions_off import EXPECTED, functions_off
from shared.settings import TABLE, Settings
from slipway.client.drops.folder import has_container
from slipway.client.profiles import file_of, read_profiles
from slipway.commands.doctor.findings import Finding, Options, fail, ok, private, warn
from slipway.failure import Failure
from slipway.settings import is_local, load, running_stacks

#: Variables of the command, the local stack and its tests, in addition to the app's settings.
_OWN = frozenset(
    {"SLIPWAY_URL", "SLIPWAY_KEY", "SLIPWAY_PROFILE", "SLIPWAY_NODE", "SLIPWAY_NODE_MODULES", "SLIPWAY_AZ"}
)
_DEVELOPMENT = "UseDevelopmentStorage=true"
#: Seconds for the storage account to answer.
_PATIENCE = 15.0


async def check(options: Options) -> list[Finding]:
    """Profiles, names in the environment, settings, and the storage account that they name."""
    return [*profiles(os.environ), *environment(os.environ), *await _settings(options)]


def profiles(environment: Mapping[str, str]) -> list[Finding]:
    """The file of `slipway login`, and whether only its owner may read and replace it."""
    file = file_of(environment)
    try:
        known_profiles = read_profiles(file)
    except Failure as failure:
        return [fail("profiles", str(failure))]
    if not known_profiles.by_name:
        return [ok("profiles", "none; `slipway login URL` creates one")]
    if stat.S_IMODE(file.parent.stat().st_mode) & 0o022:
        text = f"others may replace {file}, and so choose where your keys go"
        return [fail("profiles", text, f"chmod 700 {file.parent}")]
    number, current = len(known_profiles.by_name), known_profiles.current or "none"
    return [ok("profiles", f"{number} in {file}, for its owner only; current: {current}")]


def environment(environment: Mapping[str, str]) -> list[Finding]:
    """Variables with our prefix that nothing reads. Their values are ignored."""
    known_names = {*TABLE, *_OWN}
    names = [
        name
        for name in sorted(environment)
        if name.startswith("SLIPWAY_") and name.partition("__")[0] not in known_names
    ]
    findings = []
    for name in names:
        near = difflib.get_close_matches(name, known_names, 1, 0.8)
        remedy = f"did you mean {near[0]}?" if near else f"unset {name}, unless another program needs it"
        findings.append(warn("environment", f"nothing reads {name}", remedy))
    return findings


async def _settings(options: Options) -> list[Finding]:
    try:
        settings, source = load(options.settings_file, os.environ)
    except Failure as failure:
        if options.settings_file:
            return [fail("settings", str(failure))]
        return [ok("settings", "none, so `run`, `drop` and `enqueue` need SLIPWAY_STORAGE or --settings")]
    try:
        findings = _sense(settings, of_app=source != "the environment")
    except Misconfigured as error:
        return [fail("settings", f"{source}: {error}", "correct it there")]
    if settings.values.get("SLIPWAY_STORAGE") != _DEVELOPMENT and source != "the environment":
        findings += private("settings", Path(source))
    findings.insert(0, ok("settings", f"come from {source}"))
    if is_local(source) and not running_stacks():
        return [*findings, ok("storage", "that of the local stack, which is not running")]
    return [*findings, await storage(settings)]


def _sense(settings: Settings, *, of_app: bool) -> list[Finding]:
    """The problem with the settings, and for a whole app also with its clusters. Raises Misconfigured."""
    settings.check()
    settings.connection()
    if not of_app:
        return []
    settings.schedule()
    unknown = [
        warn("settings", f"{name[:80]} is not a setting", f"did you mean {near}?" if near else "remove it")
        for name, near in settings.unknown().items()
    ]
    faults = ConfiguredEngines(settings).faults()
    off = functions_off(settings.values)
    return [
        *((fail if name in EXPECTED else warn)("settings", why) for name, why in off.items()),
        *unknown,
        *(fail("settings", f"no job can run on {name}: {why}") for name, why in faults.items()),
    ]


async def storage(settings: Settings) -> Finding:
    """Whether the container for drops exists, and the signed-in identity can see it and write into it."""
    name = settings.text("SLIPWAY_DROP_CONTAINER")
    try:
        async with asyncio.timeout(_PATIENCE):
            exists = await has_container(settings, name)
    except Failure as failure:
        return fail("storage", str(failure))
    except TimeoutError:
        text = f"the storage account does not answer within {_PATIENCE:g} s"
        return fail("storage", text, "check SLIPWAY_STORAGE, and that it runs")
    if not exists:
        return fail("storage", f"there is no container {name}", "`slipway setup` in a clone creates it")
    return ok("storage", f"answers, and has the container {name} for drops")
