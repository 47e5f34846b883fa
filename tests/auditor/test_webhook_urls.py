"""Which addresses webhooks may have: none that leads into the server's own network, however it is written."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from schemas.errors import InvalidInputError
from services.runtime.webhook_urls import WebhookPolicy, read_webhook_url, require_allowed_address

ANY = WebhookPolicy("http")
PRIVATE = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0", "0.0.0.0",
    "10.0.0.1", "172.16.9.9", "192.168.1.1", "100.64.0.1", "169.254.169.254", "2852039166", "100.100.100.200",
    "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "203.0.113.7", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001::1]", "[fe80::1]", "[fe80::1%25lo]",
    "[fec0::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]",
)  # fmt: skip
MALFORMED = {
    "https://user@bot.example/": "user",
    "https://bot.example@127.0.0.1/": "user",
    "https://:secret@bot.example/": "user",
    "https://bot.example\\@127.0.0.1/": "ASCII",
    "https://bot.example/ x": "ASCII",
    "https://bot.example/\r\nHost:x": "ASCII",
    "https://b\u00fccher.example/": "ASCII",
    "https://bot.example/#part": "fragment",
    "https://bot.ex%61mple/": "host",
    "https://-bot.example/": "host",
    "https://bot..example/": "host",
    "https://[bot.example]/": "URL|host",
    "https://[::1/": "URL",
    "https:///path": "begin",
    "https:bot.example": "begin",
    "//bot.example/": "begin",
    "ftp://bot.example/": "begin",
    "file:///etc/passwd": "begin",
    "gopher://bot.example/": "begin",
    "https://bot.example:22/": "port",
    "https://bot.example:25/": "port",
    "https://bot.example:6379/": "port",
    "https://bot.example:11211/": "port",
    "https://bot.example:0/": "port",
    "https://bot.example:99999/": "URL",
}


@pytest.mark.parametrize("host", PRIVATE)
def test_no_webhook_has_an_address_that_is_not_public(host: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^url: leads to .*no public address"):
        read_webhook_url(f"http://{host}:8080/x", ANY)


@pytest.mark.parametrize(("url", "why"), MALFORMED.items())
def test_a_url_that_can_be_read_in_two_ways_is_refused(url: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"^url: .*({why})"):
        read_webhook_url(url, ANY)


def test_a_public_address_is_allowed_in_each_form() -> None:
    for host in (
        "bot.example",
        "BOT.example.",
        "1.1.1.1",
        "[2606:4700::1111]",
        "[::ffff:1.1.1.1]",
        "a_b.example",
    ):
        assert read_webhook_url(f"https://{host}/x?y=1", ANY).target == "/x?y=1"
    assert read_webhook_url("https://bot.example:8443", ANY).authority == "bot.example:8443"
    assert read_webhook_url("https://[2606:4700::1111]", ANY).authority == "[2606:4700::1111]"


def test_http_is_refused_unless_the_setting_allows_it() -> None:
    with pytest.raises(InvalidInputError, match="must begin with https://"):
        read_webhook_url("http://bot.example/", WebhookPolicy())
    assert read_webhook_url("http://bot.example/", ANY).port == 80


def test_a_network_that_the_setting_names_is_allowed_and_no_other() -> None:
    home = WebhookPolicy("http", (ip_network("192.168.1.0/24"), ip_network("fd00::/64")))
    for address in ("192.168.1.7", "::ffff:192.168.1.7", "fd00::7"):
        require_allowed_address(ip_address(address), home)
    for address in ("192.168.2.7", "127.0.0.1", "::ffff:192.168.2.7", "fd00:0:0:1::7"):
        with pytest.raises(InvalidInputError):
            require_allowed_address(ip_address(address), home)
