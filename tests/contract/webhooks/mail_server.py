"""An SMTP server for tests: it keeps what arrives, and answers as the test says."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class MailServer:
    """`answers`: other answers, by the first word of a command; "" in place of one hangs."""

    answers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    port: int = 0
    #: what came, by connection: its lines before an encryption are marked
    lines: list[str] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    is_encrypted: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            writer.write(b"220 ready\r\n")
            while line := (await reader.readline()).decode("latin-1").rstrip("\r\n"):
                self.lines.append(line if self.is_encrypted else f"plain: {line}")
                word = line.split()[0].upper()
                if (answer := self.answers.get(word)) is not None:
                    if not answer:
                        await asyncio.Event().wait()
                    writer.write(f"{answer}\r\n".encode())
                elif word == "STARTTLS" and self.tls is not None:
                    writer.write(b"220 go on\r\n")
                    await writer.start_tls(self.tls)
                    self.is_encrypted = True
                else:
                    await self._usual(word, reader, writer)
                await writer.drain()
        writer.close()

    async def _usual(self, word: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if word == "EHLO":
            offers = b"250-STARTTLS\r\n" if self.tls is not None and not self.is_encrypted else b""
            writer.write(b"250-mail\r\n" + offers + b"250-AUTH PLAIN\r\n250 SIZE 1000000\r\n")
        elif word == "AUTH":
            writer.write(b"235 welcome\r\n")
        elif word == "DATA":
            writer.write(b"354 go on\r\n")
            self.messages.append((await reader.readuntil(b"\r\n.\r\n"))[:-5])
            writer.write(b"250 taken\r\n")
        else:
            writer.write(b"221 bye\r\n" if word == "QUIT" else b"250 ok\r\n")


@asynccontextmanager
async def mail_server(
    answers: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[MailServer]:
    one = MailServer(answers or {}, tls)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()
