"""The certificate of a long session: replaced in time, and once for connections that come together."""

from __future__ import annotations

import asyncio
from pathlib import Path

from slipway.client.entry.session_key import SessionKey


async def test_a_certificate_is_replaced_before_it_is_over_and_not_before(tmp_path: Path) -> None:
    now, answers = [1000.0], []
    key = SessionKey(tmp_path / "key", "ssh-ed25519 A", clock=lambda: now[0])

    async def ask() -> None:
        await asyncio.sleep(0)
        answers.append(now[0])
        key.certify(f"certificate {len(answers)}")

    await asyncio.gather(*(key.renew(ask) for _ in range(8)))
    now[0] += 100
    await key.renew(ask)
    first = (tmp_path / "key-cert.pub").read_text()
    now[0] += 100
    await asyncio.gather(*(key.renew(ask) for _ in range(8)))

    now[0] = 500.0  # the clock was set back
    await key.renew(ask)

    assert answers == [1000.0, 1200.0, 500.0]
    assert first == "certificate 1\n"
    assert (tmp_path / "key-cert.pub").read_text() == "certificate 3\n"
