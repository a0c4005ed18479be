"""The arguments of a job that `slipway run` makes, as a shell of its node reads them."""

import subprocess
from pathlib import Path

from slipway.client.request.compose import Choices, compose

ROOT = "AZ_BATCHAI_MOUNT_ROOT"
ARGUMENTS = (f"${ROOT}/a b/$HOME", f"${{{ROOT}}}s", f"${ROOT}", "$1;ls", f"it's ${ROOT}_NOT", "")


def test_the_variables_of_a_job_are_replaced_in_arguments_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "show.sh").write_text('printf "%s\\n" "$@"\n')
    document = compose("show.sh", Choices(arguments=ARGUMENTS), "$AZ_BATCHAI_MOUNT_ROOT/logs")
    line = document["properties"]["customToolkitSettings"]["commandLine"]

    shown = subprocess.run(
        ["bash", "-c", line.replace("<SLIPWAY_FOLDER>", str(tmp_path))],
        env={ROOT: "/mnt/it is; here"},
        capture_output=True,
        check=True,
    )

    place = "/mnt/it is; here"
    expected = [f"{place}/a b/$HOME", f"{place}s", place, "$1;ls", "it's ", ""]
    assert shown.stdout.decode().splitlines() == expected
