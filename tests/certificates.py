"""Certificates of test servers, each with an authority of its own."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_KEY_USES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


def make_certificates(folder: Path) -> tuple[Path, Path]:
    """Files of an authority, and of the certificate of ``localhost`` that it signed, with its key."""
    now = datetime.datetime.now(datetime.UTC)

    def made(name: str, issuer: Any, signer: Any, authority: bool) -> tuple[Any, Any]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signing = (signer or key).public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            # Python 3.13 asks for what RFC 5280 (4.2.1.1 to 4.2.1.3) does.
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        if authority:
            uses = dict.fromkeys(_KEY_USES, False) | {"key_cert_sign": True}
            builder = builder.add_extension(x509.KeyUsage(**uses), critical=True)
        return builder.sign(signer or key, hashes.SHA256()), key

    root, root_key = made("authority", None, None, True)
    own, own_key = made("localhost", root.subject, root_key, False)
    authority, chain = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(
        own.public_bytes(serialization.Encoding.PEM)
        + own_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return authority, chain
