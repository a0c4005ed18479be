"""Keys and certificates, as the programs of OpenSSH write and read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from shared.adapters.ssh_certificates import certificates_of
from shared.core.errors import Misconfigured
from tests.unit.adapters.ssh_keys import private_key
from tests.unit.adapters.test_ssh_certificates import PERMIT


def new_key(file: Path, kind: str = "ed25519", word: str = "") -> str:
    """The text of a private key that ssh-keygen makes."""
    words = ["ssh-keygen", "-q", "-t", kind, "-N", word, "-C", "a remark, as usual", "-f", str(file)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return file.read_text()


def test_the_key_of_an_operator_signs(tmp_path: Path) -> None:
    signer = certificates_of(new_key(tmp_path / "enter_ca"))

    assert signer is not None
    assert signer.sign(PERMIT).serial > 0


def test_a_key_with_a_passphrase_is_refused_with_what_removes_it(tmp_path: Path) -> None:
    key = new_key(tmp_path / "ca", word="a word")

    with pytest.raises(Misconfigured, match=r"has a passphrase.*ssh-keygen -p"):
        certificates_of(key)


def test_the_certificate_is_one_for_ssh_keygen(tmp_path: Path) -> None:
    signer = certificates_of(private_key())
    assert signer is not None
    (tmp_path / "key-cert.pub").write_text(signer.sign(PERMIT).text + "\n")
    words = ["ssh-keygen", "-L", "-f", str(tmp_path / "key-cert.pub")]

    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout

    assert f"force-command {PERMIT.gate}" in " ".join(shown.split())
    assert "permit-port-forwarding" not in shown
