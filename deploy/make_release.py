"""`make release`: what a release ships, in dist/: sdist and wheel, a bill of materials, hashes, notes.

All of it is built twice from the last commit, with that commit's time, and must have equal bytes. While the CHANGELOG calls the
version "not released yet" it is a trial. A dated heading makes it a release, and that freezes stored forms first: golden games
and the contract record in deploy/released_forms.json, which tests/golden/test_released.py holds from then on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final, TypedDict

from schemas.contract_record import read_record
from services import VERSION

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
GOLDEN: Final = ROOT / "tests" / "golden"
FROZEN: Final = ROOT / "deploy" / "released_forms.json"
SITE: Final = Path("build") / "guide"
HEADING: Final = re.compile(r"^## (\S+) \(([^)\n]+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
NOT_YET: Final = "not released yet"


class Frozen(TypedDict):
    """The forms that releases have written: the last of these releases, and the SHA-256 of each form by its name."""

    release: str
    forms: dict[str, str]


def main() -> None:
    """Make a release, or a trial of one, in dist/. Ends the program with a sentence where that can't be."""
    if _git("status", "--porcelain", "--untracked-files=no").strip():
        sys.exit("make release: a release is built of a commit, and there are changes that aren't committed")
    day, notes = release_notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if day != NOT_YET:
        _freeze_first()
    commit_s = _git("log", "-1", "--format=%ct").strip()
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        first, second = (_build_commit(Path(folder) / name, commit_s) for name in ("first", "second"))
        if differing := [name for name in first if first[name] != second.get(name)]:
            sys.exit(f"make release: built twice, these have other bytes: {', '.join(differing)}")
    DIST.mkdir()
    for name, data in first.items():
        (DIST / name).write_bytes(data)
    (DIST / f"ledgerline-{VERSION}.md").write_text(notes, encoding="utf-8")
    sums = {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(DIST.iterdir())}
    (DIST / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    for path in sorted(DIST.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>10,}  {path.relative_to(ROOT)}\n")
    sys.stdout.write(_last_words(day))


def release_notes(changelog: str) -> tuple[str, str]:
    """When this version is released, and its part of the CHANGELOG. Ends the program where it has none."""
    for version, day, notes in HEADING.findall(changelog):
        if version == VERSION:
            return day, f"# Ledgerline {VERSION} ({day})\n{notes.rstrip()}\n"
    sys.exit(f"make release: CHANGELOG.md has no heading `## {VERSION} (day)`")


def _last_words(day: str) -> str:
    if day == NOT_YET:
        return (
            f"\nA trial: CHANGELOG calls {VERSION} {NOT_YET}. Nothing is frozen; a stored form may change, with its golden\n"
            "games recorded anew: python -m tests.golden.record --again NAME\n"
        )
    return f"\nTag this commit v{VERSION}, and publish what is in dist/. Its forms are frozen.\n"


# -- building it ---------------------------------------------------------------------------


def _build_commit(folder: Path, commit_s: str) -> dict[str, bytes]:
    """Build the last commit in a new folder. Returns the files by their names."""
    tree, out = folder / "tree", folder / "out"
    tree.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(_run("git", "archive", "HEAD", where=ROOT))) as archive:
        archive.extractall(tree, filter="data")
    build(tree, out, commit_s)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def build(tree: Path, out: Path, time_s: str) -> None:
    """Build what a tree ships: the guide into the tree; sdist, wheel and bill of materials into a folder."""
    when = {"SOURCE_DATE_EPOCH": time_s, "PYTHONHASHSEED": "0", "PYTHONPATH": ""}
    site = ("-m", "sphinx", "-q", "-W", "-b", "html", "-d", str(out.parent / "doctrees"), "-c", "docs", ".")
    _run(sys.executable, *site, str(SITE), where=tree, **when)
    build_packages(tree, out, time_s)


def build_packages(tree: Path, out: Path, time_s: str) -> None:
    """Build sdist, wheel and bill of materials of a tree that has its guide, as a source distribution does."""
    python, when = sys.executable, {"SOURCE_DATE_EPOCH": time_s, "PYTHONPATH": ""}
    out.mkdir(parents=True)
    _run(python, "-m", "hatchling", "build", "-d", str(out), where=tree, **when)
    parts = ("requirements", "--pyproject", "pyproject.toml", "--output-reproducible", "requirements.txt")
    bill = ("-W", "ignore", "-m", "cyclonedx_py", *parts, "-o", str(out / f"ledgerline-{VERSION}.cdx.json"))
    _run(python, *bill, where=tree, **when)


def _run(*command: str, where: Path, **settings: str) -> bytes:
    """What a command prints. Ends the program with its errors where it fails."""
    done = subprocess.run(command, check=False, cwd=where, capture_output=True, env=os.environ | settings)  # noqa: S603 - the commands above
    if done.returncode:
        sys.exit(f"make release: {' '.join(command)}\n{(done.stdout + done.stderr).decode()}")
    return done.stdout


def _git(*words: str) -> str:
    return _run("git", *words, where=ROOT).decode()


# -- freezing stored forms -----------------------------------------------------------------


def stored_forms() -> dict[str, str]:
    """The SHA-256 of each golden game, and of each code in the contract record."""
    games = {f"game {path.stem}": path.read_bytes() for path in GOLDEN.glob("*.json")}
    contracts = {
        f"contract {kind}/{code}": json.dumps(form, sort_keys=True).encode()
        for kind, by_code in read_record().items()
        for code, form in by_code.items()
    }
    return {name: sha256(form).hexdigest() for name, form in sorted((games | contracts).items())}


def read_frozen() -> Frozen:
    """What releases have frozen; nothing before the first."""
    if not FROZEN.exists():
        return {"release": "", "forms": {}}
    frozen: Frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    return frozen


def changed_forms(frozen: Mapping[str, str], now: Mapping[str, str]) -> Sequence[str]:
    """The frozen forms that are gone, or are others now."""
    return [name for name, digest in frozen.items() if now.get(name) != digest]


def _freeze_first() -> None:
    """Freeze the forms that this release writes. Ends the program where that isn't committed yet, or may not be."""
    frozen, now = read_frozen(), stored_forms()
    if changed := changed_forms(frozen["forms"], now):
        sys.exit(f"make release: of release {frozen['release']}, these may not change: {', '.join(changed)}")
    if frozen != (new := Frozen(release=VERSION, forms=now)):
        FROZEN.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        sys.exit(
            f"make release: {len(now)} stored forms are frozen now: commit {FROZEN.relative_to(ROOT)}, then again"
        )


if __name__ == "__main__":
    main()
