"""A newcomer's clock: how long from README to a first game, to a bot of one's own that wins, and for an installation.

Nobody sits there: a person reads 200 words and types 200 characters a minute, and what README and the tutorial say is run in
a new clone of the last commit, in folders with nothing in them. Packages come through pip as configured, none from its cache.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Final

from deploy.make_release import build
from tests.bench.figure import Figure, Report, Size, seconds
from tests.guide.markdown_pages import Block, blocks, read
from tests.guide.page_run import SCRIPTS, reader
from tests.structure import ROOT

WORDS_A_MINUTE, CHARACTERS_A_MINUTE = 200, 200
FIRST_GAME_S, OWN_BOT_S, INSTALL_S, WHEEL_BYTES = 60, 600, 40, 3_000_000
TUTORIAL: Final = "docs/tutorials/python-bot.md"
GAMES: Final = 5  # that the bot plays: by what it draws, it may lose one
RESULT: Final = re.compile(r"first (-?\d+), random (-?\d+)")


def measure(size: Size, report: Report) -> Figure:
    with TemporaryDirectory() as folder:
        clone, home = Path(folder) / "ledgerline", Path(folder) / "home"
        home.mkdir()
        report("git clone")
        run_there("git", "clone", "--quiet", str(ROOT), str(clone), where=home)
        report("make play, as README says")
        cpu_s = children_cpu_s()
        play_s = seconds(lambda: run_there("make", "play", where=clone))
        play_cpu_s = children_cpu_s() - cpu_s
        wheel_bytes, install_s, installed_play_s = installation(clone, home, report)
    report("the tutorial of a bot")
    with TemporaryDirectory() as folder:
        bot_s, won = follow_tutorial(Path(folder), size.of(GAMES, 1))
    readme = reading_s(read("README.md").split("```console")[0]) + typing_s("make play\n")
    lesson = reading_s(words_of_tutorial()) + typing_s("".join(block.text for block in typed(TUTORIAL)))
    first_game_s, own_bot_s = readme + play_s, lesson + bot_s
    return Figure(
        "a newcomer: README to a first game; the tutorial to a bot that wins; pipx install; the wheel",
        f"{first_game_s:.0f} s (reading and typing {readme:.0f}, CPU {play_cpu_s:.0f}); {own_bot_s:.0f} s (of it {lesson:.0f}), "
        f"{won} of {size.of(GAMES, 1)} games won; {install_s:.0f} s; {wheel_bytes:,} bytes",
        f"under {FIRST_GAME_S} s; {OWN_BOT_S} s; {INSTALL_S} s; {WHEEL_BYTES:,}",
        first_game_s < FIRST_GAME_S
        and own_bot_s < OWN_BOT_S
        and won > 0
        and install_s < INSTALL_S
        and wheel_bytes < WHEEL_BYTES,
        {
            "play_s": play_s,
            "play_cpu_s": play_cpu_s,
            "readme_s": readme,
            "bot_s": bot_s,
            "lesson_s": lesson,
            "install_s": install_s,
            "installed_play_s": installed_play_s,
            "wheel_bytes": wheel_bytes,
        },
    )


def installation(clone: Path, home: Path, report: Report) -> tuple[int, float, float]:
    """The size of the wheel, how long pipx needs for it, and how long a game takes then, in an empty folder."""
    report("the wheel")
    out = clone.parent / "building"
    build(clone, out / "out", "1700000000")
    [wheel] = (out / "out").glob("*.whl")
    report("pipx install")
    run_there(sys.executable, "-m", "venv", str(out / "pipx"), where=home)
    run_there(str(out / "pipx/bin/python"), "-m", "pip", "install", "--quiet", "pipx", where=home)
    install_s = seconds(lambda: run_there(str(out / "pipx/bin/pipx"), "install", str(wheel), where=home))
    program = str(home / ".local/bin/ledgerline")
    return wheel.stat().st_size, install_s, seconds(lambda: run_there(program, "play", where=home))


def follow_tutorial(folder: Path, games: int) -> tuple[float, int]:
    """How long the tutorial's commands take, with one game; and how many games its bot wins."""
    with reader(folder) as one:
        *before, last = typed(TUTORIAL)
        for block in before:
            one.do(block)
        took_s = seconds(lambda: one.do(last))
        for _ in range(games - 1):
            one.do(last)
        return took_s, sum(int(own) > int(other) for own, other in RESULT.findall(one.printed))


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def typed(page: str) -> list[Block]:
    """What a reader of a page types."""
    return [block for block in blocks(page) if block.language in {*SCRIPTS, "sh"}]


def words_of_tutorial() -> str:
    """What a reader of the tutorial reads before the bot plays."""
    return re.sub(
        r"^```.*?^```$", "", read(TUTORIAL).split("## Make it better")[0], flags=re.MULTILINE | re.DOTALL
    )


def reading_s(text: str) -> float:
    """For the words that are shown: where a link leads is none of them."""
    text = re.sub(r"\]\([^)]*\)", "", text)
    return 60 * len(re.findall(r"\w[\w'-]*", text)) / WORDS_A_MINUTE


def typing_s(text: str) -> float:
    return 60 * len(text) / CHARACTERS_A_MINUTE


def run_there(*command: str, where: Path) -> None:
    """Run to the end, as somebody whose home has nothing in it. Raises RuntimeError with the end of the command's output."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LEDGERLINE_", "VIRTUAL", "PIPX", "PYTHON"))
    }
    home = str(where if where.name == "home" else where.parent / "home")
    done = run(
        command,
        cwd=where,
        env={**kept, "PIP_NO_CACHE_DIR": "1", "HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-600:].strip()}")
