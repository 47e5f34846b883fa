"""deploy/README.md lists every setting, with its default."""

from __future__ import annotations

import re

from pydantic import SecretStr

from services.runtime.settings import Settings
from tests.deploy.compose import ROOT

ROW = re.compile(r"^\| `LEDGERLINE_(\w+)` \| ([^|]*?) \| ([^|]+?) \|$", re.MULTILINE)


def test_the_table_has_every_setting_in_order_and_no_other() -> None:
    rows = ROW.findall((ROOT / "deploy" / "README.md").read_text())
    assert [name.lower() for name, _, _ in rows] == [*Settings.model_fields]


def test_the_table_has_the_default_of_every_setting() -> None:
    for name, left_out, _ in ROW.findall((ROOT / "deploy" / "README.md").read_text()):
        default = Settings.model_fields[name.lower()].default
        if default in (None, "") or isinstance(default, SecretStr):
            assert "`" not in left_out, name  # in words
        else:
            assert left_out == f"`{default}`", name
