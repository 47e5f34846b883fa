"""SECURITY.md: its settings exist, its links lead somewhere, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from schemas.game_options import MAX_SPECTATOR_DELAY
from schemas.stored.codec import MAX_ENVELOPE_BYTES
from schemas.trains.boards.form import MAX_CITIES, MAX_ROUTES
from schemas.web.tokens import DEFAULT_LIFE_S
from services.archive import MAX_ENTRY_BYTES, MAX_FILE_BYTES, MAX_UNCOMPRESSED_BYTES
from services.gateway.web.request_parsing import MAX_BODY_BYTES, MAX_CREATION_BYTES
from services.ledger.ports import MAX_WAITING_COMMANDS
from services.referee.fork_expansion import MAX_EXPANSIONS
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.runtime.settings import Settings

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
KIB, MIB, DAY_S = 1024, 1024 * 1024, 86_400


def test_every_setting_and_every_link_of_the_page_exists() -> None:
    named = {name.lower() for name in re.findall(r"LEDGERLINE_([A-Z_]+)", PAGE)}
    assert named - Settings.model_fields.keys() <= {"secrets_dir"}
    assert named
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    numbers = (
        f"{MAX_ENVELOPE_BYTES // KIB} KiB; {MAX_BODY_BYTES // KIB} KiB; {MAX_CREATION_BYTES // KIB} KiB",
        f"{MAX_FILE_BYTES // MIB} MiB, {MAX_UNCOMPRESSED_BYTES // MIB} MiB unfolded, {MAX_ENTRY_BYTES // KIB} KiB an entry",
        f"{MAX_ROUTES:,} routes, {MAX_CITIES} cities",
        f"until its end ({DEFAULT_LIFE_S // DAY_S} days)",
        f"| {MAX_WAITING_COMMANDS:,}, then 429",
        f"| {TRAIN_RULESETS['usa'].rule_options.refusals_kept} a turn of a seat",
        f"| {MAX_EXPANSIONS}; 32 |",
        f"| {Settings.model_fields['open_games'].default}, then 429 (`RATE-1`)",
        f"| {MAX_SPECTATOR_DELAY} entries |",
    )
    assert [number for number in numbers if number not in PAGE] == []
