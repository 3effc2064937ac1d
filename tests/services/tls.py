"""A certificate authority for one test run, and a certificate of the loopback signed by it (openssl)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificates(NamedTuple):
    """PEM files. ``keystore`` is key and certificate in one file, as Kafka takes them."""

    ca: Path
    certificate: Path
    key: Path
    keystore: Path


def make_certificates(directory: Path) -> Certificates:
    """Write all four files into ``directory``."""
    ca, ca_key = directory / "ca.pem", directory / "ca.key"
    certificate, key, request = directory / "server.pem", directory / "server.key", directory / "server.csr"
    extensions = directory / "extensions"
    extensions.write_text(
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nkeyUsage=digitalSignature,keyEncipherment\n"
        "extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid\n"
    )
    new = ("req", "-newkey", "rsa:2048", "-nodes")
    _openssl(
        *new, "-x509", "-days", "2", "-subj", "/CN=assay tests", "-addext", "keyUsage=critical,keyCertSign",
        "-keyout", str(ca_key), "-out", str(ca),
    )  # fmt: skip
    _openssl(*new, "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(request))
    _openssl(
        "x509", "-req", "-days", "2", "-in", str(request), "-CA", str(ca), "-CAkey", str(ca_key), "-CAcreateserial",
        "-extfile", str(extensions), "-out", str(certificate),
    )  # fmt: skip
    keystore = directory / "keystore.pem"
    keystore.write_text(key.read_text() + certificate.read_text())
    return Certificates(ca, certificate, key, keystore)


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
