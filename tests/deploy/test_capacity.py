"""docs/how-to/capacity.md agrees with the settings' bounds and with compose.yaml about sockets, descriptors, memory and disk."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

from services.runtime.connection_limits import OTHER_FILES
from services.runtime.settings import Settings
from tests.cli.command_line import ROOT
from tests.deploy.test_compose import to_bytes

PAGE: Final = (ROOT / "docs" / "how-to" / "capacity.md").read_text(encoding="utf-8")
COMPOSE: Final[Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())


def cells(row: str) -> list[str]:
    """The cells of the page's row that begins so."""
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def number(text: str) -> int:
    """The first number of a text."""
    found = re.search(r"\d[\d,]*", text)
    assert found, text
    return int(found[0].replace(",", ""))


def test_so_many_sockets_need_as_many_gateways_as_a_gateways_bound_says() -> None:
    _, bound, needed = cells("connections of a gateway")
    [most] = [each.le for each in Settings.model_fields["connections"].metadata if hasattr(each, "le")]
    assert number(bound) == most
    sockets, gateways = re.findall(r"[\d,]+", needed)
    assert int(gateways) == math.ceil(number(sockets) / most)


def test_compose_lets_a_gateway_open_as_many_files_as_the_page_says_and_its_bound_needs() -> None:
    _, bound, _ = cells("connections of a gateway")
    allowed = COMPOSE["services"]["gateway"]["ulimits"]["nofile"]["hard"]
    assert f"{allowed:,} in compose" in bound
    [most] = [each.le for each in Settings.model_fields["connections"].metadata if hasattr(each, "le")]
    assert allowed >= most + OTHER_FILES


def test_a_gateways_memory_in_compose_is_enough_for_as_many_sockets_as_the_page_says() -> None:
    figures = (ROOT / "docs" / "explanation" / "figures.md").read_text(encoding="utf-8")
    [(idle, mib)] = re.findall(r"memory of ([\d,]+) idle WebSockets \|.* (\d+) MiB \|", figures)
    [kb, sockets, gib] = re.findall(
        r"(\d+) KB: ([\d,]+) in its (\d+) GiB", cells("connections of a gateway")[1]
    )[0]
    allowed = to_bytes(COMPOSE["services"]["gateway"]["mem_limit"])
    assert allowed == int(gib) << 30
    assert int(kb) == math.ceil((int(mib) << 20) / number(idle) / 1000)
    assert Settings.model_fields["connections"].default < number(sockets) <= allowed / (int(kb) * 1000)


def test_compose_has_room_for_what_a_run_of_many_games_took() -> None:
    scale = (ROOT / "deploy" / "scale.md").read_text(encoding="utf-8")
    [took] = re.findall(r"^\| MiB: gateways, referees, engine, bots \| ([^|]+) \|", scale, re.MULTILINE)
    for name, mib in zip(("gateway", "referee", "engine", "bots"), took.split(", "), strict=True):
        assert number(mib) << 20 < to_bytes(COMPOSE["services"][name]["mem_limit"]), name


def test_the_engines_disk_is_three_times_its_memory_here_and_in_the_runbook() -> None:
    _, bound, needed = cells("an engine's disk")
    assert "three times its `maxmemory`" in bound
    assert "three times `maxmemory`" in " ".join(
        (ROOT / "docs" / "how-to" / "runbook.md").read_text(encoding="utf-8").split()
    )
    games_gb, share, disk_gb = re.findall(r"[\d.]+", needed)
    assert float(disk_gb) == math.ceil(3 * float(games_gb) / float(share))
