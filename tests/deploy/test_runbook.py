"""docs/how-to/runbook.md has every symptom, names a test that plays each, and no command that there isn't."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.cli.command_line import ROOT, run_in_process

PAGE: Final = (ROOT / "docs" / "how-to" / "runbook.md").read_text(encoding="utf-8")
SECTIONS: Final = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
COMMANDS: Final = sorted(
    {
        " ".join(words)
        for words in re.findall(r"^ledgerline ([a-z]+)(?: (list|show|retry|drop)\b)?", PAGE, re.M)
    }
)


def test_every_symptom_of_the_field_is_there() -> None:
    assert list(SECTIONS) == [
        "A full disk",
        "No memory",
        "A node that hangs",
        "Dead letters",
        "A game that can't be read",
        "A clock that jumped",
        "A certificate that ran out",
        "A backlog that grows",
        "Everybody comes back at once",
        "Backups",
        "A newer engine",
    ]


@pytest.mark.parametrize("symptom", SECTIONS)
def test_each_symptom_is_played_by_a_test_that_there_is(symptom: str) -> None:
    played = re.findall(r"`(tests/[\w/]+\.py)`", SECTIONS[symptom])
    assert played
    assert [path for path in played if not (ROOT / path).is_file()] == []
    assert "```console\n" in SECTIONS[symptom], "it has commands"


@pytest.mark.parametrize("command", [command.strip() for command in COMMANDS])
def test_each_command_of_the_page_is_one(command: str) -> None:
    assert run_in_process(*command.split(), "--help").returncode == 0
