"""E-mail for people at a real SMTP server: what arrives, encrypted or not at all, and what answers mean."""

from __future__ import annotations

import email.policy
import logging
import os
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.webhook.channels import ChannelSender
from shared.adapters.webhook.mail import MailSender
from shared.core.notify.channels import Channel, Mail
from shared.core.notify.words import message_of
from shared.core.ports import Posted
from tests.contract.webhooks.mail_server import MailServer, mail_server
from tests.contract.webhooks.test_channels import HOSTILE, event
from tests.contract.webhooks.test_tls import certificates, run
from tests.contract.webhooks.webhook_world import CANARY, sender

PAGE = "https://app.example.com/api/ui/"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RECIPIENTS = ("ann@example.com", "ops@example.com")


def mail_to(server: MailServer, **members: Any) -> Mail:
    return replace(
        Mail("127.0.0.1", server.port, "slipway@example.com", RECIPIENTS, encrypts=False), **members
    )


async def posted_to(server: MailServer, written: str, **members: Any) -> Posted:
    channels = {"ops": Channel("email", "", mail=mail_to(server, **members))}
    async with sender() as webhooks:
        return await ChannelSender(webhooks, channels, PAGE).send("ops", "evt_abc", written, NOW)


def read(data: bytes) -> EmailMessage:
    return BytesParser(policy=email.policy.default).parsebytes(data)


async def test_a_message_arrives_at_every_recipient_under_the_id_of_its_event() -> None:
    async with mail_server() as server:
        posted = await posted_to(server, event(lastError="ValueError: ünï"))
        again = await posted_to(server, event(lastError="ValueError: ünï"))

    assert (posted.outcome, posted.status, again.outcome) == ("delivered", 250, "delivered")
    assert server.messages[0] == server.messages[1]
    one = read(server.messages[0])
    assert (one["Subject"], one["From"], one["To"]) == (
        "mnist-2: failed",
        "slipway@example.com",
        ", ".join(RECIPIENTS),
    )
    assert (one["Message-ID"], one["Auto-Submitted"]) == ("<evt_abc@example.com>", "auto-generated")
    assert one.get_content_type() == "text/plain"
    assert one.get_content().splitlines() == [
        *("mnist-2: failed", "", "Job: j_1", "Last error: ValueError: ünï", ""),
        f"{PAGE}#/jobs/j_1",
    ]
    recipients = [line for line in server.lines if line.lower().startswith("plain: rcpt")]
    assert len(recipients) == 2 * len(RECIPIENTS)


async def test_what_a_job_wrote_adds_no_header_recipient_or_part() -> None:
    hostile = f"x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<a@b>\r\n{HOSTILE}" * 40
    async with mail_server() as server:
        await posted_to(server, event(**dict.fromkeys(("name", "message", "lastError"), hostile)))

    (data,) = server.messages
    one = read(data)
    assert set(one.keys()) == {
        *("Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted", "MIME-Version"),
        *("Content-Type", "Content-Transfer-Encoding"),
    }
    assert len(str(one["Subject"]).splitlines()) == 1
    assert not one.is_multipart()
    assert len(data) < 20_000
    assert sum(line.upper().startswith("PLAIN: MAIL") for line in server.lines) == 1


@pytest.mark.parametrize(
    ("answers", "status", "detail"),
    [
        ({"RCPT": "550 no such user"}, None, "the mail server refuses every recipient"),
        ({"MAIL": "451 later"}, 451, "the mail server answers 451"),
        ({"DATA": "554 no"}, 554, "the mail server answers 554"),
        ({"AUTH": "535 no"}, 535, "the mail server refuses the login"),
        ({"EHLO": "", "HELO": ""}, None, "the mail server closed the connection, or took too long"),
    ],
)
async def test_what_is_refused_is_tried_again_and_said_without_words_of_the_server(
    answers: dict[str, str], status: int | None, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with mail_server(
        {name: f"{text} {CANARY}" if text else "" for name, text in answers.items()}
    ) as server:
        mail = mail_to(server, user="me", password=CANARY)
        posted = await MailSender(1.0).send(mail, "evt_abc", message_of(event(), PAGE), NOW)

    assert (posted.outcome, posted.status) == ("retry", status)
    assert CANARY not in f"{posted}{caplog.text}{mail}"
    assert posted.detail == detail


async def test_no_server_answers_is_tried_again() -> None:
    mail = Mail("127.0.0.1", 9, "slipway@example.com", RECIPIENTS, encrypts=False)

    posted = await MailSender().send(mail, "evt_abc", message_of(event(), PAGE), NOW)

    assert (posted.outcome, posted.detail) == ("retry", "it refuses the connection")


async def test_without_encryption_neither_the_login_nor_the_message_is_sent() -> None:
    async with mail_server() as server:
        mail = mail_to(server, user="me", password=CANARY, encrypts=True)
        posted = await MailSender().send(mail, "evt_abc", message_of(event(), PAGE), NOW)

    assert posted.outcome == "retry"
    assert "does not offer" in posted.detail
    assert server.messages == []
    assert not [line for line in server.lines if "AUTH" in line]


async def test_encryption_proves_the_name_of_the_server(tmp_path: Path) -> None:
    issue = certificates(tmp_path, [])
    script = (
        "import asyncio, sys; from datetime import *\n"
        "from shared.adapters.webhook.mail import *; from shared.core.notify.channels import Mail\n"
        "from shared.core.notify.words import Message\n"
        "async def main():\n"
        "    for port in map(int, sys.argv[1:]):\n"
        "        mail = Mail('localhost', port, 'a@example.com', ('b@example.com',), 'me', 'secret')\n"
        "        d = await MailSender().send(mail, 'e', Message('x', ()), datetime.now(UTC))\n"
        "        print(d.outcome)\n"
        "asyncio.run(main())\n"
    )
    async with (
        mail_server(tls=issue("localhost")) as right,
        mail_server(tls=issue("mail.example.com")) as wrong,
    ):
        trusted = await run(script, str(right.port), str(wrong.port), SSL_CERT_FILE=str(tmp_path / "ca.pem"))
        unknown = await run(script, str(right.port), SSL_CERT_FILE=os.devnull)

    assert (trusted, unknown) == (["delivered", "retry"], ["retry"])
    assert (len(right.messages), len(wrong.messages)) == (1, 0)
    assert not [line for line in (*right.lines, *wrong.lines) if line.startswith("plain: AUTH")]
