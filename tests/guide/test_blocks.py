"""Every block of a page is run, read by a test of its own, checked word by word, or marked as what somebody sees.

- `sh`, `python`, `js`, `mjs`: run as they stand, on the pages of tests/guide/test_tutorials.py, else by a named test.
- `console`: commands with words to fill in: program, command, options, targets and modules are there.
- `http`: calls that the OpenAPI document has.
- `text`: output, or a picture of words. Anything else is data, which a named test reads.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
import typer
from typer.main import get_command

from deploy.page_types import openapi_document
from services.cli.app import add_commands
from services.cli.output import share_options
from tests.guide.markdown_pages import NAMES, Block, blocks, read
from tests.guide.page_run import RUN, SCRIPTS, WRITTEN
from tests.structure import ROOT

TESTED_BY: Final = {  # pages whose other blocks a test reads or runs
    "docs/tutorials/your-own-game.md": "tests/cli/test_new_game.py",
    "docs/reference/ask.md": "tests/cli/test_ask.py",
    "docs/reference/boards.md": "tests/schemas/test_board_files.py",
    "docs/reference/proof-vectors.md": "tests/verification/proof/test_proof_vectors.py",
    "docs/reference/shuffle.md": "tests/rules/test_shuffle.py",
    "docs/reference/wire.md": "tests/schemas/test_wire_page.py",
    "docs/how-to/clients.md": "tests/auditor/test_webhook_example.py",
}
OTHER_PROGRAMS: Final = {
    "alias",
    "curl",
    "df",
    "docker",
    "engine",
    "export",
    "git",
    "kill",
    "kubectl",
    "openssl",
    "valkey-server",
    "pip",
    "pipx",
    "redis-cli",
    "timedatectl",
    "uv",
    "uvx",
}
EVERY_BLOCK: Final = [(name, block) for name in NAMES for block in blocks(name)]


def ids(blocks_of_pages: list[tuple[str, Block]]) -> list[str]:
    return [f"{name}:{block.line}" for name, block in blocks_of_pages]


def of(*languages: str) -> list[tuple[str, Block]]:
    return [(name, block) for name, block in EVERY_BLOCK if block.language in languages]


CONSOLE: Final = of("console")
CALLS: Final = of("http")
OTHERS: Final = [each for each in EVERY_BLOCK if each[1].language not in {"console", "http", "text"}]


@pytest.mark.parametrize(("name", "block"), OTHERS, ids=ids(OTHERS))
def test_a_block_is_run_or_read_by_a_test(name: str, block: Block) -> None:
    if name in RUN and block.language in {*SCRIPTS, "sh", *WRITTEN}:
        return
    assert name in TESTED_BY, f"mark the block as console, http or text, or name the test that reads {name}"
    words = (ROOT / TESTED_BY[name]).read_text(encoding="utf-8")
    assert name.rsplit("/", 1)[-1] in words


@pytest.mark.parametrize("name", NAMES)
def test_no_code_is_merely_indented(name: str) -> None:
    """An indented block has no language, so nobody knows whether it runs. (Four blanks go on with an item of a list, too.)"""
    indented, in_list = [], False
    for line in re.sub(r"^ *```.*?^ *```$", "", read(name), flags=re.MULTILINE | re.DOTALL).splitlines():
        in_list = bool(re.match(r" *(?:[-*]|\d+\.) ", line)) or (
            in_list and (line.startswith(" ") or not line)
        )
        indented += [line] if line.startswith("    ") and not in_list else []
    assert indented == []


def command_line() -> dict[str, typer.core.TyperCommand]:
    app = typer.Typer()
    app.callback()(lambda: None)
    add_commands(app)
    share_options(app)
    return dict(getattr(get_command(app), "commands", {}))


COMMANDS: Final = command_line()
TARGETS: Final = set(
    re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


def check_ledgerline(words: list[str]) -> None:
    """The command and its options are there."""
    if words[0].startswith("--"):
        assert words[0] in {"--version", "--help"}
        return
    command = COMMANDS[words[0]]
    inner = getattr(command, "commands", {})
    if len(words) > 1 and words[1] in inner:
        command = inner[words[1]]
    known = {name for each in command.params for name in each.opts} | {"--help"}
    options = {re.match(r"--[a-z-]+", word)[0] for word in words if word.startswith("--")}  # type: ignore[index]  # it matches
    assert options <= known


@pytest.mark.parametrize(("name", "block"), CONSOLE, ids=ids(CONSOLE))
def test_a_command_and_its_options_are_there(name: str, block: Block) -> None:
    for line in block.text.splitlines():
        words = re.sub(r"#.*|[\[\]]", "", line).split()
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if not words:
            continue
        program, *rest = words
        program = program.rsplit("/", 1)[-1]
        if program == "ledgerline":
            check_ledgerline(rest)
        elif program == "make":
            assert rest[0] in TARGETS
        elif program == "python":
            assert (ROOT / f"{rest[1].replace('.', '/')}.py").is_file()
        else:
            assert program in OTHER_PROGRAMS, line


@pytest.mark.parametrize(("name", "block"), CALLS, ids=ids(CALLS))
def test_a_call_is_in_the_document(name: str, block: Block) -> None:
    document = openapi_document()
    calls = [
        (re.compile(re.sub(r"\\\{\w+\\\}", "[^/?]+", re.escape(path))), method.upper())
        for path, methods in document["paths"].items()
        for method in methods
    ]
    for method, path in re.findall(
        r"^(GET|POST|PUT|DELETE) (\S+?)(?:\?\S*)?(?: |$)", block.text, re.MULTILINE
    ):
        assert any(known == method and pattern.fullmatch(path) for pattern, known in calls), (
            f"{method} {path}"
        )
