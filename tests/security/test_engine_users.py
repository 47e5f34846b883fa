"""Least privilege on the engine: a table of who may do what to which key, and each user's commands tried."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from fnmatch import filter as filter_names
from pathlib import Path
from typing import Any, Final

import pytest
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from services.auditor.archive_job import archive_game
from services.auditor.jobs import JobContext
from services.cli.operating.keys import RULES_FILE, read_rules
from services.gateway.following.hub import AnswerWatch
from services.gateway.health import HealthWatch
from services.gateway.models.response_models import Readiness
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async
from services.ledger.operations import engine_examination
from services.ledger.operations.backlog_queries import REFEREE
from services.ledger.scripts import lua_scripts
from services.referee.worker import remove_streams
from services.runtime.settings import read_settings
from tests.auditor.given import SIGNER, play_out
from tests.conftest import PARTITIONS
from tests.referee.running_referee import GAME as GAME_OF_BOTS
from tests.referee.running_referee import opening_commands, partition_of, referee_at, submit
from tests.security.engine_with_users import UsersEngine, engine_with_users

SERVICES: Final = ("gateway", "referee", "bots", "auditor")
PARTITION, GAME = 3, "probed"
# What each letter of the table stands for: at least one of these commands is allowed on the key.
COMMANDS: Final = {
    "read": (
        "XRANGE {} - +", "XREVRANGE {} + -", "XREAD STREAMS {} 0", "HGET {} f", "HMGET {} f", "HGETALL {}",
        "HKEYS {}", "ZSCORE {} m", "ZRANGE {} 0 -1", "ZREVRANGE {} 0 -1", "ZRANGEBYSCORE {} 0 1", "ZREVRANGEBYSCORE {} 1 0", "ZSCAN {} 0",
        "GET {}", "DUMP {}", "LRANGE {} 0 -1", "COPY {} {}-copy",
    ),
    "take": ("XREADGROUP GROUP g me STREAMS {} >", "XCLAIM {} g me 0 1-1", "XAUTOCLAIM {} g me 0 0"),
    "add": (
        "XADD {} * f v", "HSET {} f v", "HSETNX {} f v", "ZADD {} 1 m", "SET {} v", "RESTORE {} 0 v", "APPEND {} v",
        "ZINCRBY {} 1 m", "HINCRBY {} f 1", "LPUSH {} v", "XSETID {} 9-0",
    ),
    "delete": (
        "XDEL {} 1-1", "XTRIM {} MAXLEN 0", "HDEL {} f", "ZREM {} m", "DEL {}", "UNLINK {}", "RENAME {} {}-new",
        "EXPIRE {} 1", "GETDEL {}",
    ),
}  # fmt: skip
LETTERS: Final = {name[0]: name for name in COMMANDS}
# By key: what gateway, referee, bots and auditor may do to it.
TABLE: Final = {
    keys.commands(PARTITION): ("a", "tad", "a", ""),
    keys.bot_tasks(PARTITION): ("", "a", "td", ""),
    keys.dead_letters(PARTITION): ("", "a", "", ""),
    keys.log(PARTITION, GAME): ("", "rad", "", "r"),
    keys.public_view(PARTITION, GAME): ("r", "rad", "r", "r"),
    keys.chain_head(PARTITION, GAME): ("r", "rad", "r", "r"),
    keys.command_results(PARTITION, GAME, None): ("r", "rad", "", ""),
    keys.rejection(PARTITION, GAME, 0, "id"): ("rd", "rad", "d", ""),
    f"{keys.hash_tag(PARTITION)}:g:{GAME}:tokens": ("rad", "ad", "", ""),  # which tokens are void
    keys.creator(PARTITION, GAME): ("a", "d", "r", ""),
    keys.late_bots(PARTITION, GAME): ("r", "d", "a", ""),
    keys.player_names(PARTITION, GAME): ("r", "rad", "", "r"),  # the operator alone erases one
    keys.webhooks(PARTITION, GAME): ("rad", "d", "", "rad"),
    keys.webhook_games(PARTITION): ("ad", "d", "", "rd"),
    keys.deadlines(PARTITION): ("", "rad", "", ""),
    keys.evictions(PARTITION): ("", "rad", "", "ra"),
    keys.archived_lengths(PARTITION): ("", "rd", "", "ra"),
    keys.game_file(PARTITION, GAME): ("r", "rd", "", "ra"),
    keys.stream_removals(PARTITION): ("", "rad", "", "ra"),
    keys.games(PARTITION): ("r", "ad", "", ""),
    keys.unlisted_games(PARTITION): ("", "ad", "", ""),
    keys.confirmation_mark(PARTITION): ("a", "", "", ""),
    keys.sender_disputes(PARTITION, GAME, "0"): ("ra", "", "", "rad"),
    keys.sender_disputes(PARTITION, GAME, "operator"): ("", "", "", "rad"),
    keys.dispute_findings(PARTITION, GAME): ("", "", "", "rad"),
    keys.disputes(PARTITION): ("a", "", "", "rad"),
    keys.unanswered_disputes(PARTITION): ("ra", "", "", "rad"),
    keys.provisional_disputes(PARTITION): ("", "", "", "rad"),
    keys.MEMBERSHIP_KEY: ("r", "rad", "", ""),
    keys.BOTS_KEY: ("r", "", "rad", ""),
    keys.AUDITORS_KEY: ("r", "", "", "rad"),
    keys.GATEWAYS_KEY: ("rad", "", "", ""),
    keys.GAME_CLOCK_KEY: ("", "ra", "", ""),
    keys.PARTITION_COUNT_KEY: ("ra", "ra", "ra", "ra"),  # HSETNX alone: what is there stays
    "rq:job:archive-probed": ("", "", "", "rtad"),
    "another program's": ("", "", "", ""),
}
ENGINE_COMMANDS: Final = (
    "CONFIG GET requirepass", "CONFIG SET appendonly no", "ACL LIST", "ACL SETUSER bots +@all", "KEYS *", "SCAN 0",
    "DBSIZE", "RANDOMKEY", "FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "MONITOR", "SAVE", "BGREWRITEAOF", "SHUTDOWN NOSAVE",
    "SYNC", "PSYNC ? -1", "REPLICAOF NO ONE", "CLIENT KILL TYPE normal", "CLIENT PAUSE 1", "SCRIPT FLUSH",
    "FUNCTION FLUSH", "MODULE LIST", "SLOWLOG GET", "LATENCY RESET", "CLUSTER RESET", "SUBSCRIBE anything",
    "PSUBSCRIBE *", "PUBLISH anything x", "CLIENT TRACKING ON BCAST", "CLIENT TRACKING ON", "CLIENT CACHING YES",
    "CLIENT NO-EVICT ON", "FUNCTION LIST", "FCALL anything 0",
)  # fmt: skip
IN_A_SCRIPT: Final = ("ACL failure in script", "The user executing the script can't")  # Valkey, Redis
A_SCRIPT: Final = "return redis.call(ARGV[1], ARGV[2], '-', '+')"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UsersEngine]:
    with engine_with_users(tmp_path_factory.mktemp("engine")) as running:
        yield running


@pytest.fixture(scope="module")
def clients(engine: UsersEngine) -> Iterator[Callable[[str], Any]]:
    """A client of each user."""
    made = {user: connect(engine.url(user)) for user in ("", "operator", *SERVICES)}
    yield made.__getitem__
    for client in made.values():
        client.close()


def is_refused(client: Any, *words: str) -> bool:
    """Whether the engine refuses a command to this user; an allowed one may fail for other reasons."""
    try:
        client.execute_command(*words)
    except NoPermissionError:
        return True
    except ResponseError as error:
        return any(words in str(error) for words in IN_A_SCRIPT)
    return False


def allowed(client: Any, key: str) -> str:
    """The letters of what a user may do to a key."""
    return "".join(
        letter
        for letter, name in LETTERS.items()
        if not all(
            is_refused(client, *(word.format(key) for word in command.split())) for command in COMMANDS[name]
        )
    )


@pytest.mark.parametrize("key", TABLE)
def test_a_user_may_do_to_a_key_what_the_table_says_and_nothing_else(
    clients: Callable[[str], Any], key: str
) -> None:
    assert tuple(allowed(clients(user), key) for user in SERVICES) == TABLE[key]


def test_the_table_has_a_row_for_every_key_that_the_file_names() -> None:
    rules = read_rules(RULES_FILE.read_text())
    words = [word.strip("()") for user in SERVICES for word in rules[user].split()]
    patterns = {word.partition("~")[2] for word in words if "~" in word} - {"of?another?slot"}
    assert len(patterns) > 20
    assert [pattern for pattern in patterns if not filter_names(TABLE, pattern)] == []


@pytest.mark.parametrize("user", SERVICES)
def test_no_service_asks_anything_of_the_engine_as_a_whole(clients: Callable[[str], Any], user: str) -> None:
    shown = ["CONFIG GET requirepass"] if user == "gateway" else []  # it has to know when the AOF is synced
    assert [each for each in ENGINE_COMMANDS if not is_refused(clients(user), *each.split())] == shown


@pytest.mark.parametrize(
    ("user", "channel", "allowed_commands"),
    [
        ("referee", keys.notification_channel(PARTITION, GAME), "PUBLISH SPUBLISH"),
        ("gateway", keys.notification_channel(PARTITION, GAME), "SUBSCRIBE SSUBSCRIBE"),
        ("bots", keys.notification_channel(PARTITION, GAME), ""),
        ("auditor", keys.notification_channel(PARTITION, GAME), ""),
    ],
)
def test_only_a_referee_notifies_of_entries_and_only_a_gateway_hears_it(
    engine: UsersEngine, user: str, channel: str, allowed_commands: str
) -> None:
    with closing(connect(engine.url(user))) as client:  # of its own: it is subscribed afterwards
        for command in ("PUBLISH", "SPUBLISH", "SUBSCRIBE", "SSUBSCRIBE", "PSUBSCRIBE"):
            words = (command, channel, *(["x"] if "PUBLISH" in command else []))
            assert is_refused(client, *words) is (command not in allowed_commands.split()), command


@pytest.mark.parametrize("user", ["gateway", "bots"])
@pytest.mark.parametrize("declared", [keys.log(PARTITION, GAME), keys.commands(PARTITION)])
def test_a_script_opens_no_more_than_its_user_may(
    clients: Callable[[str], Any], user: str, declared: str
) -> None:
    log, sha = keys.log(PARTITION, GAME), clients("operator").script_load(A_SCRIPT)
    assert is_refused(clients(user), "EVALSHA", sha, "1", declared, "XRANGE", log)
    assert is_refused(clients(user), "EVALSHA", sha, "0", "XRANGE", log)
    assert is_refused(clients(user), "EVALSHA", sha, "1", declared, "XRANGE", keys.commands(PARTITION))


@pytest.mark.parametrize("user", ["gateway", "bots"])
def test_P8_who_loads_no_script_brings_none_of_its_own(clients: Callable[[str], Any], user: str) -> None:
    """An endless one without keys would have the engine answer everybody BUSY."""
    for words in (
        ("EVAL", "return 1", "0"),
        ("EVAL", "return 1", "1", keys.commands(PARTITION)),
        ("EVAL_RO", "return 1", "0"),
        ("SCRIPT", "LOAD", "return 1"),
        ("FUNCTION", "LOAD", "#!lua name=own\nredis.register_function('own', function() return 1 end)"),
    ):
        assert is_refused(clients(user), *words), words


def test_a_referee_loads_what_others_call_and_the_engine_forgot(clients: Callable[[str], Any]) -> None:
    # given
    clients("operator").flushdb()
    referee, gateway = (RedisLedger(clients(user), PARTITIONS) for user in ("referee", "gateway"))
    clients("operator").script_flush()
    with pytest.raises(NoPermissionError):
        submit(gateway, opening_commands())
    # when
    referee.load_scripts()
    submit(gateway, opening_commands())
    # then
    assert clients("operator").xlen(keys.commands(partition_of(GAME_OF_BOTS))) == 2
    called = [script.sha for script in vars(lua_scripts).values() if isinstance(script, lua_scripts.Script)]
    is_loaded = dict(zip(called, clients("operator").script_exists(*called), strict=True))
    assert {sha for sha in called if is_loaded[sha]} == {each.sha for each in lua_scripts.LOADED_FOR_OTHERS}


def test_P8_a_referee_without_a_right_that_it_needs_takes_no_game_for_damaged(
    clients: Callable[[str], Any], engine: UsersEngine
) -> None:
    # given
    clients("operator").flushdb()
    clients("operator").acl_setuser(
        "half", enabled=True, passwords=["+half"], keys=["*"], channels=["*"], commands=["+@all", "-xadd"]
    )
    submit(RedisLedger(clients("operator"), PARTITIONS), opening_commands())
    half = connect(f"redis://half:half@127.0.0.1:{engine.port}/0")
    # when
    with closing(half), pytest.raises(ResponseError, match=r"xadd|script"):
        referee_at(RedisLedger(half, PARTITIONS)).step(0)
    # then
    assert clients("operator").xlen(keys.commands(partition_of(GAME_OF_BOTS))) == 2
    assert not clients("operator").xlen(keys.dead_letters(partition_of(GAME_OF_BOTS)))


def test_the_bots_may_renew_the_tasks_that_they_think_about(clients: Callable[[str], Any]) -> None:
    # given
    clients("operator").flushdb()
    submit(RedisLedger(clients("operator"), PARTITIONS), opening_commands())
    referee_at(RedisLedger(clients("operator"), PARTITIONS)).step(0)
    RedisLedger(clients("referee"), PARTITIONS).load_scripts()
    bots = RedisLedger(clients("bots"), PARTITIONS)
    taken = bots.take_tasks("one", 9, 0)
    # when
    bots.renew_tasks("one", taken)
    bots.renew_tasks("one", taken)
    # then
    stream = keys.bot_tasks(partition_of(GAME_OF_BOTS))
    consumers = {
        each["name"]: each["pending"] for each in clients("operator").xinfo_consumers(stream, keys.BOT_GROUP)
    }
    assert consumers == {b"one": 0, b"one#2": len(taken)}, "what it left pending, under its newest name alone"


def test_an_auditor_stores_a_finished_game_as_one_value_and_a_referee_alone_removes_its_streams(
    clients: Callable[[str], Any],
) -> None:
    # given
    clients("operator").flushdb()
    operator = RedisLedger(clients("operator"), PARTITIONS)
    play_out(operator, referee_at(operator))
    auditor, referee = (RedisLedger(clients(user), PARTITIONS) for user in ("auditor", "referee"))
    # when
    archive_game(JobContext(auditor, read_settings(), lambda: 0, signer=SIGNER), GAME_OF_BOTS)
    with pytest.raises((NoPermissionError, ResponseError)):
        remove_streams(auditor, GAME_OF_BOTS)
    removed = remove_streams(referee, GAME_OF_BOTS)
    # then
    assert removed
    assert not operator.read_entries(GAME_OF_BOTS)
    assert clients("gateway").get(keys.game_file(partition_of(GAME_OF_BOTS), GAME_OF_BOTS))


def test_without_a_password_the_engine_says_that_it_is_up_and_nothing_else(
    clients: Callable[[str], Any], engine: UsersEngine
) -> None:
    host = engine.url("gateway").split("@")[1]
    with closing(connect(f"redis://health:any@{host}")) as client:
        health: Any = client
        assert health.ping()
        assert all(allowed(health, key) == "" for key in TABLE)
        assert [each for each in ENGINE_COMMANDS if not is_refused(health, *each.split())] == []
    for words in ("PING", "GET x", *ENGINE_COMMANDS):
        with pytest.raises(AuthenticationError):
            clients("").execute_command(*words.split())
    for name, password in (
        ("gateway", "gateway"),
        ("gateway", "0" * 64),
        ("default", "any"),
        ("default", ""),
    ):
        with closing(connect(f"redis://{name}:{password}@{host}")) as client:
            untyped: Any = client
            with pytest.raises(AuthenticationError):
                untyped.get("x")


def test_P1_an_engine_that_replays_its_AOF_as_the_default_user_leaves_nothing_out(
    clients: Callable[[str], Any],
) -> None:
    """Older engines do; whatever that user may not do is then lost at a restart, and nobody may be that user."""
    default = clients("operator").acl_getuser("default")
    assert "off" in default["flags"]
    assert (default["categories"], default["keys"], default["channels"]) == (["+@all"], ["~*"], ["&*"])


def test_P7_a_gateway_says_that_no_referee_is_there_though_none_has_loaded_what_it_runs(
    tmp_path: Path,
) -> None:
    async def ready_after_s(engine: UsersEngine, seconds: int) -> Readiness:
        ledger, now_s = AsyncLedger(connect_async(engine.url("gateway")), PARTITIONS), 0.0
        watch = HealthWatch(ledger, AnswerWatch(), 10, lambda: now_s)
        for _ in range(seconds):
            await watch.poll()
            now_s += 1
        await watch.poll()
        await ledger.close()
        return watch.readiness(is_listening=True)

    with engine_with_users(tmp_path) as engine:
        found = asyncio.run(ready_after_s(engine, 5))
        assert found.status == "unready"
        assert found.problems == [REFEREE.describe_absence(5)]
        assert engine.refused() == []


def test_a_gateway_looks_at_once_which_games_have_withdrawn_tokens(tmp_path: Path) -> None:
    async def found(engine: UsersEngine) -> set[str]:
        ledger = AsyncLedger(connect_async(engine.url("gateway")), PARTITIONS)
        generations = await ledger.token_generations().read_many([f"game-{name}" for name in ("one", "two")])
        await ledger.close()
        return {*generations}

    with engine_with_users(tmp_path) as engine:
        with connect(engine.url("operator")) as operator:
            operator.hset(
                keys.token_generations(keys.partition_of("game-two", PARTITIONS), "game-two"), "0", 1
            )
        assert asyncio.run(found(engine)) == {"game-two"}
        assert engine.refused() == []


def test_the_operator_may_do_all(clients: Callable[[str], Any]) -> None:
    assert all(allowed(clients("operator"), key) == "rtad" for key in TABLE)


def test_an_auditor_that_may_not_ask_for_the_engine_s_folder_looks_where_its_image_has_it(
    engine: UsersEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for mounted, seen in ((tmp_path, {"engine"}), (tmp_path / "elsewhere", set())):
        monkeypatch.setattr(engine_examination, "IMAGE_FOLDER", mounted)
        assert engine_examination.seen_folders(engine.url("auditor"), None).keys() == seen
