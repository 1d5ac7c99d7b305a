"""The PEM files of mutual TLS, which gRPC would refuse without saying why."""

import ssl
from pathlib import Path

PemFile = tuple[str, Path]
"""What a file is called where it was given, and where it is."""


def read_pem_files(ca: PemFile, certificate: PemFile, key: PemFile) -> tuple[bytes, bytes, bytes]:
    """What is in the files: the authority's certificates, the own certificate, and its key.

    Raises:
        ValueError: One cannot be read or used; the text names it and says what was expected.
    """
    contents = _read(ca), _read(certificate), _read(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _check_authority(context, ca)
    _check_pair(context, certificate, key)
    return contents


def _read(file: PemFile) -> bytes:
    name, path = file
    try:
        pem = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{name}: cannot read {path}: {error.strerror}") from None
    if b"-----BEGIN " not in pem:
        raise ValueError(f"{name}: expected PEM ('-----BEGIN ...'), {path} is something else")
    return pem


def _check_authority(context: ssl.SSLContext, ca: PemFile) -> None:
    name, path = ca
    try:
        context.load_verify_locations(path)
    except ssl.SSLError as error:
        raise ValueError(f"{name}: expected an authority's certificate, {path} has none: {_words(error)}") from None


def _check_pair(context: ssl.SSLContext, certificate: PemFile, key: PemFile) -> None:
    name, path = certificate
    try:
        context.load_cert_chain(path, key[1], password=lambda: b"")  # or it would ask for one at the terminal
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ValueError(f"{key[0]}: {key[1]} is not the key of the certificate in {path}") from None
        text = f"{name} and {key[0]}: expected a certificate and its key, without a passphrase"
        raise ValueError(f"{text}; {path} and {key[1]} cannot be used: {_words(error)}") from None


def _words(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")
