"""Every rule of every ruleset has tests that are named by its id, and the code refuses by known ids only."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from schemas.published_contracts import ALL_RULES
from schemas.refusals import BROUGHT_PAGES, BROUGHT_RULES, EVERY_RULE, GAME_RULES, MESSAGE_RULES
from services.rulebook import RULE_PATTERN
from tests.rules.test_rule_pages import RULES_ON_PAGE as RULES_ON_OUR_PAGES

TESTS_FOLDER = Path(__file__).parent
ROOT = TESTS_FOLDER.parents[1]
TESTS = [  # a game of another package has its rules elsewhere
    *sorted(TESTS_FOLDER.rglob("test_*.py")),
    *(ROOT / "tests/games" / f"test_{name}.py" for name in BROUGHT_PAGES),
]
RULES_ON_PAGE = RULES_ON_OUR_PAGES | {
    ruleset: [rule for rule, _ in RULE_PATTERN.findall(page)] for ruleset, page in BROUGHT_PAGES.items()
}
ID = re.compile(r"[A-Z]+-\d")
# these list ids, they don't refuse anything
LISTS_OF_RULES = (
    "gateway/openapi.py",
    "schemas/refusals.py",
    "trains/rule_options.py",
    "verification/explanation.py",
    "verification/trains/train_checks.py",
)
OWN_RULES = {  # rules of one ruleset alone
    ruleset: sorted(
        set(rules) - {rule for other in RULES_ON_PAGE if other != ruleset for rule in RULES_ON_PAGE[other]}
    )
    for ruleset, rules in RULES_ON_PAGE.items()
}


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def named_tests() -> dict[str, list[tuple[Path, ast.FunctionDef]]]:
    """The tests of rules and games by the rule that they are named by."""
    tests = defaultdict(list)
    for file in TESTS:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.FunctionDef) and (
                found := re.match(r"test_([A-Z]+)_(\d)_\w+", node.name)
            ):
                tests[f"{found[1]}-{found[2]}"].append((file, node))
    return dict(tests)


def texts(nodes: Iterable[ast.AST]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def refuses(tree: ast.AST, rule: str) -> bool:
    """Whether this code checks that the rule refuses something: `.refused(rule)`, or what it is a parameter
    of, `pytest.raises(.., match=rule)`, or a verdict compared with it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            given = texts(part for line in node.decorator_list for part in ast.walk(line))
            called = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            if rule in given and "refused" in called:
                return True
        if isinstance(node, ast.Compare) and rule in texts(node.comparators):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            argument_texts = texts([*node.args, *(keyword.value for keyword in node.keywords)])
            if node.func.attr in ("refused", "raises") and any(rule in text for text in argument_texts):
                return True
    return False


def accepts(tree: ast.AST) -> bool:
    """Whether this code checks more than a refusal: events, or a state."""
    methods = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool(methods & {"then", "then_types"}) or any(isinstance(n, ast.Assert) for n in ast.walk(tree))


# -- tests by rule -----------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULES_ON_PAGE)
def test_every_rule_of_a_ruleset_has_a_test_named_by_its_id(ruleset: str) -> None:
    assert sorted(set(RULES_ON_PAGE[ruleset]) - set(named_tests())) == []


def test_no_test_is_named_by_an_unknown_rule() -> None:
    known = {rule for rules in RULES_ON_PAGE.values() for rule in rules} | set(MESSAGE_RULES)
    assert set(named_tests()) - known == set()


@pytest.mark.parametrize("ruleset", [ruleset for ruleset in OWN_RULES if OWN_RULES[ruleset]])
def test_a_rule_of_one_ruleset_alone_is_tested_in_that_ruleset(ruleset: str) -> None:
    word = re.compile(rf"\b{ruleset}\b", re.IGNORECASE)
    for rule in OWN_RULES[ruleset]:
        files = {file for file, _ in named_tests().get(rule, ())}
        assert any(word.search(file.read_text()) for file in files), rule


@pytest.mark.parametrize("rule", [*GAME_RULES, *BROUGHT_RULES])
def test_a_rule_that_can_refuse_has_tests_in_which_it_does_and_does_not(rule: str) -> None:
    tests = named_tests().get(rule, [])
    assert any(accepts(node) for _, node in tests), "named by it, and it lets something happen"
    sources = [tree_of(file) for file in {file for file, _ in tests}]
    assert any(refuses(tree, rule) for tree in sources), "beside them, and it refuses"


# -- ids in the code ---------------------------------------------------------------------


@cache
def ids_in_the_code() -> dict[str, list[str]]:
    """Every id that the code names in a literal, and the files where it does."""
    named: dict[str, list[str]] = {}
    for file in sorted([*(ROOT / "services").rglob("*.py"), *(ROOT / "schemas").rglob("*.py")]):
        where = file.relative_to(ROOT).as_posix()
        if where.endswith(LISTS_OF_RULES):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
                named.setdefault(node.value, []).append(where)
    return named


def test_every_id_that_the_code_refuses_by_is_in_the_list() -> None:
    unknown = {rule: files for rule, files in ids_in_the_code().items() if rule not in EVERY_RULE}
    assert unknown == {}


def test_every_id_of_the_list_is_one_that_the_code_refuses_by() -> None:
    assert set(ALL_RULES) - set(ids_in_the_code()) == set()


def test_every_rule_that_refuses_is_on_the_rule_pages() -> None:
    assert {*GAME_RULES, *BROUGHT_RULES} <= {rule for rules in RULES_ON_PAGE.values() for rule in rules}
    assert not set(GAME_RULES) & set(MESSAGE_RULES)
