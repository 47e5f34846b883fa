"""Settings, and the engine's password above all, come from files, where no process list shows them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from schemas.errors import InvalidInputError
from services.cli.operating.keys import (
    KEY_FILES,
    USERS_FILE,
    password_file,
    read_rules,
    render_users,
    users_with_password,
    write_users,
)
from services.ledger.engine.connection import connect
from services.runtime.settings import add_password, read_settings
from tests.security.engine_with_users import engine_with_users

PASSWORD = "p@ss/word:of %41"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of settings, named in the environment."""
    monkeypatch.setenv("LEDGERLINE_SECRETS_DIR", str(tmp_path))
    return tmp_path


def test_a_setting_is_read_from_a_file_and_the_environment_comes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ledgerline_token_key").write_text("k" * 40 + "\n")
    (folder / "LEDGERLINE_RATE").write_text("7")
    assert read_settings().token_key.get_secret_value() == "k" * 40
    assert read_settings().rate == 7
    monkeypatch.setenv("LEDGERLINE_RATE", "8")
    assert read_settings().rate == 8


@pytest.mark.parametrize(
    ("url", "with_password"),
    [
        ("redis://gateway@engine:6379/0", "redis://gateway:p%40s@engine:6379/0"),
        ("redis://engine", "redis://:p%40s@engine"),
        ("rediss://bots@[::1]:6380/2?ssl_cert_reqs=required", "rediss://bots:p%40s@[::1]:6380/2?ssl_cert_reqs=required"),
        ("redis+cluster://referee@a:1,b:2", "redis+cluster://referee:p%40s@a:1,b:2"),
        ("unix://auditor@/run/engine.sock", "unix://auditor:p%40s@/run/engine.sock"),
    ],
)  # fmt: skip
def test_the_password_goes_into_the_address_of_its_user(url: str, with_password: str) -> None:
    assert add_password(url, "p@s") == with_password


def test_a_service_connects_as_its_user_with_the_password_of_a_file(folder: Path) -> None:
    with engine_with_users(folder / "engine") as engine:
        password = password_file(engine.passwords, "bots").read_text()
        (folder / "ledgerline_redis_password").write_text(password + "\n")
        settings = read_settings(redis_url=f"redis://bots@127.0.0.1:{engine.port}/0")
        with closing(connect(settings.redis_url)) as client:
            assert client.ping()
    assert password not in repr(settings.redis_password)


def test_two_passwords_are_refused(folder: Path) -> None:
    (folder / "ledgerline_redis_password").write_text(PASSWORD)
    with pytest.raises(InvalidInputError, match=r"LEDGERLINE_REDIS_PASSWORD: .*LEDGERLINE_REDIS_URL has"):
        read_settings(redis_url="redis://bots:another@engine")


def test_a_folder_that_is_none_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERLINE_SECRETS_DIR", str(folder / "gone"))
    with pytest.raises(InvalidInputError, match="LEDGERLINE_SECRETS_DIR: is no folder"):
        read_settings()


def test_the_engine_s_file_has_no_password_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    # given
    users = write_users(tmp_path / "secrets")
    files = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    # then
    assert files.keys() == {USERS_FILE, *KEY_FILES, *(f"{user}.password" for user in users)}
    passwords = [files[name] for name in (*(f"{user}.password" for user in users), *KEY_FILES)]
    assert len({*passwords}) == len(passwords) == 9
    assert all(len(password) == 64 and password not in files[USERS_FILE] for password in passwords)
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    # when
    write_users(tmp_path / "secrets")
    # then
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == files


def test_a_folder_that_others_may_enter_gets_no_password(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(InvalidInputError, match="is open to others"):
        write_users(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_short_password_is_refused(tmp_path: Path) -> None:
    password_file(tmp_path, "bots").write_text("short")
    with pytest.raises(InvalidInputError, match=r"bots\.password: needs 32 characters"):
        write_users(tmp_path)


def test_a_user_of_the_rules_is_one_line_for_the_engine() -> None:
    rules = read_rules("# why\nuser a on\n  (+get ~x)\n\nuser b on nopass\n")
    assert users_with_password(rules) == ["a"]
    hashed = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    assert render_users(rules, {"a": "secret"}) == f"user a #{hashed} on (+get ~x)\nuser b on nopass\n"
