"""An engine behind TLS: the address names the authority that signed its certificate, the password is in a file.

The embedded engine speaks no TLS, so a proxy does."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from services.ledger.engine.connection import connect, connect_async
from services.runtime.settings import read_settings
from tests.security.engine_with_users import UsersEngine, engine_with_users


def write_certificate(folder: Path, name: str, ends_in_days: int = 1) -> Path:
    """A certificate for loopback that signs itself, with its key in the same file; its path."""
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now + timedelta(days=ends_in_days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, None)
    )
    path = folder / f"{name}.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return path


@contextmanager
def tls_proxy(engine_port: int, certificate: Path) -> Iterator[int]:
    """A port where the engine is reached over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    loop, ports, is_up, stop = asyncio.new_event_loop(), list[int](), Event(), asyncio.Event()

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        target.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_connection("127.0.0.1", engine_port)
        await asyncio.gather(copy(reader, engine_writer), copy(engine_reader, writer))

    async def serve() -> None:
        server = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
        ports.append(server.sockets[0].getsockname()[1])
        is_up.set()
        await stop.wait()
        server.close()

    thread = Thread(target=loop.run_until_complete, args=(serve(),), name="TLS")
    thread.start()
    is_up.wait()
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[UsersEngine]:
    with engine_with_users(tmp_path / "engine") as running:
        yield running


def test_a_service_trusts_the_authority_that_the_address_names_and_no_other(
    engine: UsersEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    certificate, another = (write_certificate(tmp_path, name) for name in ("engine", "another"))
    monkeypatch.setenv("LEDGERLINE_SECRETS_DIR", str(tmp_path))
    (tmp_path / "ledgerline_redis_password").write_text((engine.passwords / "gateway.password").read_text())

    async def ping(url: str) -> Any:
        async with connect_async(url) as client:
            return await client.ping()

    with tls_proxy(engine.port, certificate) as port:
        address = f"rediss://gateway@127.0.0.1:{port}/0"
        # when
        trusting = read_settings(redis_url=f"{address}?ssl_ca_certs={certificate}").redis_url
        wary = read_settings(redis_url=f"{address}?ssl_ca_certs={another}").redis_url
        # then
        with closing(connect(trusting)) as client:
            assert client.ping()
        assert asyncio.run(ping(trusting))
        with closing(connect(wary)) as client, pytest.raises(redis.ConnectionError, match="certificate"):
            client.ping()
