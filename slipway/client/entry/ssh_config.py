"""A running job as a host of ssh: what its node needs, and the file for ssh on this machine.

Each connection is an `sshd -i` in the job, which speaks by its input and output: no port, and no server that
stays. Its files are the job's own, below `$AZ_BATCHAI_JOB_TEMP`, and end with it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from slipway.client.entry.places import Place
from slipway.client.entry.program import PYTHON, SHELL
from slipway.client.entry.tools import quoted
from slipway.failure import Failure

#: Exits so where there is no sshd.
NO_SSHD = 3
_PREPARE = r"""
umask 077
for sshd in "$(command -v sshd)" /usr/sbin/sshd; do [ ! -x "$sshd" ] || break; done
if [ ! -x "$sshd" ] || ! command -v ssh-keygen >/dev/null; then exit NO_SSHD; fi
at=$AZ_BATCHAI_JOB_TEMP/.slipway-ssh
mkdir -p -- "$at" && cd -- "$at" || exit 1
[ -s host.pub ] || ssh-keygen -q -t ed25519 -N '' -C '' -f host || exit 1
printf '%s\n' "$1" >authorized_keys
printf '%s' "$2" >program.sh
printf '%s' "$3" >program.py
cat >enter <<END
set -- $4 $5 $6 "\${TERM:-}"
[ -z "\${SSH_ORIGINAL_COMMAND:-}" ] || set -- "\$@" /bin/sh -c "\$SSH_ORIGINAL_COMMAND"
exec /bin/sh "$at/program.sh" "\$(cat "$at/program.py")" "\$@"
END
sftp=
for name in lib/openssh libexec/openssh lib/ssh libexec; do
  [ ! -x "/usr/$name/sftp-server" ] || sftp=/usr/$name/sftp-server
done
cat >config <<END
HostKey $at/host
AuthorizedKeysFile $at/authorized_keys
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
PermitUserRC no
X11Forwarding no
ForceCommand exec /bin/sh '$at/enter'
${sftp:+Subsystem sftp $sftp}
END
cat >serve <<END
[ "\$(id -u)" != 0 ] || mkdir -p /run/sshd
exec "$sshd" -i -f "$at/config"
END
id -un && cat host.pub
"""
_PREPARE = _PREPARE.replace("NO_SSHD", str(NO_SSHD))
#: Runs in the job for each connection.
_SERVE = 'exec /bin/sh "$AZ_BATCHAI_JOB_TEMP/.slipway-ssh/serve"'
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,31}", re.ASCII)
_HOST_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{60,80}={0,2}", re.ASCII)


class Host(NamedTuple):
    """What the node answered: the user there, and the key by which it is known."""

    user: str
    key: str


def preparing(place: Place, public_key: str) -> list[str]:
    """The words that make the node of a job ready for connections with that key."""
    job = (place.job, str(place.attempt), str(place.rank))
    return ["/bin/sh", "-c", _PREPARE, "slipway", public_key, SHELL, PYTHON, *job]


def host_of(text: str) -> Host:
    """What the node printed. Raises Failure for anything else: a job may print what it wants."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 2 or not _USER.fullmatch(lines[0]) or not _HOST_KEY.fullmatch(lines[1]):
        raise Failure("the job answered something else than its user and the key of its host")
    return Host(*lines)


def config(place: Place, host: Host, shell: Sequence[str], folder: Path) -> str:
    """The file for ssh, with one host. `shell`: the words that start `slipway shell`, with its options."""
    name = name_of(place)
    proxy = [*shell, place.job, f"--rank={place.rank}", "--stdio", "--", "/bin/sh", "-c", _SERVE]
    return "\n".join(
        (
            f"Host {name}",
            f"  User {host.user}",
            f"  HostKeyAlias {name}",
            f"  IdentityFile {quoted(str(folder / f'{name}.key'))}",
            "  IdentitiesOnly yes",
            f"  UserKnownHostsFile {quoted(str(folder / f'{name}.known'))}",
            "  StrictHostKeyChecking yes",
            "  ServerAliveInterval 15",
            f"  ProxyCommand {shlex.join(proxy).replace('%', '%%')}",
            "",
        )
    )


def name_of(place: Place) -> str:
    """The name of the host: the job's id, with the rank if that is not the first."""
    return f"{place.job}-{place.rank}" if place.rank else place.job
