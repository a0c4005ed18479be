"""A certificate leads by a real sshd and a real srun into one job, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest

from local.patience import Patience
from local.slurm import Slurm
from shared.adapters.ssh_certificates import certificates_of
from shared.core.relations.entrance import Entrance
from shared.core.relations.permit import LIFE, SKEW, EntryPermit
from slipway.client.entry.places import Place, place_of
from slipway.client.entry.program import entering
from slipway.client.entry.tools import Person, command
from tests.contract.slurm.login.node import NO_SSHD, SSHD, LoginNode, login_node, new_key
from tests.contract.slurm.test_entrances import CANARY, JOB, at_terminal, conversation, running

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not SSHD, reason=NO_SSHD),
]

#: Variables of the account on the login node, which would decide about a step, or reach the job.
OF_THE_ACCOUNT = {"SLURM_GPUS_PER_NODE": "1", "SLURM_LABELIO": "1", "OF_THE_ACCOUNT": CANARY}


class Site(NamedTuple):
    """A login node of a cluster, and the keys that sign."""

    cluster: Slurm
    node: LoginNode
    ca: Path
    #: the one that follows it, which the node trusts already
    next_ca: Path
    #: one that it does not trust
    other_ca: Path

    @property
    def enter(self) -> Mapping[str, Any]:
        return {"login": "127.0.0.1", "user": self.cluster.user, "certificates": True}

    def person(
        self,
        entrance: Entrance,
        name: str,
        *,
        ca: Path | None = None,
        since: timedelta = timedelta(),
        **more: str,
    ) -> Visitor:
        """A person who has a certificate for that entrance. `since`: how long ago it was signed."""
        file, now = Path(mkdtemp(dir=self.node.folder)) / name, datetime.now(UTC) - since
        signer = certificates_of((ca or self.ca).read_text())
        assert signer is not None
        texts = {"user": self.cluster.user, "gate": entrance.gate, "key_id": f"{name} {JOB}.1.0", **more}
        permit = EntryPermit(new_key(file), begin=now - SKEW, end=now + LIFE, **texts)
        certificate = signer.sign(permit).text
        file.with_name(f"{file.name}-cert.pub").write_text(f"{certificate}\n")
        place = {**entrance.place, "certificate": certificate}
        answer = {"job": JOB, "attempt": 1, "rank": 0, "srun": place}
        return Visitor(self.node, place_of(answer), Person(session=str(file)))


class Visitor(NamedTuple):
    """A person at the login node, with the words of `slipway shell`."""

    node: LoginNode
    place: Place
    person: Person

    def words(self, *words: str, terminal: bool = False) -> list[str]:
        inner = entering(JOB, 1, 0, words, term="xterm" if terminal else "")
        return self.node.ssh(command(self.place, inner, self.person, terminal=terminal))

    def raw(self, *words: str, options: Sequence[str] = ()) -> list[str]:
        """The same ssh, with another command."""
        (*ssh, _) = command(self.place, ["true"], self.person, terminal=False)
        return [*self.node.ssh(ssh, *options), *words]


async def ran(words: Sequence[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return await asyncio.to_thread(subprocess.run, words, input=data, capture_output=True, check=False)


@pytest.fixture(scope="module")
def site(cluster: Slurm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("login")
    ca, following, other = (folder / f"{one}_ca" for one in ("enter", "next", "other"))
    public, next_public, _ = (new_key(one) for one in (ca, following, other))
    variables = {**cluster.client_environment, **OF_THE_ACCOUNT}
    with login_node(folder, cluster.user, f"{public}\n{next_public}", variables) as node:
        yield Site(cluster, node, ca, following, other)


async def test_a_person_with_a_certificate_is_in_that_job_and_the_account_leaves_no_trace(site: Site) -> None:
    data = os.urandom(1 << 20) * 5
    async with running(site.cluster, enter=site.enter) as entered:
        ann = site.person(entered.entrances[0], "ann")
        answer = await ran(ann.words("sh", "-c", 'echo "$COLOUR-$JOB_SECRET"; env; exit 9'))
        copied = await ran(ann.words("cat"), data)
        spoken = await conversation(ann.words("cat"), os.environ)
        rotated = await ran(site.person(entered.entrances[0], "bob", ca=site.next_ca).words("true"))
        shown, code = await asyncio.to_thread(
            at_terminal, ann.words("sh", "-c", "tty && echo $TERM && exit 7", terminal=True), {**os.environ}
        )

    assert answer.returncode == 9, answer.stderr
    assert answer.stdout.startswith(b"dark  blue-of the job\n")
    assert CANARY.encode() not in answer.stdout
    assert b"slipway" not in answer.stderr
    assert copied.stdout == data
    assert spoken == [b"a", b"bc", b"d"]
    assert rotated.returncode == 0, rotated.stderr
    assert (code, "/dev/pts/" in shown, "xterm" in shown) == (7, True, True)
    assert f'ID "ann {JOB}.1.0" (serial ' in site.node.log


#: Commands that would leave a job, if anything read them before its node does.
LINES = ("id -u", "exit 3; $(id)", "'", "--help", "-x; true", "\n\ntrue", "`id`", "\\", '"', "$(kill $PPID)")


async def test_all_that_a_person_sends_runs_in_the_job_of_the_certificate(site: Site) -> None:
    async with (
        running(site.cluster, enter=site.enter) as entered,
        running(site.cluster, enter=site.enter, token="t.2") as another,
    ):
        ann, bob = site.person(entered.entrances[0], "a"), site.person(another.entrances[0], "b")
        shown = "echo in=$SLURM_JOB_ID"
        answers = [await ran(ann.raw(f"eval '{shown}'\n{line}")) for line in LINES]
        alone = [await ran(ann.raw(line)) for line in LINES]
        of_bob = await ran(bob.raw(shown))
        after = await ran(ann.raw(shown))

    own, theirs = (f"in={one.entrances[0].place['job']}\n".encode() for one in (entered, another))
    assert [one.stdout.startswith(own) for one in answers] == [True] * len(LINES)
    assert not any(theirs in one.stdout for one in (*answers, *alone))
    assert (of_bob.stdout, after.stdout) == (theirs, own)


async def test_a_certificate_forwards_nothing(site: Site) -> None:
    strict, port = ("-o", "ExitOnForwardFailure=yes"), site.node.port
    async with running(site.cluster, enter=site.enter) as entered:
        ann = site.person(entered.entrances[0], "ann")
        back = await ran(ann.raw("true", options=(*strict, "-R", f"0:127.0.0.1:{port}")))
        through = await ran(ann.raw(options=("-W", f"127.0.0.1:{port}")))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            local = probe.getsockname()[1]
        session = await asyncio.create_subprocess_exec(
            *ann.raw("echo ready; exec sleep 600", options=("-L", f"{local}:127.0.0.1:{port}")),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert session.stdout is not None
        assert await session.stdout.readline() == b"ready\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", local)
        answer = await reader.read()
        writer.close()
        session.kill()
        await session.wait()

    assert (back.returncode, through.returncode, through.stdout) == (255, 255, b"")
    assert answer == b""  # sshd would have said its name


async def test_what_is_no_certificate_for_this_job_opens_nothing(site: Site) -> None:
    async with (
        running(site.cluster, enter=site.enter) as entered,
        running(site.cluster, enter=site.enter, token="t.2") as another,
    ):
        entrance, theirs = entered.entrances[0], another.entrances[0]
        number, node = theirs.place["job"], theirs.place["node"]
        refused = {
            "expired": site.person(entrance, "expired", since=LIFE + timedelta(seconds=1)),
            "of another deployment": site.person(entrance, "foreign", ca=site.other_ca),
            "for another user": site.person(entrance, "other-user", user="nobody"),
            "a number that has come to another job": site.person(
                entrance, "reused", gate=f"slipway-enter {number} {node} t.1"
            ),
            "no job at all": site.person(entrance, "none", gate=f"slipway-enter 999999 {node} t.1"),
            "the beginning of a mark": site.person(
                entrance, "prefix", gate=f"slipway-enter {number} {node} t"
            ),
        }
        answers = {why: await ran(one.raw("echo in=$SLURM_JOB_ID")) for why, one in refused.items()}
        plain = site.node.folder / "plain"
        new_key(plain)
        alone = Visitor(site.node, refused["expired"].place, Person(session=str(plain)))
        answers["a key alone"] = await ran(alone.raw("true"))
        interactive = await ran(site.person(entrance, "interactive").raw())

    assert {why: (one.returncode, one.stdout) for why, one in answers.items()} == dict.fromkeys(
        answers, (255, b"")
    )
    assert b"slipway shell" in interactive.stderr
    assert interactive.returncode == 255


async def test_what_a_person_leaves_without_a_terminal_ends_soon(site: Site) -> None:
    async def steps() -> list[str]:
        listed = await site.cluster.command(
            "squeue", "--steps", "--noheader", f"--jobs={number}", "--format=%i"
        )
        return [one for one in listed.split() if one.partition(".")[2].isdecimal()]

    async with running(site.cluster, enter=site.enter) as entered:
        ann, number = site.person(entered.entrances[0], "ann"), entered.entrances[0].place["job"]
        before = await steps()
        session = await asyncio.create_subprocess_exec(
            *ann.words("sh", "-c", "echo begun; exec sleep 600"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert session.stdout is not None
        assert await session.stdout.readline() == b"begun\n"
        meanwhile = await steps()
        session.kill()
        await session.wait()
        patience = Patience(120.0)
        while (after := await steps()) != before:
            assert not patience.is_over(after), after
            await asyncio.sleep(0.2)

    assert len(meanwhile) == len(before) + 1


async def test_a_session_ends_with_its_job_and_the_certificate_then_opens_nothing(site: Site) -> None:
    async with running(site.cluster, enter=site.enter) as entered:
        ann = site.person(entered.entrances[0], "ended")
        session = await asyncio.create_subprocess_exec(
            *ann.words("sh", "-c", "echo here; exec sleep 600"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert session.stdout is not None
        assert await session.stdout.readline() == b"here\n"
    code = await session.wait()
    after = await ran(ann.raw("true"))

    assert code != 0
    assert after.returncode == 255
    assert b"does not run any more" in after.stderr


async def test_with_a_key_of_the_account_srun_starts_without_its_variables(
    cluster: Slurm, tmp_path: Path
) -> None:
    public, enter = new_key(tmp_path / "own"), {"login": "127.0.0.1", "user": cluster.user}
    (tmp_path / "authorized").write_text(f"{public}\n")
    variables = {**cluster.client_environment, **OF_THE_ACCOUNT}
    lines = f"AuthorizedKeysFile {tmp_path / 'authorized'}\n"
    with login_node(tmp_path, cluster.user, "", variables, lines) as node:
        async with running(cluster, enter=enter) as entered:
            words = command(entered.places[0], entering(JOB, 1, 0, ["env"]), Person(), terminal=False)
            answer = await ran(node.ssh(words, "-i", str(tmp_path / "own")))

    assert answer.returncode == 0, answer.stderr
    assert b"COLOUR=dark  blue\n" in answer.stdout
    assert CANARY.encode() not in answer.stdout
