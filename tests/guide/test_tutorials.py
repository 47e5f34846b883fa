"""Every tutorial works as it stands: a reader who does what its blocks say gets to its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.guide.markdown_pages import NAMES, prose
from tests.guide.page_run import RUN, TUTORIALS, assert_prints, run_page
from tests.structure import ROOT


@pytest.mark.long
@pytest.mark.parametrize("name", RUN)
def test_a_reader_gets_to_the_end(name: str, tmp_path: Path) -> None:
    run_page(name, tmp_path)


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_begins_with_a_picture_of_what_one_has_at_its_end(name: str) -> None:
    title, picture = prose(name).split("\n\n")[:2]
    assert title.startswith("# ")
    [path] = re.findall(r"!\[[^\]]{20,}\]\((\S+)\)", picture.replace("\n", " "))
    assert ((ROOT / name).parent / path).is_file()


def test_every_tutorial_is_run() -> None:
    tutorials = {name for name in NAMES if name.startswith("docs/tutorials/")}
    assert tutorials == {*TUTORIALS, "docs/tutorials/your-own-game.md"}


def test_what_isnt_printed_is_noticed() -> None:
    assert_prints("Game 07453b4f348d: 550 events ...", "x\nGame 0123456789ab: 7 events in all\n")
    with pytest.raises(AssertionError, match="isn't printed"):
        assert_prints("Game over", "Game on\n")
