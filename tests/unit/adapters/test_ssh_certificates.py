"""The certificates that this deployment signs: they say what is permitted, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import SSHCertificate, SSHCertificateType

from shared.adapters.ssh_certificates import certificates_of
from shared.core.errors import Misconfigured
from shared.core.relations.permit import LIFE, SKEW, EntryPermit
from tests.unit.adapters.ssh_keys import private_key, public_key

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
JOB = "j_" + "a" * 24
PERMIT = EntryPermit(
    public_key(), "slipway", f"slipway-enter 4711 gpu-3 {JOB}.2", f"ann {JOB}.2.1", NOW - SKEW, NOW + LIFE
)


def read(text: str) -> SSHCertificate:
    certificate = serialization.load_ssh_public_identity(text.encode())
    assert isinstance(certificate, SSHCertificate)
    certificate.verify_cert_signature()
    return certificate


def test_a_certificate_says_who_enters_what_and_for_how_long() -> None:
    key = private_key()
    signer = certificates_of(key)
    assert signer is not None

    first, second = signer.sign(PERMIT), signer.sign(PERMIT)

    one = read(first.text)
    assert one.type is SSHCertificateType.USER
    assert (
        one.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        == PERMIT.public_key.encode()
    )
    assert one.valid_principals == [b"slipway"]
    assert one.critical_options == {b"force-command": PERMIT.gate.encode()}
    assert one.extensions == {b"permit-pty": b""}
    assert one.key_id == f"ann {JOB}.2.1".encode()
    assert (one.valid_after, one.valid_before) == (int(PERMIT.begin.timestamp()), int(PERMIT.end.timestamp()))
    assert one.valid_before - one.valid_after < 600
    assert (one.serial, read(second.text).serial) == (first.serial, second.serial)
    assert first.serial != second.serial


@pytest.mark.parametrize("text", ["", "  \n"])
def test_without_a_key_nothing_signs(text: str) -> None:
    assert certificates_of(text) is None


@pytest.mark.parametrize("ends", ["\n", "\r\n", " "])
def test_the_lines_of_a_key_may_have_other_ends(ends: str) -> None:
    signer = certificates_of(ends.join(private_key().split("\n")))

    assert signer is not None
    assert read(signer.sign(PERMIT).text).key_id


def _text(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    form, cipher = serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, cipher).decode()


def _pkcs8() -> str:
    key = ed25519.Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


WRONG = {
    "a public key": (public_key(), "holds a public key"),
    "rsa": (_text(rsa.generate_private_key(65537, 2048)), "is a key of another kind than ed25519"),
    "ecdsa": (_text(ec.generate_private_key(ec.SECP256R1())), "is a key of another kind than ed25519"),
    "PKCS8": (_pkcs8(), "must be the text of a private key of OpenSSH"),
    "a reference": ("@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/x)", "must be the text"),
    "a path": ("/etc/ssh/enter_ca", "must be the text"),
    "without its last line": (private_key().rpartition("-----END")[0], "must be the text"),
    "cut off": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n"
        + "".join(private_key().split("\n")[1:-2])[:180]
        + "\n-----END OPENSSH PRIVATE KEY-----",
        "is cut off",
    ),
    "not base64": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
        "cannot be read",
    ),
    "something else in base64": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nYWJj\n-----END OPENSSH PRIVATE KEY-----",
        "cannot be read",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_key_of_the_wrong_kind_is_refused_at_start_with_the_remedy_and_without_a_word_of_it(
    case: str,
) -> None:
    text, why = WRONG[case]

    with pytest.raises(Misconfigured, match=f"SLIPWAY_ENTER_CA {why}.*ssh-keygen -t ed25519") as refused:
        certificates_of(text)

    words = [word for word in text.split() if len(word) > 12 and not word.startswith("-")]
    assert not any(word in str(refused.value) for word in words)


def test_a_key_that_is_damaged_inside_signs_nothing_and_says_so() -> None:
    lines = private_key().split("\n")
    lines[4] = "A" * 8 + lines[4][8:]
    signer = certificates_of("\n".join(lines))
    assert signer is not None

    with pytest.raises(Misconfigured, match="SLIPWAY_ENTER_CA is damaged"):
        signer.sign(PERMIT)


def test_no_text_of_the_signer_shows_its_key() -> None:
    key = private_key()
    signer = certificates_of(key)
    assert signer is not None

    shown = f"{signer!r} {signer} {signer.sign(PERMIT)!r}"

    # Its first lines hold the public half, which a certificate shows.
    assert not any(line in shown for line in key.split("\n")[3:-2])


@pytest.mark.parametrize(
    ("member", "text"),
    [
        *(
            ("public_key", f"{PERMIT.public_key}{one}")
            for one in ("\n", " remark", "A", "\nssh-ed25519 AAAA")
        ),
        ("public_key", f'command="x" {PERMIT.public_key}'),
        ("public_key", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAA"),
        ("public_key", ""),
        *(("user", one) for one in ("", "-x", "a b", "root\n", "a,root", "a" * 40)),
        *(("gate", f"slipway-enter 1 n {one}") for one in ("", "t;id", "t\nid", "$(id)", "t t", "-x", "t&")),
        *(
            ("gate", one)
            for one in ("id", "/bin/sh", "slipway-enter 1", "slipway-enter 1 -x t", "slipway-enter 0 n t")
        ),
        *(("key_id", f"{one} {JOB}.1.0") for one in ("", "a b", "a\nb", "-a", "a\x1b[2J", "a" * 200)),
        *(("key_id", one) for one in ("ann", f"ann {JOB}", f"ann {JOB}.1.0\n", "ann j_x.1.0")),
    ],
)
def test_what_could_mean_something_else_to_sshd_is_refused(member: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"no certificate can say this: {member}"):
        replace(PERMIT, **cast(Any, {member: text}))
