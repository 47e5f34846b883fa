"""What a release has written stays readable: its golden games and contracts may never change (P4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy import make_release as release
from deploy.make_release import changed_forms, read_frozen, release_notes, stored_forms
from services import VERSION
from tests.golden.record import main as record

GAME = "game usa-two-greedy"


def test_P4_what_a_release_has_frozen_is_as_it_was() -> None:
    frozen = read_frozen()
    changed = changed_forms(frozen["forms"], stored_forms())
    assert changed == [], (
        f"release {frozen['release']} has written these: an event that needs other fields gets a second version "
        "(schemas/events.py), a rule too; a golden game is only added"
    )


def test_P4_a_frozen_form_that_changes_or_goes_is_named_and_a_new_one_may_come() -> None:
    now = stored_forms()
    frozen = {name: digest for name, digest in now.items() if name != "game tricks-3"}
    assert changed_forms(frozen, now) == []
    assert changed_forms(frozen, now | {GAME: "another"}) == [GAME]
    assert changed_forms(frozen, {name: now[name] for name in now if name != GAME}) == [GAME]
    assert any(name.startswith("contract events/") for name in now)


def test_P4_a_frozen_game_is_not_recorded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.golden.record.read_frozen", lambda: {"release": "0.1.0", "forms": stored_forms()}
    )
    with pytest.raises(SystemExit, match=r"of release 0\.1\.0, and never recorded again: usa-two-greedy"):
        record(["--again", "usa-two-greedy"])


def test_the_first_release_freezes_all_and_says_what_to_do_with_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "FROZEN", tmp_path / "released_forms.json")
    with pytest.raises(SystemExit, match=r"frozen now: commit released_forms\.json, then again"):
        release._freeze_first()
    assert read_frozen() == {"release": VERSION, "forms": stored_forms()}
    release._freeze_first()
    monkeypatch.setattr(release, "stored_forms", dict)
    with pytest.raises(SystemExit, match="these may not change"):
        release._freeze_first()


def test_the_notes_are_this_versions_part_of_the_changelog() -> None:
    changelog = f"# Changelog\n\n## {VERSION} (2026-12-01)\n\n- New\n\n## 0.0.1 (2025-01-01)\n\n- Old\n"
    assert release_notes(changelog) == ("2026-12-01", f"# Ledgerline {VERSION} (2026-12-01)\n\n- New\n")
    with pytest.raises(SystemExit, match=rf"no heading `## {VERSION} \(day\)`"):
        release_notes("# Changelog\n\n## 9.9.9 (2026-12-01)\n")
