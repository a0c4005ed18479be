"""A self-signed certificate for https on the loopback interface, which the Azure CLI requires."""

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

_VALID = timedelta(days=365)
_SOON = timedelta(days=30)


def certificate(directory: Path, names: Sequence[str] = ()) -> Path:
    """The certificate in a directory, with its key beside it, for this machine and these names.

    It is created if there is none, or if it expires soon.
    """
    from cryptography import x509

    file = directory / "certificate.pem"
    if file.exists() and (directory / "certificate.key").exists():
        present = x509.load_pem_x509_certificate(file.read_bytes())
        own = present.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        lasts = present.not_valid_after_utc > datetime.now(UTC) + _SOON
        if lasts and set(names) <= set(own.get_values_for_type(x509.DNSName)):
            return file
    _make(file, names)
    return file


def server_context(file: Path) -> ssl.SSLContext:
    """The TLS context of a server with the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, file.with_suffix(".key"))
    return context


def _make(file: Path, names: Sequence[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Slipway's Batch AI emulator")])
    own = [x509.IPAddress(ip_address("127.0.0.1")), *map(x509.DNSName, ("localhost", *names))]
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(own), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = file.with_suffix(".key")
    private.unlink(missing_ok=True)
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
