"""The request to a webhook: to the address that was checked, once, and never for long."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from services.auditor.webhook_client import (
    ADDRESS_REQUESTS,
    NETWORK_REQUESTS,
    SLOW_S,
    ReceiverBusyError,
    Turns,
    WebhookClient,
    WebhookFailedError,
)
from services.auditor.worker import WEBHOOK_WORKERS
from services.runtime.webhook_urls import WebhookPolicy
from tests.auditor.webhook_receiver import HERE, Receiver, receiving

HEADERS = [("Content-Type", "application/json")]
SHORT_S = 0.5  # for an answer that never comes
LONG_S = 60.0  # for one that does, on a busy machine too


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def client(*addresses: str, policy: WebhookPolicy = HERE, **more: Any) -> WebhookClient:
    """A client to which every host has these addresses."""
    return WebhookClient(
        policy, lambda *_: [ip_address(address) for address in addresses], seconds=LONG_S, **more
    )


def named(receiver: Receiver) -> str:
    """The receiver's URL, by a name that no real resolver knows."""
    return receiver.url.replace("127.0.0.1", "bot.invalid") + "/at?x=1"


def test_a_request_says_whom_it_is_for_and_goes_to_the_address_that_was_checked(receiver: Receiver) -> None:
    resolved = []

    def rebinding(host: str, port: int) -> list[Any]:
        """The second time it would be an address that isn't allowed."""
        resolved.append(host)
        return [ip_address("127.0.0.1" if len(resolved) == 1 else "10.0.0.1")]

    url = named(receiver)
    assert WebhookClient(HERE, rebinding, seconds=LONG_S).post(url, HEADERS, b"{}") == 204
    [request] = receiver.requests
    assert (request.path, request.body, resolved) == ("/at?x=1", b"{}", ["bot.invalid"])
    assert request.headers["host"] == url.split("/")[2]
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "addresses", [("10.0.0.1",), ("127.0.0.1", "::1"), ("::ffff:10.0.0.1",), ("169.254.169.254",)]
)
def test_nothing_is_sent_where_one_address_of_the_host_is_not_allowed(
    receiver: Receiver, addresses: tuple[str, ...]
) -> None:
    with pytest.raises(WebhookFailedError):
        client(*addresses).post(named(receiver), HEADERS, b"{}")
    assert receiver.requests == []


def test_P5_a_failure_does_not_tell_whether_a_name_leads_into_the_servers_network() -> None:
    # given
    def nowhere(host: str, port: int) -> list[Any]:
        raise OSError("no such name")

    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    askers = (
        WebhookClient(HERE, nowhere),
        client(),
        client("10.0.0.1"),
        client("127.0.0.1", "10.0.0.1"),
        client("127.0.0.1"),
    )
    # when
    texts = set()
    for asker in askers:
        with pytest.raises(WebhookFailedError) as failed:
            asker.post(f"http://bot.invalid:{port}/", HEADERS, b"{}")
        texts.add(str(failed.value))
    # then
    assert len(texts) == 1


def test_a_url_is_read_again_by_the_settings_of_now(receiver: Receiver) -> None:
    with pytest.raises(WebhookFailedError, match="must begin with https"):
        client("127.0.0.1", policy=WebhookPolicy()).post(receiver.url, HEADERS, b"{}")
    with pytest.raises(WebhookFailedError, match="no public address"):
        client("127.0.0.1", policy=WebhookPolicy("http")).post(receiver.url, HEADERS, b"{}")
    assert receiver.requests == []


def test_a_redirect_is_an_answer_and_nothing_more(receiver: Receiver) -> None:
    receiver.status = 302
    assert client("127.0.0.1").post(receiver.url, HEADERS, b"{}") == 302
    assert len(receiver.requests) == 1


def test_no_proxy_of_the_environment_is_asked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert client("127.0.0.1").post(receiver.url, HEADERS, b"{}") == 204


def test_the_next_address_is_tried_where_the_first_takes_no_connection(receiver: Receiver) -> None:
    policy = WebhookPolicy("http", (*HERE.networks, ip_network("::1/128")))
    assert client("127.0.0.9", "127.0.0.1", policy=policy).post(named(receiver), HEADERS, b"{}") == 204
    with pytest.raises(WebhookFailedError, match="no connection"):
        client().post(named(receiver), HEADERS, b"{}")


@contextmanager
def answering(first: bytes, again: bytes = b"", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The authority of a server that answers a connection with `first`, and then with `again` without end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            try:
                connection, _ = listener.accept()
                with (
                    connection,
                    tls.wrap_socket(connection, server_side=True) if tls else connection as stream,
                ):
                    stream.recv(4096)
                    stream.sendall(first)
                    while again:
                        stream.sendall(again)
                    stream.recv(1)
            except OSError:
                pass

        thread = Thread(target=answer)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join()


@pytest.mark.parametrize(
    ("first", "again", "why"),
    [
        pytest.param(b"", b"", "no answer within", id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nx: ", b"", "no answer within", id="half a header"),
        pytest.param(b"HTTP/1.1 200 OK\r\nx: ", b"x" * 999, "no end", id="an endless header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", "no end", id="endless patience"),
        pytest.param(b"220 mail.example ESMTP\r\n\r\n", b"", "no HTTP", id="no HTTP"),
    ],
)
def test_P8_an_answer_without_an_end_is_left(first: bytes, again: bytes, why: str) -> None:
    with answering(first, again) as authority:
        seconds = SHORT_S if why == "no answer within" else LONG_S
        with pytest.raises(WebhookFailedError, match=why):
            WebhookClient(HERE, seconds=seconds).post(f"http://{authority}/", HEADERS, b"{}")


def test_P8_a_receiver_that_gave_no_answer_is_left_alone_for_a_minute_and_its_neighbours_are_not(
    receiver: Receiver,
) -> None:
    # given
    time = [1_000.0]
    hosts = {
        "hanging.invalid": ["127.0.0.1"],
        "beside.invalid": ["127.0.0.1"],
        "two.invalid": ["127.0.0.9", "127.0.0.1"],
    }
    asker = WebhookClient(
        HERE, lambda host, _: [*map(ip_address, hosts[host])], seconds=SHORT_S, clock=lambda: time[0]
    )
    with answering(b"") as authority, pytest.raises(WebhookFailedError, match="no answer within"):
        asker.post(f"http://{authority.replace('127.0.0.1', 'hanging.invalid')}/", HEADERS, b"{}")
    asker._seconds = LONG_S
    time[0] += 1
    # when
    for host in ("beside.invalid", "two.invalid"):
        assert asker.post(receiver.url.replace("127.0.0.1", host), HEADERS, b"{}") == 204
    with pytest.raises(ReceiverBusyError) as waits:
        asker.post(receiver.url.replace("127.0.0.1", "hanging.invalid"), HEADERS, b"{}")
    # then
    assert (waits.value.wait_s, len(receiver.requests)) == (SLOW_S - 1, 2)
    time[0] += SLOW_S - 1
    assert asker.post(receiver.url.replace("127.0.0.1", "hanging.invalid"), HEADERS, b"{}") == 204


@pytest.mark.parametrize(
    ("addresses", "most"),
    [
        pytest.param(["127.0.0.1"], ADDRESS_REQUESTS, id="one address"),
        pytest.param(["127.0.0.1", "127.0.0.2", "127.0.0.3"], NETWORK_REQUESTS, id="one network"),
        pytest.param(
            ["2001:db8::1", "2001:db8::1:2", "2001:db8::3"], NETWORK_REQUESTS, id="one network of IPv6"
        ),
    ],
)
def test_P8_one_address_and_one_network_never_have_all_requests(addresses: list[str], most: int) -> None:
    # given
    turns = Turns(lambda: 0.0)
    with ExitStack() as pending:
        taken = 0
        for address in addresses * WEBHOOK_WORKERS:
            with suppress(ReceiverBusyError):
                pending.enter_context(turns.take(f"h{taken}.invalid", ip_address(address)))
                taken += 1
        # when
        with turns.take("other.invalid", ip_address("127.9.0.1")):
            pass
    # then
    assert taken == most < WEBHOOK_WORKERS
    with turns.take("one.invalid", ip_address(addresses[0])):
        assert set(turns._running.values()) == {1}, "and nothing is left of those that had their answer"


def test_P8_the_body_of_an_answer_is_not_read() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 4096) as authority:
        assert WebhookClient(HERE, seconds=LONG_S).post(f"http://{authority}/", HEADERS, b"{}") == 200


def own_certificate(folder: Path, name: str) -> Path:
    """A certificate for this name, signed by itself, with its key."""
    key, subject = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + certificate.public_bytes(pem)
    )
    return file


def test_a_certificate_must_be_trusted_and_of_the_host_that_was_named(tmp_path: Path) -> None:
    file = own_certificate(tmp_path, "bot.invalid")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)

    def post(host: str, trusted: Path | None) -> int:
        with answering(b"HTTP/1.1 204 No Content\r\n\r\n", tls=server) as authority:
            url = f"https://{authority.replace('127.0.0.1', host)}/"
            return client("127.0.0.1", tls=lambda: ssl.create_default_context(cafile=trusted)).post(
                url, HEADERS, b"{}"
            )

    assert post("bot.invalid", file) == 204
    for host, trusted in (("bot.invalid", None), ("other.invalid", file)):
        with pytest.raises(WebhookFailedError, match="certificate doesn't hold"):
            post(host, trusted)
