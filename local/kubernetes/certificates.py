"""A certificate authority of the cluster, and its certificates for servers and clients on this machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import KeyUsage

_VALID = timedelta(days=3650)
#: Of a server that all clients here reach on the loopback interface.
_NAMES = ("localhost", "kubernetes.default.svc")


class Pair(NamedTuple):
    """The files of a certificate and of its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs what it is asked for, once: what is there already is kept, as its state refers to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own = self._pair("ca", "Slipway's Kubernetes on this machine")

    @property
    def certificate(self) -> Path:
        """The authority's certificate, by which clients trust all certificates that it signed."""
        return self.own.certificate

    def server(self, name: str) -> Pair:
        """For a server on the loopback interface."""
        return self._pair(name, name, is_server=True)

    def client(self, name: str, user: str, group: str = "") -> Pair:
        """For a client: Kubernetes reads the common name as its user, the organization as its group."""
        return self._pair(name, user, group)

    def _pair(self, name: str, user: str, group: str = "", *, is_server: bool = False) -> Pair:
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        if not (pair.certificate.exists() and pair.key.exists()):
            _make(pair, user, group, None if name == "ca" else self.own, is_server)
        return pair


def signing_key(file: Path) -> Path:
    """The key by which the cluster signs tokens of service accounts, made where there is none."""
    from cryptography.hazmat.primitives.asymmetric import ec

    if not file.exists():
        _save(file, ec.generate_private_key(ec.SECP256R1()))
    return file


def _make(pair: Pair, user: str, group: str, authority: Pair | None, is_server: bool) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    words = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    words += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    name, now = x509.Name(words), datetime.now(UTC)
    issuer, signer = name, key
    if authority:
        issuer = x509.load_pem_x509_certificate(authority.certificate.read_bytes()).subject
        loaded = serialization.load_pem_private_key(authority.key.read_bytes(), None)
        signer = cast("ec.EllipticCurvePrivateKey", loaded)
    usage = ExtendedKeyUsageOID.SERVER_AUTH if is_server else ExtendedKeyUsageOID.CLIENT_AUTH
    addresses = [x509.IPAddress(ip_address("127.0.0.1")), *map(x509.DNSName, _NAMES)]
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=authority is None, path_length=None), True),
        # Without both, a strict client such as Python 3.13 refuses the certificate.
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
        (_key_usage(is_authority=authority is None), True),
        *([(x509.SubjectAlternativeName(addresses), False)] if is_server else []),
        *([(x509.ExtendedKeyUsage([usage]), False)] if authority else []),
    ]
    builder = x509.CertificateBuilder(issuer, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(minutes=5)).not_valid_after(now + _VALID)
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, is_critical)
    _save(pair.key, key)
    pair.certificate.write_bytes(
        builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )


def _key_usage(*, is_authority: bool) -> KeyUsage:
    from cryptography.x509 import KeyUsage

    names = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    unused = dict.fromkeys((*names, "encipher_only", "decipher_only"), False)
    return KeyUsage(
        digital_signature=not is_authority, key_cert_sign=is_authority, crl_sign=is_authority, **unused
    )


def _save(file: Path, key: EllipticCurvePrivateKey) -> None:
    from cryptography.hazmat.primitives import serialization

    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    # The form that Kubernetes reads in all versions.
    form = serialization.PrivateFormat.TraditionalOpenSSL
    file.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
