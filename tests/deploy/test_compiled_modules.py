"""docs/how-to/compiled.md: which modules `make fast` compiles, and which sources decide whether a build fits."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import pytest

from schemas.commands import CreateGame, SeatPlan
from services.compiled_rules import source_files
from services.referee.games import RULESETS
from tests.cli.command_line import ROOT
from tests.rules.given import create_from


@pytest.fixture(scope="module")
def modules() -> list[str]:
    """What deploy/compile_rules.py would compile: paths below the root."""
    found: list[str] = runpy.run_path(str(ROOT / "deploy" / "compile_rules.py"))["modules_to_compile"]()
    return found


def test_what_may_take_long_stays_interruptible(modules: list[str]) -> None:
    compiled = {module.removeprefix("services/referee/games/").removesuffix(".py") for module in modules}
    assert {"decide", "appliers", "state", "create_game"} < compiled
    assert {"trains/moves/cards", "trains/appliers", "trains/setup/deal"} < compiled
    searches = {name for name in compiled if name.startswith("trains/search/")}
    assert searches == {"trains/search/longest_trail"}, "of a small bound"
    checks = {"position", "validation", "fork"}
    checks = {f"trains/setup/{name}" for name in checks}
    assert not compiled & checks
    assert not [name for name in compiled if name.endswith("__init__")], "they say where the boards are"


def test_every_module_that_is_named_for_the_compiler_is_there(modules: list[str]) -> None:
    assert [module for module in modules if not (ROOT / module).is_file()] == []


def test_a_generic_dataclass_is_left_to_python(modules: list[str]) -> None:
    # given every class of the modules that are compiled
    classes = [
        node for module in modules for node in ast.walk(ast.parse((ROOT / module).read_text()))
        if isinstance(node, ast.ClassDef)
    ]  # fmt: skip
    generic = [
        [ast.unparse(decorator).split("(")[0] for decorator in each.decorator_list] for each in classes
        if any(ast.unparse(base).startswith("Generic[") for base in each.bases)
    ]  # fmt: skip
    # then no decorator but of one that isn't compiled is a dataclass's: its import would fail
    assert any("dataclass" in decorators for decorators in generic)
    assert [decorators for decorators in generic if decorators == ["dataclass"]] == []


def named_too_early(source: str) -> Iterator[str]:
    """The named tuples of a module whose fields name a class that comes later, each with that class."""
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    for place, cls in enumerate(classes):
        if "NamedTuple" not in map(ast.unparse, cls.bases):
            continue
        annotations = (line.annotation for line in cls.body if isinstance(line, ast.AnnAssign))
        named = {node.id for each in annotations for node in ast.walk(each) if isinstance(node, ast.Name)}
        yield from (f"{cls.name} names {later.name}" for later in classes[place + 1 :] if later.name in named)


def test_a_named_tuple_names_no_class_that_comes_later(modules: list[str]) -> None:
    """mypyc puts the classes themselves into it, and one that isn't made yet is a null pointer: its import crashes."""
    early = "class Undo(NamedTuple):\n    before: State | None\n\n\nclass State:\n    pass\n"
    assert [*named_too_early(early)] == ["Undo names State"]
    found = {module: [*named_too_early((ROOT / module).read_text())] for module in modules}
    assert {module: named for module, named in found.items() if named} == {}


@pytest.mark.parametrize("rules", RULESETS)
def test_every_part_of_a_state_is_made_without_arguments(rules: str) -> None:
    # given a game whose state is copied and pickled
    state = create_from(CreateGame((SeatPlan(),) * 3, rules)).state
    # then `__new__` of each class wants nothing: a compiled one hands what it is given on to `__init__`
    for part in (state, *state.seats, state.own, *(seat_state.own for seat_state in state.seats)):
        signature(type(part)).bind()


def imported_by(source: Path) -> Iterator[Path]:
    """The product's own sources that this one imports, and the packages that they are in."""
    for node in ast.walk(ast.parse(source.read_text())):
        match node:
            case ast.Import(names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                modules = [module, *(f"{module}.{alias.name}" for alias in names)]
            case _:
                continue
        for module in modules:
            parts = module.split(".")
            for end in range(1, len(parts) + 1):
                path = ROOT.joinpath(*parts[:end])
                yield from filter(Path.is_file, (path / "__init__.py", path.with_suffix(".py")))


def test_P4_the_key_covers_all_that_compiled_modules_take_types_and_constants_from(
    modules: list[str],
) -> None:
    reached, left = set[Path](), [ROOT / module for module in modules]
    while left:
        if (source := left.pop()) not in reached:
            reached.add(source)
            left += imported_by(source)
    assert len(reached) > 100
    assert reached - {*source_files(ROOT)} == {ROOT / "services" / "__init__.py"}, "with nothing to take"
