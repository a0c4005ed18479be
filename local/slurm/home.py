"""The directory of the mini cluster: keys, configuration, scripts, and the state of one shape."""

import json
import os
import secrets
import shutil
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from local.slurm.configuration import Site, cgroup_conf, devices, gres_conf, hosts, oci_conf, slurm_conf
from local.slurm.programs import Programs, SlurmError

_SCRIPTS = Path(__file__).with_name("scripts")


def prepare(site: Site, programs: Programs, node_path: Sequence[Path]) -> None:
    """Write all files that the daemons read. Raises SlurmError if the daemons could not work with them."""
    home = site.home
    _check_hostname(site.hostname)
    for name in ("bin", "dev", "logs", "run", "shared", "state"):
        (home / name).mkdir(parents=True, exist_ok=True)
    _forget_another_shape(site)
    _key(home / "munge.key", 1024)
    _key(home / "jwt.key", 32)
    shutil.copytree(_SCRIPTS, home / "bin", dirs_exist_ok=True)
    own = [programs.root / "slurm"] if programs.root else []
    (home / "path").write_text(":".join(map(str, [*own, *node_path])))
    (home / "environment").write_text(_environment(site, programs))
    (home / "slurm.conf").write_text(slurm_conf(site))
    (home / "hosts").write_text(hosts(site))
    (home / "cgroup.conf").write_text(cgroup_conf(site))
    (home / "gres.conf").write_text(gres_conf(site))
    (home / "oci.conf").write_text(oci_conf(site))
    (home / "client.conf").unlink(missing_ok=True)
    (home / "client.conf").symlink_to("slurm.conf")
    for partition in site.partitions:
        for name in partition.node_names:
            (site.sockets / name).mkdir()
        for number in range(partition.gpus):
            device = Path(devices(home, partition.gpus).partition("[")[0] + str(number))
            if not device.is_symlink():
                device.symlink_to("/dev/null")


def _environment(site: Site, programs: Programs) -> str:
    """The variables for the scripts that slurmctld calls; it passes none on."""
    stepd = shutil.which("slurmstepd", path=programs.path)
    lines = [f"PATH={programs.path}", f"SLURM_CONF={site.home}/slurm.conf", f"stepd={stepd}"]
    return "\n".join([*lines, "export PATH SLURM_CONF", ""])


def _check_hostname(hostname: str) -> None:
    try:
        socket.gethostbyname(hostname)
    except OSError as error:
        raise SlurmError(
            f"this machine cannot resolve its own name, {hostname}, and Slurm would wait 5 s at every call: "
            f"add the line `127.0.0.1 {hostname}` to /etc/hosts"
        ) from error


def _forget_another_shape(site: Site) -> None:
    """Remove the state of another shape: Slurm drains nodes that differ from its saved state."""
    file = site.home / "shape.json"
    shape = json.dumps([asdict(partition) for partition in site.partitions])
    if not file.is_file() or file.read_text() != shape:
        shutil.rmtree(site.home / "state")
        (site.home / "state").mkdir()
    file.write_text(shape)


def _key(file: Path, size: int) -> None:
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(secrets.token_bytes(size))
