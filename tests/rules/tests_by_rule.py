"""Which tests hold each rule: a table for each game in tests_by_rule.md, made from the names of the tests.

`make rule-tests` writes it. A test belongs to the rules that its name begins with, and to the games that it, or
what it calls, names; one that names none plays `usa`, as `given` does, or no game at all, and is then in
the table of every game that has the rule.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from services.referee.games import RULESETS
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.rulebook import extract_passages, read_pages

TESTS: Final = Path(__file__).parents[1]
PAGE: Final = Path(__file__).with_suffix(".md")
HEAD: Final = (
    "# Which tests hold each rule\n\n`make rule-tests` writes this page from the names of the tests.\n"
)
NAME: Final = re.compile(r"test_(?:[a-z]+_)?((?:[A-Z]+_\d_)+)")
SCENES: Final = {"given", "started", "created", "create_from"}  # of tests/rules/given.py: `usa` unless told
DEFAULT_RULESET: Final = "usa"


class RuleTest(NamedTuple):
    """A test that is named by rules, where it is, and the games that it plays; none: it plays no game."""

    rules: tuple[str, ...]
    file: str
    rulesets: frozenset[str]


class Source(NamedTuple):
    """A module of the tests: its top-level definitions, and what it imports from others, as (module, name)."""

    definitions: dict[str, ast.AST]
    imports: dict[str, tuple[str, str]]
    about: frozenset[str]  # the games that its docstring names


def rules_in_name(name: str) -> tuple[str, ...]:
    """The rules that a test's name begins with: of `test_bug_END_1_stuck` END-1."""
    found = NAME.match(name)
    return tuple(part.replace("_", "-") for part in re.findall(r"[A-Z]+_\d", found[1])) if found else ()


def rule_tests(folder: Path = TESTS) -> Iterator[RuleTest]:
    """The tests below the folder that are named by rules."""
    for path in sorted(folder.rglob("test_*.py")):
        if path.parent == TESTS / "games" and not read_source(path).about:
            continue  # of a game of another package, which has no page here
        if NAME.search(path.read_text(encoding="utf-8")):
            source = read_source(path)
            for name, definition in source.definitions.items():
                if rules := rules_in_name(name):
                    file = path.relative_to(folder).as_posix()
                    yield RuleTest(rules, file, frozenset(games_of(source, definition)))


def games_of(source: Source, definition: ast.AST) -> set[str]:
    """The games that a test plays, as far as its source says."""
    named = set(names_reached(source, definition, set()))
    games = named & set(RULESETS) or set(source.about)
    return games or ({DEFAULT_RULESET} if named & SCENES else set())


def names_reached(source: Source, node: ast.AST, seen: set[int]) -> Iterator[str]:
    """The rulesets and scenes that this code names, itself or through what it uses of the tests."""
    for part in _parts(node):
        if isinstance(part, ast.Constant) and part.value in RULESETS:
            yield str(part.value)
        elif isinstance(part, ast.Name) and part.id == "TRAIN_RULESETS":
            yield from TRAIN_RULESETS
        elif isinstance(part, ast.Name) and part.id == "RULESETS":
            yield from RULESETS
        elif isinstance(part, ast.Name):
            if part.id in SCENES:
                yield part.id
            where, name = source, part.id
            if name in source.imports:
                module, name = source.imports[name]
                where = read_source(TESTS.parent / f"{module.replace('.', '/')}.py")
            definition = where.definitions.get(name)
            if definition is not None and id(definition) not in seen:
                seen.add(id(definition))
                yield from names_reached(where, definition, seen)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Like ast.walk, but of `RULESETS["usa"]` the key alone, and of `board="usa"` nothing: that is a board."""
    if isinstance(node, ast.keyword) and node.arg == "board":
        return
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"RULESETS", "TRAIN_RULESETS"}
    ):
        node = node.slice
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _parts(child)


@cache
def read_source(path: Path) -> Source:
    """A module of the tests; nothing is known of one that doesn't exist, such as a package."""
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    definitions: dict[str, ast.AST] = {}
    imports: dict[str, tuple[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            definitions |= dict.fromkeys(names, node)
        elif isinstance(node, ast.ImportFrom):
            module = str(node.module)
            if module.startswith("tests.") and module != "tests.rules.given":
                imports |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
    words = set(re.findall(r"\w+", ast.get_docstring(tree) or ""))
    return Source(definitions, imports, frozenset(words & set(RULESETS)))


def build_page(tests: list[RuleTest]) -> str:
    """The page of tables: for each game, in the order of its page, its rules with the files that test them."""
    passages = extract_passages(read_pages())
    parts = [HEAD]
    for ruleset in RULESETS:
        parts.append(f"\n## {ruleset}\n\n| rule | tests |\n|---|---|\n")
        for rule in (rule for rule, told in passages.items() if ruleset in told):
            parts.append(
                f"| {rule} | {', '.join(f'`{file}`' for file in files_of(rule, ruleset, tests))} |\n"
            )
    return "".join(parts)


def files_of(rule: str, ruleset: str, tests: list[RuleTest]) -> list[str]:
    """The files with tests named by this rule that play this game, or no game at all."""
    held = [test for test in tests if rule in test.rules]
    return list(dict.fromkeys(test.file for test in held if ruleset in test.rulesets or not test.rulesets))


def main() -> None:
    PAGE.write_text(build_page(list(rule_tests())), encoding="utf-8")


if __name__ == "__main__":
    main()
