"""TLS proves a receiver's name, and importing the sender costs no HTTP client; in processes of their own."""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.contract.webhooks.webhook_world import SECRET, receiver, reply


async def test_tls_proves_the_name_that_was_asked_for(tmp_path: Path) -> None:
    names: list[str | None] = []
    issue = certificates(tmp_path, names)
    script = (
        "import asyncio, sys; from datetime import *\n"
        "from shared.adapters.webhook.sender import *; from shared.core.notify.webhook_url import UrlPolicy\n"
        "async def main():\n"
        "    sender = WebhookSender(UrlPolicy(allow_loopback=True))\n"
        "    for url in sys.argv[1:]:\n"
        f"        d = await sender.post(url, 'e', b'x', [{SECRET!r}], datetime.now(UTC))\n"
        "        print(d.outcome, d.detail)\n"
        "    await sender.close()\n"
        "asyncio.run(main())\n"
    )
    async with (
        receiver(reply(), issue("localhost")) as right,
        receiver(reply(), issue("hooks.example.com")) as wrong,
    ):
        urls = [f"https://localhost:{each.port}/" for each in (right, wrong)]
        trusted = await run(script, *urls, SSL_CERT_FILE=str(tmp_path / "ca.pem"))
        unknown = await run(script, urls[0], SSL_CERT_FILE=os.devnull)

    assert trusted == ["delivered 2xx", "retry its certificate is for another name"]
    assert unknown == ["retry its certificate is signed by an authority that is not trusted"]
    assert (right.bodies, wrong.bodies) == ([b"x"], [])
    assert set(names) == {"localhost"}


async def test_importing_the_sender_loads_no_http_client() -> None:
    lines = await run(
        "import sys, shared.adapters.webhook.sender; print(sorted({'aiohttp', 'yarl'} & set(sys.modules)))"
    )

    assert lines == ["[]"]


async def run(script: str, *arguments: str, **environment: str) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, *arguments,
        env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    return out.decode().splitlines()


_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "encipher_only",
    "decipher_only",
)


def certificates(folder: Path, requests: list[str | None]) -> Callable[[str], ssl.SSLContext]:
    """Make an authority in `folder`/ca.pem and return how to get a server's context for a name from it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    pem = serialization.Encoding.PEM
    ca_key = ec.generate_private_key(ec.SECP256R1())
    (folder / "ca.pem").write_bytes(certificate("ca", ca_key, ca_key, authority=True).public_bytes(pem))

    def issue(name: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        leaf = certificate(name, key, ca_key, authority=False).public_bytes(pem)
        (folder / f"{name}.pem").write_bytes(private + leaf)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(folder / f"{name}.pem")
        context.sni_callback = lambda _socket, server_name, _context: requests.append(server_name)
        return context

    return issue


def certificate(name: str, key: Any, signer: Any, *, authority: bool) -> Any:
    """One by the authority `ca`: its own, or a server's."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    def words(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    use: x509.ExtensionType = x509.SubjectAlternativeName([x509.DNSName(name)])
    if authority:
        use = x509.KeyUsage(**dict.fromkeys(_USAGES, False), key_cert_sign=True, crl_sign=True)
    public, now = key.public_key(), datetime.now(UTC)
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = (
        x509.CertificateBuilder(words("ca"), words(name), public, x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(by, critical=False)
        .add_extension(use, critical=authority)
    )
    return builder.sign(signer, hashes.SHA256())
