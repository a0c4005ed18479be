"""The outlook of a dropped folder, by the rules of the function that processes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shared.core.errors import Misconfigured
from shared.core.ports import Drops, Ports
from shared.intake.drops.contents import Whole, all_files, files_in, too_many, with_cold
from shared.intake.drops.files_of_run import flaw_of
from shared.intake.drops.folder import parent, plans
from shared.intake.drops.freeze import is_live
from shared.intake.drops.plan import Plan, Plans
from shared.settings import Settings
from shared.wiring import build
from slipway.client.drops.no_teams import with_files

ONLY_TEMPLATE = "its job.json is a template, which runs scripts of the folders below, never itself"


@dataclass(frozen=True)
class Outlook:
    """How many runs a folder begins, or why it begins none, with a line for each folder."""

    runs: int = 0
    waits: tuple[str, ...] = ()
    #: whether it is a template, which waits for folders below it
    template: bool = field(default=False, compare=False)
    #: the runs, where the settings tell what the function app makes of the files
    plans: tuple[Plan, ...] = field(default=(), compare=False)


async def outlook(settings: Settings, drops: Drops, names: Sequence[str]) -> Outlook:
    """The runs that these blobs begin. Assumes one run if the settings lack what the function app needs."""
    try:
        ports = with_files(build(settings), drops)
    except Misconfigured:
        return Outlook(1)
    folders = sorted({parent(name) for name in names})
    runs, waits, template = list[Plan](), list[str](), True
    for folder in folders:
        files = await files_in(ports, folder)
        if files is None:
            folder_plans = Plans(waits=too_many(ports))
        else:
            folder_plans = await plans(ports, folder, files.blobs, deeper=files.deeper)
            if folder_plans.runs:
                folder_plans = _judged(ports, folder_plans, await all_files(drops, folder, files))
        runs += folder_plans.runs
        if folder_plans.waits:
            waits.append(f"{folder.rstrip('/')}: {folder_plans.waits}")
            template = template and folder_plans.of_template
    if runs:
        return Outlook(len(runs), plans=tuple(runs))
    return Outlook(0, tuple(waits) or (f"{folders[0].rstrip('/')}: {ONLY_TEMPLATE}",), template)


def _judged(ports: Ports, plans: Plans, files: Whole) -> Plans:
    """The same plans; each run says what of the folder its job cannot read, or cannot take along."""
    runs = [
        replace(run, problems=(*run.problems, flaw))
        if not is_live(ports, run.job.document) and (flaw := flaw_of(run, files))
        else run
        for run in plans.runs
    ]
    return with_cold(replace(plans, runs=tuple(runs)), files.blobs)
