"""The project's habits, checked: sizes that a reader can hold, names that say something, tests that assert."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final, TypeAlias

from services.cli.app import MODULES
from tests import structure

ROOT: Final = Path(__file__).parents[1]
TOPS: Final = ("schemas", "services", "deploy", "tests")
SOURCES: Final = sorted(path for top in TOPS for path in (ROOT / top).rglob("*.py"))
PRODUCT: Final = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
DOCUMENTED: Final = [path for path in PRODUCT if path.relative_to(ROOT).parts[0] in {"schemas", "services"}]
PAGES: Final = ROOT / "services" / "gateway" / "pages"
TESTS: Final = [path for path in SOURCES if path.name.startswith("test_")]
MAX_FUNCTION_LINES = 50
VAGUE: Final = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "data", "process"}
METAPHORS: Final = {
    "bags",
    "bells",
    "desk",
    "door",
    "eyes",
    "house",
    "knocks",
    "letters",
    "sitting",
    "witness",
}
GLOSSARY: Final = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@cache
def functions(path: Path) -> list[Function]:
    """Every function of a module. Only statements are looked at: expressions are ten times as many, and hold none."""
    found, left = list[Function](), list[ast.AST]([tree_of(path)])
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node)
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, block, ())
    return found


# -- sizes -------------------------------------------------------------------------------


def test_functions_fit_what_a_reader_can_hold() -> None:
    too_long = [
        f"{name_of(path)}::{function.name}"
        for path in SOURCES
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert too_long == []


# -- modules -----------------------------------------------------------------------------

PROGRAMS: Final = {"schemas.contract_record", "schemas.json_schema"}  # that make runs
FOR_LIBRARIES: Final = {  # that ledgerline/library.py imports
    "services.research.openspiel_game",
    "services.research.pettingzoo_env",
}
MAX_ROOM: Final = 18


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert structure.module_circles() == []


def test_every_module_is_imported_by_another_one() -> None:
    unused = {module for module, found in structure.importers().items() if not found}
    commands = {f"services.cli.{module}" for module in MODULES.values()}
    assert unused - commands == PROGRAMS | FOR_LIBRARIES


def test_only_the_face_of_a_package_hands_on_names_of_others() -> None:
    """What another module defines is imported from there."""
    assert [
        name_of(path)
        for path in PRODUCT
        if path.name != "__init__.py"
        and any(isinstance(node, ast.Name) and node.id == "__all__" for node in nodes_of(path))
    ] == []


def test_every_package_opens_with_a_sentence_and_holds_few_modules() -> None:
    faces = [path for path in PRODUCT if path.name == "__init__.py"]
    assert [name_of(path) for path in faces if not ast.get_docstring(tree_of(path))] == []
    rooms = {name_of(path.parent): len([*path.parent.glob("*.py")]) - 1 for path in faces}
    rooms |= {name_of(path): len([*path.glob("*.js")]) for path in PAGES.iterdir()}
    assert {room: count for room, count in rooms.items() if count > MAX_ROOM} == {}


# -- names -------------------------------------------------------------------------------


def test_no_module_name_is_vague_or_a_metaphor() -> None:
    assert [name_of(path) for path in SOURCES if path.stem in VAGUE | METAPHORS] == []


def glossary_words() -> set[str]:
    """Every word that the glossary explains, in the singular, and every name in its column of code."""
    words = {word.strip().lower() for word in re.findall(r"^\| ([^|]+?) \|", GLOSSARY, re.MULTILINE)}
    names = re.findall(r"`((?:schemas|services)(?:\.\w+)+)`", GLOSSARY)
    return words | {part for name in names for part in name.split(".")}


def test_a_module_named_by_one_word_is_in_the_glossary() -> None:
    known = glossary_words()
    one_word = [path for path in PRODUCT if "_" not in path.stem]
    assert [
        name_of(path) for path in one_word if not {path.stem, path.stem.rstrip("s"), path.stem + "s"} & known
    ] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in SOURCES if text_of(path).strip() and not ast.get_docstring(tree_of(path))]
    assert silent == []


LEANING: Final = re.compile(r"(The same|As)\b")  # on the docstring before it, which an IDE doesn't show


def test_every_docstring_stands_alone() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    assert [
        f"{name_of(path)}: {docstring.splitlines()[0]}"
        for path in DOCUMENTED
        for node in nodes_of(path)
        if isinstance(node, documented) and LEANING.match(docstring := ast.get_docstring(node) or "")
    ] == []


def public_functions(node: ast.AST) -> Iterator[Function]:
    """The functions and methods of a module without a leading underscore, but those inside of others."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("_"):
                yield child
        else:
            yield from public_functions(child)


def is_said_elsewhere(function: Function) -> bool:
    """An applier, whose event says what it means; a route, whose declaration has a summary; a property that
    only returns an expression of one line; a method of a Protocol whose types say all."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            if isinstance(decorator.func, ast.Name) and decorator.func.id == "applies":
                return True
            if any(keyword.arg == "summary" for keyword in decorator.keywords):
                return True
    (body, *more), is_short = function.body, function.body[0].lineno == function.body[0].end_lineno
    is_property = any(
        isinstance(each, ast.Name) and "property" in each.id for each in function.decorator_list
    )
    is_stub = isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) and body.value.value is ...
    return not more and is_short and (is_stub or (is_property and isinstance(body, ast.Return)))


def test_every_public_function_says_what_it_does() -> None:
    assert [
        f"{name_of(path)}:{function.lineno} {function.name}"
        for path in DOCUMENTED
        for function in public_functions(tree_of(path))
        if not ast.get_docstring(function) and not is_said_elsewhere(function)
    ] == []


def any_lines(path: Path) -> Iterator[int]:
    """The lines on which a module says `Any`, but where it imports it."""
    if "Any" in text_of(path):
        for node in nodes_of(path):
            if isinstance(node, ast.Name) and node.id == "Any":
                yield node.lineno


def commented_lines(path: Path) -> set[int]:
    """The lines with a comment, each with those of the innermost statement, or of its head, that it stands in;
    and those of a statement that a comment stands on top of."""
    source = tokenize.generate_tokens(StringIO(text_of(path)).readline)
    tokens = [token for token in source if token.type == tokenize.COMMENT]
    comments = {token.start[0] for token in tokens}
    on_top = {token.start[0] + 1 for token in tokens if token.line.strip() == token.string}
    covered = set(comments)
    for node in nodes_of(path):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines = set(range(node.lineno, end + 1))
            if node.lineno in on_top or lines & comments:
                covered |= lines
    return covered


def test_every_Any_has_its_reason_in_a_comment() -> None:
    assert [
        f"{name_of(path)}:{line}"
        for path in DOCUMENTED
        if (lines := set(any_lines(path)))
        for line in sorted(lines - commented_lines(path))
    ] == []


def test_a_contract_on_the_wire_names_its_type() -> None:
    """A class may then be renamed without a change on the wire."""
    silent = []
    for path in (path for path in PRODUCT if "contract(" in text_of(path)):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "contract":
                keywords = {keyword.arg for keyword in node.keywords}
                if "code" in keywords and "type" not in keywords:
                    silent.append(f"{name_of(path)}:{node.lineno}")
    assert silent == []


DIALECT: Final = re.compile(
    r"\{house\}|the house has|:turns\b|:bell\b|:dismissed|:verdicts:|disputes:(told|waiting|found)|"
    r"ledgerline:(letters|notes|birth)|\}:(due|dead|over|filed|mark)(?![\w-])|\"told\"|former_format|"
    r"letter_(format|most)|letter\.schema|log_edition|\bof before\b|\bll2\b",
    re.IGNORECASE,
)  # words of our own, for what the glossary has a word for
TEXTS: Final = {
    ".py",
    ".js",
    ".mjs",
    ".lua",
    ".html",
    ".css",
    ".md",
    ".json",
    ".yaml",
    ".toml",
    ".acl",
    ".txt",
}


def test_code_data_and_docs_speak_the_words_of_the_glossary() -> None:
    tops = (*TOPS, "docs", "examples")
    paths = [*ROOT.glob("*"), *(path for top in tops for path in (ROOT / top).rglob("*"))]
    texts = (path for path in paths if path.suffix in TEXTS and path.is_file() and path != Path(__file__))
    assert [
        f"{name_of(path)}: {found[0]}"
        for path in texts
        if (found := DIALECT.search(path.read_text(encoding="utf-8")))
    ] == []


# -- docs --------------------------------------------------------------------------------

MAX_LINE: Final = 100


def prose_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page that a person reads as sentences: no tables, no code, no lines that are one long link."""
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        in_code ^= line.startswith("```")
        if (
            not in_code
            and not line.lstrip().startswith("|")
            and not line.startswith("    ")
            and " " in line.strip()
        ):
            yield number, line


WORDS_OF_TRAINS: Final = re.compile(
    r"(?<![a-z])(?:tickets?|locomotives?|trains?|stations?|tunnels?|ferr(?:y|ies)|passengers?|merchandise"
    r"|city|cities|routes?|red|blue|green|yellow|orange|purple|pink|white|black|gr[ae]y)(?![a-z])"
    r"|(?-i:(?:Train|Ticket|Locomotive|Station|Tunnel|Ferry|Passenger|City|Route)(?![a-rt-z])|Cities)",
    re.IGNORECASE,
)
# What puts the family beside every game has a line that imports it; the linter's contract says who may.
JOINS_THE_FAMILY: Final = re.compile(r"^\s*(?:from|import) [\w.]+\.trains(?:\.|  #| import )")
FILE_OF_THE_FAMILY: Final = re.compile(
    r'"(?:\.\./)?trains/\w+(?:\.js)?"'
)  # imported by a page, or joined to its style
OF_SOMETHING_ELSE: Final = (
    ("services/gateway/server.py", "route"),  # HTTP's
    ("services/gateway/server.py", "route"),  # HTTP's
    ("services/gateway/routes/", "route"),  # HTTP's
    ("services/gateway/web/", "route"),  # HTTP's
    ("services/metrics/", "route"),  # HTTP's
    ("services/cli/operating/", "red|green|yellow"),  # on a terminal
    (
        "services/gateway/pages/shared/card_marks.js",
        "purple|white|blue|yellow|orange|red|green|black",
    ),  # of any game's cards
)


def words_of_trains(path: Path) -> Iterator[str]:
    """The lines of a module that name what only train games have."""
    name = name_of(path)
    others = "|".join(words for start, words in OF_SOMETHING_ELSE if name.startswith(start))
    for number, line in enumerate(text_of(path).splitlines(), 1):
        said = FILE_OF_THE_FAMILY.sub("", line)
        said = re.sub(rf"(?i)(?<![a-z])(?:{others})s?(?![a-z])", "", said) if others else said
        if WORDS_OF_TRAINS.search(said) and not JOINS_THE_FAMILY.match(line):
            yield f"{name}:{number} {line.strip()}"


def test_nothing_that_every_game_runs_on_names_a_ticket_a_route_a_colour_or_a_train() -> None:
    scripts = [
        path for path in PAGES.rglob("*.[jt]s") if path.name != "openapi.d.ts" and "vendor" not in path.parts
    ]
    modules = [
        path
        for path in [*DOCUMENTED, *scripts]
        if not {"trains", "trains_server"} & {*path.relative_to(ROOT).parts, path.stem}
    ]
    assert len(modules) > 250
    assert [line for path in modules for line in words_of_trains(path)] == []


JOIN_THE_FAMILY: Final = {  # the pages' modules that put it beside every game
    "audit/explained_move.js",
    "lobby/create_form_view.js",
    "lobby/option_words.js",
    "table/table.js",
}


def test_pages_join_the_train_games_in_few_places() -> None:
    scripts = [path for path in PAGES.rglob("*.js") if path.parent.name != "trains"]
    joined = {path.relative_to(PAGES).as_posix() for path in scripts if '"../trains/' in text_of(path)}
    assert joined == JOIN_THE_FAMILY


def test_no_line_of_the_product_outside_of_its_folder_names_the_game_tricks() -> None:
    own = ROOT / "services/referee/games/tricks"
    assert sum(len(text_of(path).splitlines()) for path in own.rglob("*.py")) <= 150
    built = [path for path in PRODUCT if own not in path.parents] + [
        ROOT / "pyproject.toml",
        ROOT / "Makefile",
    ]
    pages = [*(ROOT / "services").rglob("*.js"), *(ROOT / "services").rglob("*.html")]
    assert [name_of(path) for path in [*built, *pages] if re.search(r"\btricks\b", text_of(path))] == []


def test_lines_of_docs_are_short() -> None:
    assert [
        f"{name_of(path)}:{number}"
        for path in structure.documents()
        for number, line in prose_lines(path)
        if len(line) > MAX_LINE and not re.fullmatch(r"\s*\S+ ?\S*", line)
    ] == []


# -- tests -------------------------------------------------------------------------------


@cache
def calls(function: Function) -> set[str]:
    """The bare names of all that is called, or handed on, in a function."""
    nodes = list(ast.walk(function))
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return named | {node.id for node in nodes if isinstance(node, ast.Name)}


def asserting() -> set[str]:
    """The names of the tests' functions that assert something, or call one that does."""
    found = {"raises", "fail", "warns"}
    every = [function for path in SOURCES if path not in PRODUCT for function in functions(path)]
    found |= {f.name for f in every if any(isinstance(node, ast.Assert) for node in ast.walk(f))}
    while more := {f.name for f in every if f.name not in found and calls(f) & found}:
        found |= more
    return found


def test_every_test_asserts_something() -> None:
    found = asserting()
    silent = [
        f"{name_of(path)}::{function.name}"
        for path in TESTS
        for function in functions(path)
        if function.name.startswith("test_") and function.name not in found
    ]
    assert silent == []
