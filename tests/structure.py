"""How the product's modules import each other, and how large they are: for tests/test_tidy.py and `make bench`."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import grimp

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("schemas", "services")
MAX_PARAMETERS: Final = 6
Graph: TypeAlias = "Mapping[str, set[str]]"  # who imports whom


@cache
def import_graph() -> grimp.ImportGraph:
    """Every import between two modules of the product, those for types alone too."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def sources() -> list[Path]:
    """The product's Python files."""
    return sorted(path for top in (*PACKAGES, "deploy") for path in (ROOT / top).rglob("*.py"))


def is_package(module: str) -> bool:
    """Whether a module is the face of a package."""
    return (ROOT / module.replace(".", "/") / "__init__.py").is_file()


def importers() -> dict[str, set[str]]:
    """Who imports each module of the product; the faces of packages and the programs' entries aren't counted."""
    graph = import_graph()
    return {
        module: graph.find_modules_that_directly_import(module)
        for module in sorted(graph.modules)
        if not is_package(module) and not module.endswith("__main__")
    }


def rooms_of(package: str) -> Graph:
    """The rooms of a package, its modules and packages, each with the rooms that it imports."""
    graph, rooms = import_graph(), defaultdict[str, set[str]](set)
    depth = package.count(".") + 1

    def room(module: str) -> str | None:
        """The room that a module is in; None for the package's face and what is outside."""
        parts = module.split(".")
        return ".".join(parts[: depth + 1]) if module.startswith(f"{package}.") else None

    for module in sorted(graph.modules):
        if importer := room(module):
            rooms[importer] |= {
                other
                for imported in graph.find_modules_directly_imported_by(module)
                if (other := room(imported)) and other != importer
            }
    return rooms


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The groups of rooms that import each other in a circle."""
    below: dict[str, set[str]] = {}
    for start in graph:
        reached, left = set[str](), [*graph[start]]
        while left:
            if (node := left.pop()) not in reached:
                reached.add(node)
                left += graph.get(node, ())
        below[start] = reached
    groups = {
        tuple(sorted({node, *(other for other in below[node] if node in below.get(other, ()))}))
        for node in graph
        if node in below[node]
    }
    return sorted(groups)


def floors(graph: Graph) -> int:
    """On how many floors rooms stand, of which each imports only those below it; a circle's rooms share one."""
    floor_of: dict[str, int] = {}

    def floor(node: str, above: tuple[str, ...] = ()) -> int:
        if node not in floor_of:
            lower = [floor(other, (*above, node)) for other in graph.get(node, ()) if other not in above]
            floor_of[node] = 1 + max(lower, default=0)
        return floor_of[node]

    return max((floor(node) for node in sorted(graph)), default=0)


def module_circles() -> list[tuple[str, ...]]:
    """The groups of modules that import each other in a circle; the faces of packages aren't counted."""
    graph = import_graph()
    modules = {module for module in graph.modules if not is_package(module)}
    return circles({m: graph.find_modules_directly_imported_by(m) & modules for m in sorted(modules)})


def nodes(path: Path) -> Iterator[ast.AST]:
    """Every node of a file's syntax tree."""
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def count_any() -> int:
    """How often the product says `Any`."""
    return sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for path in sources()
        if "Any" in path.read_text(encoding="utf-8")
        for node in nodes(path)
    )


def wide_functions() -> list[str]:
    """The functions with more than six parameters besides `self`."""
    found = []
    for path in sources():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                names = [each.arg for each in every if each.arg not in ("self", "cls")]
                if len(names) > MAX_PARAMETERS:
                    found.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}")
    return found


def documents() -> list[Path]:
    """The pages of docs, and those at the top and in deploy, that people write."""
    return [page for page in pages() if not is_generated(page)]


def pages() -> list[Path]:
    """All of them, with those that `make` writes from code."""
    return sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "deploy").glob("*.md")])


def is_generated(page: Path) -> bool:
    """Whether its first line says that `make` writes it."""
    return page.read_text(encoding="utf-8").startswith("<!-- Written by `make")


def count_words(pages: Iterable[Path]) -> int:
    """How many words are on these pages."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
