"""Which form of the rules this process decides by: Python's own, or the one that `make fast` compiled (docs/how-to/compiled.md).

A build lies in the virtual environment, in a folder named by a key over the sources that it was made from. A process
computes the key of the sources that it has, and looks only there: no module that was compiled from other sources can
ever be imported. Without a build that fits and loads, the sources themselves are the rules.

A program imports `services.compiled_rules.at_start` before anything else of the product, as no module can be replaced
once it is imported. So this package imports only the standard library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

AT_START: Final = f"{__name__}.at_start"  # for processes that are told by name what to import first
VARIABLE: Final = "LEDGERLINE_COMPILED_RULES"
OFF_WORDS: Final = frozenset({"0", "off", "f", "false", "n", "no"})  # as of any setting that is on or off
ROOT: Final = Path(__file__).parents[2]
FORMAT: Final = 1  # of builds: rises where older ones of the same sources can't be used any more
BUILDS: Final = Path(sys.prefix) / "ledgerline-compiled"
# What the compiled modules are made from, and all that they take types and constants from.
SOURCE_FOLDERS: Final = (
    "schemas",
    "services/archive",
    "services/bots",
    "services/fast_path",
    "services/ledger",
    "services/metrics",
    "services/referee",
    "services/runtime",
)
GROUP: Final = "ledgerline_rules"
LIBRARY: Final = f"{GROUP}__mypyc"  # the module that holds the code of all others
SUFFIX: Final = ".so"


class RulesForm(NamedTuple):
    """In which form the rules were loaded, and why, in words. `fault`: a build is there that can't be used."""

    compiled: bool
    reason: str
    fault: bool = False

    def __str__(self) -> str:
        return f"{'compiled' if self.compiled else 'pure Python'} ({self.reason})"


NOTHING_ASKED: Final = RulesForm(compiled=False, reason="nothing else was asked for")
_loaded = NOTHING_ASKED


def rules_form() -> RulesForm:
    """The form of the rules in this process."""
    return _loaded


def prefer_compiled_rules(builds: Path = BUILDS, root: Path = ROOT) -> RulesForm:
    """Have the rules imported in their compiled form, if there is one of these very sources and it isn't off.

    A second call changes nothing: a process has one form of the rules."""
    global _loaded  # noqa: PLW0603 - a process has one form of the rules, from its first import on
    if _loaded is NOTHING_ASKED:
        chosen = choose_build(builds, root, os.environ)
        _loaded = chosen if isinstance(chosen, RulesForm) else load_build(chosen)
    return _loaded


def build_key(root: Path = ROOT) -> str:
    """The name of the build of these sources for this Python: 16 hex digits."""
    digest = sha256(f"{FORMAT} {sys.version} {EXTENSION_SUFFIXES[0]}".encode())
    for path in source_files(root):
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def source_files(root: Path = ROOT) -> Sequence[Path]:
    """Every source that the compiled modules are made from or take types and constants from, in a fixed order."""
    endings = (".py", ".c")
    return sorted(
        path for folder in SOURCE_FOLDERS for path in (root / folder).rglob("*") if path.suffix in endings
    )


def choose_build(builds: Path, root: Path, environment: Mapping[str, str]) -> Path | RulesForm:
    """The build of these sources; else why the rules are pure Python."""
    if environment.get(VARIABLE, "").lower() in OFF_WORDS:
        return RulesForm(compiled=False, reason=f"{VARIABLE} is off")
    if not builds.is_dir() or not any(builds.iterdir()):
        return RulesForm(compiled=False, reason="nothing is compiled here: make fast does it")
    folder = builds / build_key(root)
    if not folder.is_dir():
        reason = "the compiled rules are of other sources than these: make fast compiles them anew"
        return RulesForm(compiled=False, reason=reason, fault=True)
    return folder


def load_build(folder: Path) -> RulesForm:
    """Have the modules of this build imported from now on: all of them, or none."""
    finder = BuildFinder(folder)
    if loaded := finder.names & sys.modules.keys():
        return RulesForm(compiled=False, reason=f"{min(loaded)} was imported before", fault=True)
    sys.meta_path.insert(0, finder)
    try:
        import_module(LIBRARY)
    except (ImportError, OSError) as error:
        sys.meta_path.remove(finder)
        return RulesForm(compiled=False, reason=f"the compiled rules can't be loaded: {error}", fault=True)
    return RulesForm(compiled=True, reason=f"build {folder.name}")


class BuildFinder:
    """Finds the modules of one build, before their sources are looked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = _module_names(folder.iterdir())

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The compiled module of this name; None for any other module."""
        if name not in self.names:
            return None
        file = str(self.folder / f"{name}{SUFFIX}")
        return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))


def _module_names(files: Iterable[Path]) -> frozenset[str]:
    return frozenset(file.name.removesuffix(SUFFIX) for file in files if file.name.endswith(SUFFIX))
