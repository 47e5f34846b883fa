"""docs/how-to/compiled.md: compiled rules decide only where they were compiled from these very sources, else Python's own do."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from services import VERSION, compiled_rules
from services.bootstrap.composition import log_rules_form
from services.compiled_rules import (
    BUILDS,
    GROUP,
    LIBRARY,
    SOURCE_FOLDERS,
    SUFFIX,
    VARIABLE,
    BuildFinder,
    RulesForm,
    build_key,
    choose_build,
)
from tests.captured_logs import captured_logs
from tests.cli.command_line import ROOT, run_in_process

MODULE = "services.referee.games.decide"
ON: Mapping[str, str] = {}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The root of a small tree of sources."""
    root = tmp_path / "root"
    for folder in SOURCE_FOLDERS:
        (root / folder).mkdir(parents=True)
        (root / folder / "one.py").write_text("A = 1\n")
    return root


@pytest.fixture
def builds(tmp_path: Path) -> Path:
    """A folder for builds, which is empty."""
    folder = tmp_path / "builds"
    folder.mkdir()
    return folder


def build(builds: Path, root: Path, *, library: bytes = b"no library") -> Path:
    """A build of these sources, as far as its names go."""
    folder = builds / build_key(root)
    folder.mkdir()
    (folder / f"{LIBRARY}{SUFFIX}").write_bytes(library)
    (folder / f"{MODULE}{SUFFIX}").write_bytes(library)
    return folder


def test_where_nothing_is_compiled_the_rules_are_pure_python(builds: Path, sources: Path) -> None:
    for folder in (builds, builds / "missing"):
        chosen = choose_build(folder, sources, ON)
        assert isinstance(chosen, RulesForm)
        assert (chosen.compiled, chosen.fault) == (False, False)
        assert "make fast" in chosen.reason


def test_a_build_of_these_sources_is_chosen(builds: Path, sources: Path) -> None:
    folder = build(builds, sources)
    assert choose_build(builds, sources, ON) == folder


@pytest.mark.parametrize("word", ["off", "false", "0", "No", "FALSE"])
def test_it_is_switched_off_by_a_variable(builds: Path, sources: Path, word: str) -> None:
    build(builds, sources)
    chosen = choose_build(builds, sources, {VARIABLE: word})
    assert chosen == RulesForm(compiled=False, reason="LEDGERLINE_COMPILED_RULES is off")


def test_P4_a_changed_source_makes_a_build_stale(builds: Path, sources: Path) -> None:
    build(builds, sources)
    changed = sources / SOURCE_FOLDERS[0] / "one.py"
    text = changed.read_text()
    changed.write_text("A = 2\n")
    chosen = choose_build(builds, sources, ON)
    assert isinstance(chosen, RulesForm)
    assert (chosen.compiled, chosen.fault) == (False, True)
    assert "of other sources" in chosen.reason
    changed.write_text(text)
    assert isinstance(choose_build(builds, sources, ON), Path), "back at the sources that it was made from"


@pytest.mark.parametrize("folder", SOURCE_FOLDERS)
def test_P4_a_source_that_comes_goes_or_moves_makes_a_build_stale(sources: Path, folder: str) -> None:
    keys = {build_key(sources)}
    source = sources / folder / "one.py"
    (sources / folder / "two.py").write_text(source.read_text())
    keys.add(build_key(sources))
    source.unlink()
    keys.add(build_key(sources))
    (sources / folder / "inner").mkdir()
    (sources / folder / "two.py").rename(sources / folder / "inner" / "two.py")
    keys.add(build_key(sources))
    assert len(keys) == 4


def test_a_build_for_another_python_is_stale(
    sources: Path, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(builds, sources)
    monkeypatch.setattr(compiled_rules, "EXTENSION_SUFFIXES", [".cpython-399-x86_64-linux-gnu.so"])
    assert isinstance(choose_build(builds, sources, ON), RulesForm)


def test_a_build_that_is_not_complete_is_never_found(builds: Path, sources: Path) -> None:
    build(builds, sources).rename(builds / f"{build_key(sources)}.4711")
    chosen = choose_build(builds, sources, ON)
    assert isinstance(chosen, RulesForm)
    assert not chosen.compiled


def test_the_finder_answers_for_its_own_modules_only(builds: Path, sources: Path) -> None:
    finder = BuildFinder(build(builds, sources))
    spec = finder.find_spec(MODULE)
    assert spec is not None
    assert spec.origin == str(builds / build_key(sources) / f"{MODULE}{SUFFIX}")
    assert finder.find_spec("services.referee.games.trains.search.sweeps") is None
    assert finder.find_spec("json") is None


@pytest.fixture(scope="module")
def compiling() -> dict[str, Any]:
    """What deploy/compile_rules.py defines."""
    return runpy.run_path(str(ROOT / "deploy" / "compile_rules.py"))


@pytest.fixture
def without_compiler(compiling: dict[str, Any], builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts its builds into `builds`, and the machine has no compiler."""
    monkeypatch.setitem(compiling["build"].__globals__, "BUILDS", builds)
    monkeypatch.setenv("CC", "no-such-compiler -O2")


@pytest.mark.usefixtures("without_compiler")
def test_without_a_compiler_it_says_what_is_missing(
    compiling: dict[str, Any], builds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiling["main"]([]) == 1
    assert "there is no C compiler here (no-such-compiler)" in (error := capsys.readouterr().err)
    assert "the rules stay as they were" in error
    assert [*builds.iterdir()] == []


@pytest.mark.usefixtures("without_compiler")
def test_what_was_compiled_already_is_not_compiled_again_and_can_be_removed(
    compiling: dict[str, Any], builds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(builds, ROOT)
    assert compiling["main"]([]) == 0
    assert f"compiled already (build {build_key()})" in capsys.readouterr().out
    assert compiling["main"](["--off"]) == 0
    assert not builds.exists()


LOADS = """
import os
from pathlib import Path
os.environ[{variable!r}] = "on"
from services.compiled_rules import prefer_compiled_rules
form = prefer_compiled_rules(Path({builds!r}), Path({root!r}))
import services.referee.games.state as module
print(form.compiled, form.fault, form.reason, module.__file__, sep="|")
"""


def loaded(builds: Path) -> Sequence[str]:
    """What a new process says of the rules that it loaded: compiled, fault, reason, the file of a module."""
    done = subprocess.run(
        [sys.executable, "-c", LOADS.format(variable=VARIABLE, builds=str(builds), root=str(ROOT))],
        cwd=ROOT, capture_output=True, text=True, check=True, env={VARIABLE: "off"},
    )  # fmt: skip
    return done.stdout.strip().split("|")


def test_a_build_that_cannot_be_loaded_leaves_the_rules_to_python(builds: Path) -> None:
    build(builds, ROOT)
    compiled, fault, reason, file = loaded(builds)
    assert (compiled, fault) == ("False", "True")
    assert "can't be loaded" in reason
    assert LIBRARY in reason
    assert file.endswith("games/state.py")


FIRST = """
import sys
sys.prefix = {prefix!r}
import {module}
from services.compiled_rules import rules_form
print(rules_form())
"""


@pytest.fixture
def broken_build(tmp_path: Path) -> Path:
    """A prefix in which a build of these sources is, one that can't be loaded."""
    builds = tmp_path / BUILDS.name
    builds.mkdir()
    build(builds, ROOT)
    return tmp_path


@pytest.mark.parametrize("module", ["services.cli.main", "ledgerline.library", "tests.bench"])
def test_P4_a_program_looks_for_the_build_before_it_imports_anything_that_is_compiled(
    broken_build: Path, module: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST.format(prefix=str(broken_build), module=module)],
        cwd=ROOT, capture_output=True, text=True, check=True, env={},
    )  # fmt: skip
    assert "the compiled rules can't be loaded" in done.stdout


def test_contracts_and_services_that_are_imported_look_for_no_build(broken_build: Path) -> None:
    for module in ("schemas.commands", "services.referee.worker", "services.gateway.server"):
        done = subprocess.run(
            [sys.executable, "-c", FIRST.format(prefix=str(broken_build), module=module)],
            cwd=ROOT, capture_output=True, text=True, check=True, env={},
        )  # fmt: skip
        assert "nothing else was asked for" in done.stdout


PROCESSES = """
import sys
sys.prefix = {prefix!r}
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, set_forkserver_preload
from services.compiled_rules import AT_START, prefer_compiled_rules, rules_form
if __name__ == "__main__":
    context = get_context({method!r})
    if {method!r} == "forkserver":
        context.set_forkserver_preload([AT_START])
    with ProcessPoolExecutor(1, mp_context=context, initializer=prefer_compiled_rules) as pool:
        print(pool.submit(rules_form).result())
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_P4_the_processes_of_a_pool_look_for_the_build_too(
    broken_build: Path, tmp_path: Path, method: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROCESSES.format(prefix=str(broken_build), method=method))
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=ROOT, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "nothing else was asked for" not in done.stdout


def test_P4_a_build_is_not_mixed_with_modules_that_are_there_already(
    builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled modules call each other without asking which module is loaded."""
    build(builds, ROOT)
    form = compiled_rules.load_build(builds / build_key(ROOT))
    assert (form.compiled, form.fault) == (False, True)
    assert form.reason.endswith(" was imported before")


@pytest.mark.parametrize(
    ("form", "level"),
    [
        (RulesForm(compiled=True, reason="build 12"), "info"),
        (RulesForm(compiled=False, reason="nothing"), "info"),
        (RulesForm(compiled=False, reason="other sources", fault=True), "warning"),
    ],
)
def test_a_referee_logs_in_which_form_the_rules_decide(
    form: RulesForm, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_rules, "_loaded", form)
    with captured_logs() as lines:
        log_rules_form()
    (line,) = [line for line in lines if line["event"] == "rules loaded"]
    assert (line["log_level"], line["compiled"], line["why"]) == (level, form.compiled, form.reason)


def test_the_version_names_the_form_of_the_rules() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION
    done = run_in_process("--version")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [f"ledgerline {VERSION}", f"rules: {compiled_rules.rules_form()}"]


def test_the_group_is_named_as_its_library() -> None:
    assert LIBRARY.removesuffix("__mypyc") == GROUP
