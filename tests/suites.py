"""Which suites `make test` runs beside the unit tests, and which it leaves to `.ci/run`.

`python3 -m tests.suites`: the places of the first, for pytest. A test holds that each suite is in one of
the lists. Standard library only.
"""

import sys


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/{name}" for name in names.split())


#: Each room of the app, and the command, at its own doors and through the front door. What takes longest
#: comes first, so that short suites fill the end.
FIRST = (
    *_in("acceptance", "test_bad_input.py test_canaries.py test_dead.py test_doctor.py test_doors.py"),
    *_in("acceptance", "test_events.py test_explain.py test_nodes.py test_operate.py test_receipts.py"),
    *_in("acceptance", "test_run.py"),
    *_in("contract", "test_engine.py test_batchai_lists.py test_data.py test_drops.py test_entra.py"),
    *_in("contract", "test_ledger.py test_status.py test_storage_faults.py test_telemetry.py test_writes.py"),
    *_in("contract", "addresses azurebatch/test_store.py blobs kubernetes/test_given_up.py"),
    *_in("contract", "kubernetes/test_gone.py kubernetes/test_images.py kubernetes/test_jobs.py"),
    *_in("contract", "kubernetes/test_setup.py sweeps table webhooks"),
    *_in("slow", "admission confined connections core delivery engines/batch engines/batchai"),
    *_in("slow/engines", "kubernetes/test_closed.py kubernetes/test_code.py kubernetes/test_forget.py"),
    *_in("slow/engines", "kubernetes/test_recorded.py kubernetes/test_recorded_words.py"),
    *_in("slow/engines", "kubernetes/test_replay.py kubernetes/test_start.py kubernetes/test_ticks.py"),
    *_in("slow/engines", "slurm/test_asked.py slurm/test_claims.py slurm/test_displaced.py"),
    *_in("slow/engines", "slurm/test_program.py slurm/test_usage.py test_closed_saved.py test_tar.py"),
    *_in("slow", "intake lifecycle page slipway/test_compose.py slipway/test_doctor.py"),
    *_in("slow/slipway", "test_ignored_by_git.py test_init.py test_main.py test_stopped.py"),
)
#: For a change as a whole: the emulators and hosts of the local stack, the commands of the guides, journeys
#: with a stack of their own, other people's programs, and what reads the source or tries the tools.
LEFT = (
    *_in("acceptance", "az azurebatch commands entra hosts keys names own_code pages python setup templates"),
    *_in("acceptance", "test_chaos.py test_demo.py test_direct.py test_doctor_live.py test_download.py"),
    *_in("acceptance", "test_push.py test_up.py"),
    *_in("contract", "azurebatch emulator host kubernetes test_border.py test_durable_storage.py"),
    *_in("contract", "test_listing.py test_local_receiver.py"),
    *_in("slow", "engines/kubernetes/test_alone.py engines/slurm/test_code.py engines/test_packages.py"),
    *_in("slow", "engines/slurm/test_hostile_variables.py engines/slurm/test_time_to_save.py"),
    *_in("slow", "examples infra local project slipway tooling"),
)

if __name__ == "__main__":
    sys.stdout.write(" ".join(FIRST) + "\n")
