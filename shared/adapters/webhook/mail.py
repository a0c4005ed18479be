"""Sends messages by e-mail, over SMTP, on threads of its own: the standard library's client blocks.

The server, its login and the recipients are an operator's, and no job can choose them. The server may stand
in an inner network. Nothing is sent without encryption, except to this machine on a local stack.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from functools import partial
from typing import NamedTuple

from shared.core.no_answer import no_answer
from shared.core.notify.channels import Mail
from shared.core.notify.words import Message
from shared.core.ports import Outcome, Posted

#: Messages on their way at once, and the port on which encryption begins at once.
_THREADS, _AT_ONCE = 4, 465


class _Result(NamedTuple):
    """The last code of the server, and the outcome in words."""

    status: int | None
    detail: str


class MailSender:
    """Sends messages. A try takes at most `seconds`; each step of the conversation half of that."""

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._pool: ThreadPoolExecutor | None = None
        self._under_way = 0

    async def send(self, mail: Mail, event_id: str, message: Message, now: datetime) -> Posted:
        """One try. The id of the message follows from that of the event, so that a mailbox shows it once."""
        if self._under_way >= _THREADS:
            return Posted("busy", None, "not sent: enough is under way to mail servers", None, 0)
        self._pool = self._pool or ThreadPoolExecutor(_THREADS, thread_name_prefix="mail")
        work = partial(self._deliver, mail, _email(mail, event_id, message, now))
        self._under_way += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._ended)
        outcome: Outcome = "delivered"
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._seconds):
                result = await asyncio.shield(future)
        except (smtplib.SMTPException, OSError) as error:  # TimeoutError is an OSError
            outcome, result = "retry", _failure(error, self._seconds)
        milliseconds = round((time.perf_counter() - started) * 1000)
        return Posted(outcome, result.status, result.detail, None, milliseconds)

    def _ended(self, future: asyncio.Future[_Result]) -> None:
        self._under_way -= 1
        if not future.cancelled():
            future.exception()  # one after its time is over is of no interest

    def _deliver(self, mail: Mail, email: EmailMessage) -> _Result:
        step, own_name = self._seconds / 2, mail.sender.partition("@")[2]
        tls = ssl.create_default_context() if mail.encrypts else None
        connect: partial[smtplib.SMTP] = partial(smtplib.SMTP, local_hostname=own_name, timeout=step)
        if tls is not None and mail.port == _AT_ONCE:
            connect = partial(smtplib.SMTP_SSL, local_hostname=own_name, timeout=step, context=tls)
        with connect(mail.host, mail.port) as server:
            if tls is not None and mail.port != _AT_ONCE:
                server.starttls(context=tls)
            if mail.user:
                server.login(mail.user, mail.password)
            refused = server.send_message(email, mail.sender, list(mail.to))
        addition = f", but not to {len(refused)} of {len(mail.to)} recipients" if refused else ""
        return _Result(250, f"taken{addition}")


def _email(mail: Mail, event_id: str, message: Message, now: datetime) -> EmailMessage:
    """The e-mail: plain text in lines, of a title and values that are one line each."""
    email = EmailMessage()
    email["Subject"], email["From"], email["To"] = message.title, mail.sender, ", ".join(mail.to)
    email["Date"] = format_datetime(now)
    email["Message-ID"] = f"<{event_id}@{mail.sender.partition('@')[2]}>"
    email["Auto-Submitted"] = "auto-generated"  # no one's holiday answers it
    lines = [f"{one.label}: {one.value}" for one in message.facts]
    email.set_content("\n".join([message.title, "", *lines, *(["", message.page] if message.page else [])]))
    return email


def _failure(error: Exception, within: float) -> _Result:
    """The code and the meaning of an error, without the words of the server."""
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return _Result(None, "not sent: the mail server does not offer what is needed, such as encryption")
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _Result(None, "the mail server refuses every recipient")
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return _Result(error.smtp_code, "the mail server refuses the login")
    if isinstance(error, smtplib.SMTPResponseException):
        return _Result(error.smtp_code, f"the mail server answers {error.smtp_code}")
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return _Result(None, "the mail server closed the connection, or took too long")
    return _Result(None, no_answer(error, within))
