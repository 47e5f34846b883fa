"""deploy/systemd: systemd understands the unit, and its words are those of the product."""

from __future__ import annotations

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

from services.cli import SERVICES
from services.runtime.settings import SECRETS_DIR_VARIABLE
from tests.deploy.compose import ROOT

UNIT = ROOT / "deploy" / "systemd" / "ledgerline@.service"
PROGRAM = "/opt/ledgerline/.venv/bin/ledgerline"


def test_the_unit_starts_each_service_with_its_own_secrets(tmp_path: Path) -> None:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.read(UNIT)
    text = UNIT.read_text()
    assert parser["Service"]["ExecStart"] == f"{PROGRAM} %i"
    for name in ("gateway", "referee", "bots", "auditor"):
        assert name in SERVICES and f"ledgerline@{name}" in text
    # systemd names a file of the folder `ledgerline_` and its own name: that of its setting
    assert parser["Service"]["LoadCredential"] == "ledgerline:/etc/ledgerline/%i.secrets"
    assert f"Environment={SECRETS_DIR_VARIABLE}=%d" in text
    assert {*parser} == {"DEFAULT", "Unit", "Service", "Install"}
    if analyze := shutil.which("systemd-analyze"):  # where there is none, all of the above holds
        here = tmp_path / "ledgerline@gateway.service"
        here.write_text(text.replace(PROGRAM, "/bin/true"))
        found = subprocess.run([analyze, "verify", str(here)], capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout + found.stderr) == (0, "")
