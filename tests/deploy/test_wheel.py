"""The wheel, installed into an empty environment: everything that people do with Ledgerline works without a checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import httpx
import pytest

import ledgerline
from deploy.make_release import build_packages
from ledgerline.launcher import PACKAGES
from services import VERSION
from tests.deploy.test_image import package_files
from tests.games.installed import Environment
from tests.shipped import LONG_AGO, Shipped
from tests.structure import ROOT

MAX_WHEEL_BYTES = 3_000_000


@pytest.fixture(scope="module")
def installed(shipped: Shipped, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment") / "venv", shipped.wheel)


def test_the_library_imports_nothing_before_a_name_is_asked_for() -> None:
    asked = "import sys, ledgerline; print({*sys.modules} & {'services', 'schemas'}); ledgerline.Bord"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "set()\n")
    assert "AttributeError: module 'ledgerline' has no 'Bord'" in done.stderr


def test_every_name_of_the_library_is_there_and_says_what_it_is() -> None:
    assert ledgerline.__version__ == VERSION
    for name in {*ledgerline.__all__} - {"__version__"}:
        assert getattr(ledgerline, name).__doc__, name


@pytest.mark.long
def test_an_equal_tree_gives_equal_bytes_also_one_that_was_shipped(shipped: Shipped, tmp_path: Path) -> None:
    with tarfile.open(shipped.sdist) as archive:
        archive.extractall(tmp_path / "tree", filter="data")
    (tree,) = (tmp_path / "tree").iterdir()
    for path in tree.rglob("*"):
        os.utime(path, (1, 1))
    (tree / "dist").mkdir()  # of another make release, which isn't shipped
    (tree / "dist/left.whl").write_text("")
    build_packages(tree, tmp_path / "out", LONG_AGO)
    for path in (shipped.wheel, shipped.bill):
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.long
def test_its_bill_of_materials_names_all_that_is_installed_with_it(shipped: Shipped) -> None:
    bill = json.loads(shipped.bill.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("ledgerline", VERSION)
    locked = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert {(each["name"], each["version"]) for each in bill["components"]} == {*locked}
    assert all(each["externalReferences"][0]["hashes"] for each in bill["components"])


@pytest.mark.long
def test_it_is_small_and_says_its_version(shipped: Shipped, installed: Environment) -> None:
    assert shipped.wheel.name.startswith(f"ledgerline-{VERSION}-")
    assert shipped.wheel.stat().st_size < MAX_WHEEL_BYTES
    assert installed.run("--version").stdout.startswith(f"ledgerline {VERSION}\n")
    assert "Play" in installed.run("-h").stdout
    where = installed.run_python("-c", "import services, schemas; print(services.__file__, schemas.__file__)")
    assert where.stdout.count(str(installed.packages)) == 2
    brought = {path.relative_to(installed.packages) for path in installed.packages.rglob("*")}
    assert [path for path in package_files() if path.relative_to(ROOT) not in brought] == []


@pytest.mark.long
def test_a_game_is_played_in_an_empty_folder_and_its_file_is_verified(
    installed: Environment, tmp_path: Path
) -> None:
    data, file = str(tmp_path / "data"), str(tmp_path / "game.ledgerline")
    played = installed.run("play", "--seats", "random,random", "--json", LEDGERLINE_DATA=data)
    assert played.returncode == 0, played.stderr
    game = json.loads(played.stdout)["game"]
    exported = installed.run("export", game, file, LEDGERLINE_DATA=data)
    assert exported.returncode == 0, exported.stderr
    verified = installed.run("verify", file, "--json", LEDGERLINE_DATA=data)
    assert json.loads(verified.stdout)["findings"] == []
    by_file = installed.run_python(
        str(installed.packages / "ledgerline/files/deploy/verify_game.py"), file, LEDGERLINE_DATA=data
    )
    assert by_file.returncode == 0, by_file.stdout + by_file.stderr
    users = installed.run("engine-users", str(tmp_path / "secrets"))
    assert users.returncode == 0, users.stderr


@pytest.mark.long
def test_a_table_is_served_with_its_pages_rules_and_verifier(installed: Environment, tmp_path: Path) -> None:
    with (
        installed.serving(tmp_path / "data") as url,
        httpx.Client(base_url=url, timeout=60, trust_env=False) as http,
    ):
        body = {"ruleset": "usa", "seats": [{"kind": "human"}, {"kind": "bot", "policy": "random"}]}
        game = http.post("/v1/games", json=body).raise_for_status().json()["game"]
        page = http.get(f"/table/{game}").raise_for_status().text
        assert "<script" in page
        rules = http.get("/rules/usa", headers={"Accept": "text/html"}).raise_for_status().text
        assert "TURN-1" in rules
        verifier = http.get("/verify_game.py").raise_for_status().text
        assert verifier == (ROOT / "deploy/verify_game.py").read_text()
        guide = http.get("/guide", follow_redirects=True).raise_for_status().text
        assert "A bot in Python" in guide
        assert "game night" in http.get("/guide/searchindex.js").raise_for_status().text.lower()


@pytest.mark.long
@pytest.mark.parametrize("name", PACKAGES)
def test_where_another_package_has_a_name_of_its_packages_it_says_so_in_a_sentence(
    installed: Environment, tmp_path: Path, name: str
) -> None:
    stranger = tmp_path / name / "__init__.py"
    stranger.parent.mkdir()
    stranger.write_text("raise RuntimeError('nobody asked for this')\n")
    done = installed.run("--version", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"another package named '{name}' is in the way, at {stranger}" in done.stderr
    imported = installed.run_python("-c", "import ledgerline; ledgerline.env", PYTHONPATH=str(tmp_path))
    assert "in the way" in imported.stderr.splitlines()[-1]
