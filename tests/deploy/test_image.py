"""deploy/Dockerfile: it can be built from this repository, and what it copies is enough to run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from deploy.make_release import SITE
from services.compiled_rules import BUILDS
from tests.deploy.compose import ROOT
from tests.guide.markdown_pages import pages_of_the_guide

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
INDEX_WORDS = ("http://", "https://", "--index-url", "--extra-index-url", "--trusted-host")


def copied() -> list[tuple[str, str]]:
    """What is copied from the repository into the image, and where to."""
    found = re.findall(r"^COPY (?!--from)(?:--\S+ )*(\S+) (\S+)$", DOCKERFILE, re.MULTILINE)
    assert found
    return found


def package_files() -> list[Path]:
    """Files of the packages that aren't Python's; without the types of the pages, which only their checks read."""
    return [
        path
        for folder in ("ledgerline", "schemas", "services")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".ts")
    ]


def test_it_copies_only_what_exists_and_what_dockerignore_lets_through() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    for source, _ in copied():
        assert (ROOT / source).exists(), source
    assert {source for source, _ in copied() if source != "docs/reference/rules"} == allowed


def test_it_installs_by_hash_and_names_no_index() -> None:
    installs = re.findall(r"pip install (.*)$", DOCKERFILE, re.MULTILINE)
    by_hash = "--require-hashes --only-binary :all: -r /build/"
    locks = ("requirements-docs.txt", "requirements-fast.txt")
    assert installs == [f"{by_hash}$REQUIREMENTS", *(f"{by_hash}{name}" for name in locks)]
    assert not any(word in DOCKERFILE for word in INDEX_WORDS)
    for name in ("requirements.txt", "requirements-s3.txt", *locks):
        locked = (ROOT / name).read_text()
        assert not any(word in locked for word in INDEX_WORDS)
        pins = [line for line in locked.replace("\\\n", " ").splitlines() if re.match(r"[\w.-]+", line)]
        assert len(pins) > 20
        assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)


def test_every_stage_builds_on_one_image_that_is_named_by_version_and_digest() -> None:
    assert re.search(r"^ARG PYTHON=python:3\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)
    bases = {stage.split()[0] for stage in stages()}
    assert bases == {"${PYTHON}", "build", "rules-${RULES}"}


def stages() -> list[str]:
    return re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]


def test_nothing_of_what_it_is_built_with_is_in_it_and_it_runs_as_an_unprivileged_user() -> None:
    last = stages()[-1]
    (user,) = re.findall(r"^USER (\S+)$", last, re.MULTILINE)
    assert int(user) > 0, "a number, so that an operator sees that it isn't root"
    assert 'ENTRYPOINT ["ledgerline"]' in last
    assert "pip install" not in last
    assert "apt-get" not in last


def test_the_rules_are_compiled_in_a_stage_of_its_own_unless_they_shall_be_python() -> None:
    named = {line.split(" AS ")[1]: stage for stage in stages() if " AS " in (line := stage.splitlines()[0])}
    assert "compile_rules.py" in named["rules-compiled"]
    assert "compile_rules.py" not in named["rules-python"]
    assert re.search(r"^ARG RULES=compiled$", DOCKERFILE, re.MULTILINE)
    assert stages()[-2].startswith("rules-${RULES} AS rules")
    copied_folder = f"/opt/venv/{BUILDS.name}"
    assert f"COPY --from=rules {copied_folder} {copied_folder}" in stages()[-1]


def copy_as_it_does(image: Path) -> None:
    """Copy all that it copies from the repository, in every stage, to where it does."""
    for source, target in copied():
        there = image / target.lstrip("/")
        there = there / source if target.endswith("/") else there
        there.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, there, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / source, there)


def test_its_guide_is_made_of_every_page_of_the_guide() -> None:
    (made,) = re.findall(
        r"^RUN /opt/venv/bin/python -m sphinx .* -c docs \. (\S+)$", DOCKERFILE, re.MULTILINE
    )
    assert made == str(SITE)
    assert f"COPY --from=guide /opt/ledgerline/{made} /opt/ledgerline/{made}" in stages()[-1]
    sources = [source for source, _ in copied()]
    lacking = [
        name
        for name in pages_of_the_guide()
        if not any(f"{name}/".startswith(f"{each}/") for each in sources)
    ]
    assert lacking == []


def test_what_it_copies_is_enough_for_the_command(tmp_path: Path) -> None:
    copy_as_it_does(tmp_path)
    (packages,) = re.findall(r"PYTHONPATH=(\S+)", DOCKERFILE)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / packages.lstrip("/"))}
    command = tmp_path / "opt/venv/bin/ledgerline"
    assert os.access(command, os.X_OK)
    done = subprocess.run(
        [sys.executable, str(command), "gateway"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "LEDGERLINE_TOKEN_KEY" in done.stderr
    for path in package_files():
        assert (tmp_path / packages.lstrip("/") / path.relative_to(ROOT)).is_file()
