"""The recipes of deploy/proxy before two gateways of compose.yaml: what clients see through nginx and Caddy.

Each client has an address of its own on loopback, so that no test spends another's budget."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import shutil
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from services.gateway.sockets.followed_view import KEEP_ALIVE_S
from services.gateway.web.request_parsing import MAX_CREATION_BYTES
from tests.deploy.compose import GIVEN, ROOT, Running, Stage, free_port, stage, wait_until
from tests.deploy.test_engine_over_tls import write_certificate

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

RECIPES: Final = ROOT / "deploy" / "proxy"
HEADER_S: Final = 10  # in which each recipe wants a request's header
ADDRESSES: Final = (f"127.0.{third}.{last}" for third in itertools.count(7) for last in range(1, 255))


@dataclass
class Proxied:
    """A proxy before two gateways, as clients elsewhere reach it."""

    servers: Stage
    gateways: list[Running]
    url: str
    trusted: Path  # the certificate of who signed the proxy's

    def client(self, address: str = "") -> httpx.Client:
        transport = httpx.HTTPTransport(local_address=address or next(ADDRESSES), verify=self.tls())
        return httpx.Client(base_url=self.url, transport=transport, timeout=60, trust_env=False)

    def socket(self, game: str) -> ClientConnection:
        url = f"ws{self.url.removeprefix('http')}/v1/games/{game}/play"
        return connect(url, ssl=self.tls(), source_address=(next(ADDRESSES), 0), proxy=None)

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.trusted))

    def start_gateway(self, port: int) -> Running:
        """A gateway that believes the proxy, and lets each address read a little."""
        given = {"LEDGERLINE_PORT": str(port), "LEDGERLINE_PROXIES": "127.0.0.1", "LEDGERLINE_READ_RATE": "2"}
        return self.servers.start("gateway", **given)

    def seated(self) -> tuple[str, Mapping[str, str]]:
        """A game that waits for its start, and its host's token."""
        seats = [{"kind": "human"}, {"kind": "bot", "policy": "random"}]
        with self.client() as http:
            game = http.post("/v1/games", json={"ruleset": "usa", "seats": seats}).json()["game"]
            token = http.post(f"/v1/games/{game}/join", json={"name": "Ada"}).json()["token"]
        return game, {"Authorization": f"Bearer {token}"}

    def start(self, game: str, bearer: Mapping[str, str]) -> None:
        with self.client() as http:
            assert http.post(f"/v1/games/{game}/start", headers=bearer).status_code == 200


def replaced(recipe: str, **others: str) -> str:
    """A recipe with what an operator puts in; each must be there."""
    text = (RECIPES / recipe).read_text()
    for old, new in others.items():
        assert old in text, f"{recipe} has no {old}"
        text = text.replace(old, new)
    return text


def start_nginx(folder: Path, port: int, ports: list[int]) -> tuple[list[str], dict[str, str], str, Path]:
    certificate = write_certificate(folder, "proxy")
    own = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/ssl/ledgerline.pem": str(certificate),
        "/etc/ssl/ledgerline.key": str(certificate),
        "127.0.0.1:8720": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8721": f"127.0.0.1:{ports[1]}",
    }
    (folder / "ledgerline.conf").write_text(replaced("nginx.conf", **own))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/nginx-{kind};" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""  # the folder is its owner's
    main = f"{user} daemon off; pid {folder}/nginx.pid; error_log stderr; events {{}}"
    (folder / "nginx.conf").write_text(
        f"{main} http {{ access_log off; {temporary} include {folder}/ledgerline.conf; }}"
    )
    return ["nginx", "-c", f"{folder}/nginx.conf"], {}, f"https://127.0.0.1:{port}", certificate


def start_caddy(folder: Path, port: int, ports: list[int]) -> tuple[list[str], dict[str, str], str, Path]:
    here = f"default_bind 127.0.0.1\n\thttp_port {free_port()}"  # of all addresses another may have the port
    own = {"admin off": f"admin off\n\t{here}"}
    (folder / "Caddyfile").write_text(replaced("Caddyfile", **own))
    url = f"https://localhost:{port}"
    given = {
        "LEDGERLINE_PUBLIC_URL": url,
        "GATEWAYS": " ".join(f"127.0.0.1:{each}" for each in ports),
        "XDG_DATA_HOME": str(folder / "caddy-data"),
        "XDG_CONFIG_HOME": str(folder / "caddy-config"),
        "HOME": str(folder),
    }
    words = ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]
    return words, given, url, folder / "caddy-data/caddy/pki/authorities/local/root.crt"


@pytest.fixture(scope="module", params=[start_nginx, start_caddy], ids=["nginx", "caddy"])
def proxied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("proxied")
    port, ports = free_port(), [free_port(), free_port()]
    words, given, url, trusted = request.param(folder, port, ports)
    program = shutil.which(words[0], path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, f"no {words[0]} is here: apt-get install nginx caddy"
    with stage(folder, GIVEN) as servers:
        servers.start_engine()
        servers.gateway_port = ports[0]
        found = Proxied(servers, [], url, trusted)
        found.gateways += [found.start_gateway(each) for each in ports]
        for name in ("referee", "bots"):
            servers.start(name)
        proxy = Running("proxy", [program, *words[1:]], {"PATH": os.environ["PATH"], **given}, folder)
        servers.running.append(proxy)

        def ready() -> bool:
            assert proxy.process.poll() is None, proxy.text()
            if not trusted.exists():
                return False
            with found.client() as http:
                return http.get("/health/ready").status_code == 200

        wait_until(ready)
        yield found
        proxy.stop()


def wait_for_start(lines: Iterator[str | bytes]) -> int:
    """The number of the entry with which the game starts, once it comes."""
    for line in map(json.loads, lines):
        if any(event["type"] == "game_started" for event in line.get("events", ())):
            return int(line["number"])
    raise AssertionError("the game never started")


def test_a_socket_and_a_stream_show_a_move_while_they_are_open(proxied: Proxied) -> None:
    game, bearer = proxied.seated()
    with (
        proxied.client() as http,
        proxied.socket(game) as following,
        http.stream("GET", f"/v1/games/{game}/stream") as streamed,
    ):
        lines = streamed.iter_lines()
        assert json.loads(next(lines))
        proxied.start(game, bearer)
        assert wait_for_start(iter(following)) == wait_for_start(lines)


def test_a_stream_whose_client_leaves_ends_at_the_gateway_which_logs_it_then(proxied: Proxied) -> None:
    game, _ = proxied.seated()
    request = secrets.token_hex(16)
    path, headers = f"/v1/games/{game}/stream", {"X-Request-ID": request}

    def is_logged() -> bool:
        return any(request in gateway.text() for gateway in proxied.gateways)

    with proxied.client() as http, http.stream("GET", path, headers=headers) as streamed:
        assert next(streamed.iter_lines())
        assert streamed.headers["X-Request-ID"] == request
    wait_until(is_logged)


def test_a_stream_in_which_nothing_happens_outlasts_the_time_for_a_header(proxied: Proxied) -> None:
    assert KEEP_ALIVE_S > HEADER_S
    game, _ = proxied.seated()
    with proxied.client() as http, http.stream("GET", f"/v1/games/{game}/stream") as streamed:
        assert "alive" in (json.loads(line)["type"] for line in streamed.iter_lines())


def test_a_client_that_never_ends_its_header_is_cut_off(proxied: Proxied) -> None:
    host, port = proxied.url.removeprefix("https://").split(":")
    with (
        socket.create_connection(("127.0.0.1", int(port)), timeout=6 * HEADER_S) as plain,
        proxied.tls().wrap_socket(plain, server_hostname=host) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert b"200" not in client.recv(4096)


def test_nginx_bounds_the_connections_of_one_client(proxied: Proxied) -> None:
    if not proxied.url.startswith("https://127.0.0.1"):
        assert "can't limit the connections" in (RECIPES / "Caddyfile").read_text()
        return
    address, port = next(ADDRESSES), int(proxied.url.rpartition(":")[2])
    begun = b"POST /v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
    with ExitStack() as open_requests:
        for _ in range(100):
            plain = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
            client = proxied.tls().wrap_socket(
                open_requests.enter_context(plain), server_hostname="127.0.0.1"
            )
            open_requests.enter_context(client).sendall(begun)
        with proxied.client(address) as http:
            wait_until(lambda: http.get("/health/live").status_code == 429)
        with proxied.client() as http:
            assert http.get("/health/live").status_code == 200


def test_each_client_has_its_own_limits_and_escapes_them_by_no_header(proxied: Proxied) -> None:
    spent, other = next(ADDRESSES), next(ADDRESSES)
    with proxied.client(spent) as http:
        assert 429 in (http.get("/v1/rulesets").status_code for _ in range(200))
        forged = {
            "X-Forwarded-For": "198.51.100.7",
            "X-Real-IP": "198.51.100.7",
            "Forwarded": "for=198.51.100.7",
        }
        assert 429 in (http.get("/v1/rulesets", headers=forged).status_code for _ in range(5))
    with proxied.client(other) as http:
        assert http.get("/v1/rulesets").status_code == 200


def test_the_largest_body_passes_and_a_larger_one_is_refused(proxied: Proxied) -> None:
    with proxied.client() as http:
        body = json.dumps({"ruleset": "usa", "board": "x"})
        largest = http.post("/v1/games", content=body + " " * (MAX_CREATION_BYTES - len(body)))
        assert largest.headers["content-type"] == "application/problem+json"
        assert largest.status_code == 422, largest.text
        assert http.post("/v1/games", content=body + " " * MAX_CREATION_BYTES).status_code == 413


def test_a_gateway_that_stops_is_left_out_and_its_clients_go_to_the_other(proxied: Proxied) -> None:
    addresses = [next(ADDRESSES) for _ in range(12)]

    def statuses() -> set[int]:
        found = set()
        for address in addresses:
            with proxied.client(address) as http:
                found.add(http.get("/health/live").status_code)
        return found

    assert statuses() == {200}
    assert proxied.gateways[0].stop() == 0
    assert statuses() == {200}
    proxied.gateways[0] = proxied.start_gateway(proxied.servers.gateway_port)
