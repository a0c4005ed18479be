"""`slipway cat`: prints a file that a job wrote: its bytes, or on a terminal what is harmless of them."""

import sys
from contextlib import aclosing

from shared.jobspec import character_flaw
from slipway.client.files.finding import look_for
from slipway.client.files.output import Bounds, chunks
from slipway.client.files.remote import Remote
from slipway.client.jobs.lines import printer_of
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.failure import Failure
from slipway.terminal.characters import printable


def cat(job: str, name: str, url: str, key: str, attempt: int = 0) -> int:
    """Write a file of a job to standard output, in chunks of bounded size."""

    async def ask(api: Service, job_id: str) -> int:
        directory, _, path = name.partition("/")
        if not path or directory not in await api.outputs(job_id):
            directory, path = "stdouterr", name
        if flaw := character_flaw(path):
            raise Failure(f"{printable(name)} {flaw}; copy the file from where the job wrote it")
        folder, _, last = path.rpartition("/")

        async def size() -> int | None:
            entries = await api.files(job_id, directory, folder or ".")
            return next((entry["bytes"] for entry in entries if entry["name"] == last), None)

        finding = await look_for(api, job_id, size, lambda size: size is not None)
        if finding.what is None:
            raise Failure(
                f"there is no file {printable(name)}{finding.proviso}; "
                f"list them: slipway files {job_id} --tree"
            )
        file = Remote(directory, path, finding.what, None)
        count, whole, printer = 0, 0, printer_of(sys.stdout, exact=True)
        async with aclosing(chunks(api, job_id, file, Bounds())) as content:
            async for chunk in content:
                count, whole = count + len(chunk.data), chunk.size
                printer.write(path, "", chunk.data)
        printer.finish()
        if count != whole:
            raise Failure(f"{printable(name)}: {count:,} of {whole:,} bytes arrived")
        return 0

    return asking_about(job, ask, url, key, attempt)
