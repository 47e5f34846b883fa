"""What an operator must know of an engine before it loses something: each finding with the line that mends it.

`examine_node` asks for all of it, as a person with every right; `startup_findings` is the part that a service judges by what
its own user may ask. What the engine doesn't show is no finding of a service, but one of a person.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from redis.cluster import RedisCluster
from redis.exceptions import RedisError, ResponseError

from services.ledger.engine.connection import connect
from services.ledger.engine.queries import Client, Query, Reply, command, send_and_wait
from services.ledger.operations.backlog_queries import FULL_SHARE
from services.ledger.operations.engine_settings import (
    KEEPS_ALL,
    NOT_SHOWN,
    PROMISE_SETTINGS,
    EngineSettings,
    broken_promises,
    info_fields,
    parse_settings,
    unknown_settings,
)

LOW_SHARE: Final = 0.1  # of a disk: with less left it is time to make room
MIB: Final = 1 << 20
IMAGE_FOLDER: Final = Path("/data/appendonlydir")  # of the append-only files, in the engine's image
MAY_ASK: Final = frozenset(
    (None, "", "default", "gateway", "operator")
)  # users; the engine logs each refusal of others
FOLDER_SETTINGS: Final = (command("CONFIG", "GET", "*dir*"), command("CONFIG", "GET", "appendfilename"))


class DiskRoom(NamedTuple):
    """The bytes of a disk, and those that this process's user may still write."""

    total: int
    free: int

    @property
    def is_low(self) -> bool:
        """Whether it is time to make room."""
        return self.free < LOW_SHARE * self.total

    def __str__(self) -> str:
        return f"{self.free / MIB:,.0f} of {self.total / MIB:,.0f} MiB are left"


def engine_folders(client: Client) -> dict[str, Path]:
    """The folders of the append-only files of a blocking client's engine that this process sees, by the node's name: ''
    for a single engine. Raises RedisError: that doesn't answer."""
    if not isinstance(client, RedisCluster):
        found = find_folder(*send_and_wait(client, FOLDER_SETTINGS))
        return {} if found is None else {"": found}
    folders: dict[str, Path] = {}
    cluster: Client = client  # it has no types
    for node in cluster.get_primaries():
        with suppress(RedisError):  # that it is away, others say
            connection: Client = cluster.get_redis_connection(node)
            if (found := find_folder(*send_and_wait(connection, FOLDER_SETTINGS))) is not None:
                folders[str(node.name)] = found
    return folders


def find_folder(folders: Reply, file: Reply) -> Path | None:
    """The folder of the append-only files, from the replies to FOLDER_SETTINGS."""
    if isinstance(folders, Exception) or isinstance(file, Exception):
        return None
    values = {
        name: value for each in (folders, file) for name, value in zip(each[::2], each[1::2], strict=True)
    }
    folder = Path(values.get(b"dir", b"").decode(errors="surrogateescape"))
    of_files = values.get(
        b"appenddirname", values.get(b"appendfilename", b"")
    ).decode()  # Redis 6.2 has one file
    try:
        return folder / of_files if of_files and (folder / of_files).exists() else None
    except OSError:  # it isn't to be looked into
        return None


def seen_folders(url: str, archive: Path | None) -> dict[str, Path]:
    """The folders of the engine's nodes at this address, where they are on this machine, and of the archive, by whose they
    are. Raises RedisError, OSError or EngineUnavailableError."""
    if urlsplit(url).username in MAY_ASK:
        with closing(connect(url)) as client:
            found = {f"engine {name}".rstrip(): folder for name, folder in engine_folders(client).items()}
    else:
        found = {"engine": IMAGE_FOLDER} if IMAGE_FOLDER.exists() else {}
    return found if archive is None else {**found, "archive": archive}


def read_rooms(folders: Mapping[str, Path]) -> dict[str, DiskRoom]:
    """The room on the disks of these folders; none where it can't be asked."""
    return {whose: room for whose, folder in folders.items() if (room := read_room(folder))}


def read_room(folder: Path) -> DiskRoom | None:
    """The room on a folder's disk; None where it can't be asked."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskRoom(usage.total, usage.free)


Grade = Literal["fine", "notice", "problem"]
OLDEST: Final = (6, 2)  # of Redis
WITH_SELECTORS: Final = (7, 0)  # from which on it takes the file of users
MAX_SKEW_S: Final = 2.0  # between two clocks, before anybody would notice
REWRITE_COPIES: Final = (
    3  # of the data, at the end of a rewrite: the old base, what was added to it, the new base
)
CROWDED_SHARE: Final = 0.8  # of the connections that an engine takes
MEMORY_SHARE: Final = (
    0.6  # of a machine's memory for an engine: a rewrite copies pages, and others live there
)
SOON_H: Final = 48.0  # in which a disk may become full before anybody looks again
NOT_ASKED: Final = ResponseError("CONFIG GET wasn't asked")
COMPARED_USER: Final = "ledgerline-compared"  # which is off, and there for a moment


class Finding(NamedTuple):
    """What was looked at, how it is, and the line that mends it."""

    part: str
    grade: Grade
    says: str
    mend: str = ""


class NodeExamination(NamedTuple):
    """What was found of a node, and what other findings need of it."""

    findings: list[Finding]
    version: str
    skew_s: float  # its clock less this machine's
    aof_bytes: int
    room: DiskRoom | None  # of the disk that its AOF is on


def startup_findings() -> Query[list[str]]:
    """What would lose data, in sentences, by INFO alone, which each service's user may ask: not how an AOF is synced."""
    [info] = yield [command("INFO")]
    fields = info_fields(info)
    judged = [*_judge_version(fields), *_judge_role(fields), *_judge_writes(fields)]
    said = [f"{each.says}: {each.mend}" for each in judged if each.grade == "problem"]
    return [*broken_promises(parse_settings(NOT_ASKED, info)), *said]


def examine_node(now_s: Callable[[], float], user_rules: Mapping[str, str]) -> Query[NodeExamination]:
    """Look at everything. `now_s` is this machine's wall clock; `user_rules` what each user is to be allowed."""
    began_s = now_s()
    [time] = yield [command("TIME")]
    skew_s = 0.0 if isinstance(time, Exception) else _seconds(time) - (began_s + now_s()) / 2
    info, config, folders, file, users = yield [
        command("INFO"),
        *(command("CONFIG", "GET", pattern) for pattern in (PROMISE_SETTINGS, "*dir*", "appendfilename")),
        command("ACL", "LIST"),
    ]
    fields, settings = info_fields(info), parse_settings(config, info)
    folder = find_folder(folders, file)
    room = None if folder is None else read_room(folder)
    aof_bytes = int(fields.get("aof_current_size", 0))
    findings = [
        *_judge_version(fields),
        *_judge_role(fields),
        *_judge_persistence(settings, fields),
        *_judge_eviction(settings),
        *_judge_memory(fields),
        *judge_clock("its clock", skew_s),
        *_judge_disk(room, settings, fields),
        *_judge_clients(fields),
        *(yield from _judge_users(users, user_rules)),
    ]
    return NodeExamination(findings, _version(fields), skew_s, aof_bytes, room)


def judge_clock(whose: str, skew_s: float) -> Iterator[Finding]:
    """Whether two clocks agree."""
    if abs(skew_s) < MAX_SKEW_S:
        yield Finding("clock", "fine", f"{whose} and this machine's differ by {abs(skew_s):.1f} s")
    else:
        ahead = "ahead of" if skew_s > 0 else "behind"
        says = (
            f"{whose} is {abs(skew_s):,.0f} s {ahead} this machine's: deadlines and tokens end at other times"
        )
        yield Finding("clock", "problem", says, "timedatectl set-ntp true   # on both machines")


def judge_growth(room: DiskRoom | None, bytes_a_s: float) -> Iterator[Finding]:
    """How long the disk lasts while the AOF grows as it does now; nothing where that is long."""
    if room is None or bytes_a_s <= 0 or (hours := room.free / bytes_a_s / 3600) > SOON_H:
        return
    says = (
        f"the AOF grows by {bytes_a_s / 1024:,.0f} KiB a second now: the disk is full in {hours:,.1f} hours"
    )
    mend = "redis-cli BGREWRITEAOF   # and have finished games leave for an archive: LEDGERLINE_ARCHIVE_URL"
    yield Finding("disk", "problem" if hours < 1 else "notice", says, mend)


def _judge_version(fields: Mapping[str, str]) -> Iterator[Finding]:
    said, numbers = _version(fields), _numbers(fields.get("redis_version", "0"))
    if not fields:
        yield Finding("engine", "notice", "the engine doesn't show its version", "allow INFO to this user")
    elif numbers < OLDEST:
        yield Finding("engine", "problem", f"{said} is too old", "install Redis from 6.2 on, or Valkey")
    elif numbers < WITH_SELECTORS:
        says = f"{said} takes no file of users: every service may do everything"
        yield Finding("engine", "notice", says, "install Redis from 7.0 on, or Valkey")
    else:
        yield Finding("engine", "fine", said)


def _judge_role(fields: Mapping[str, str]) -> Iterator[Finding]:
    if fields.get("role", "master") != "master":
        where = f"{fields.get('master_host')}:{fields.get('master_port')}"
        says = "the engine is a replica: it takes no writes, or loses them when it follows again"
        yield Finding(
            "engine", "problem", says, f"LEDGERLINE_REDIS_URL=redis://{where}   # or here: REPLICAOF NO ONE"
        )


def _judge_writes(fields: Mapping[str, str]) -> Iterator[Finding]:
    if fields.get("aof_last_write_status", "ok") != "ok":
        yield Finding(
            "persistence", "problem", "the last write to the AOF failed", "make room on the engine's disk"
        )
    if fields.get("aof_last_bgrewrite_status", "ok") != "ok":
        says = "the last rewrite of the AOF failed: it grows until the disk is full"
        yield Finding(
            "persistence",
            "problem",
            says,
            "redis-cli BGREWRITEAOF   # once there is room, of disk and memory",
        )
    if evicted := int(fields.get("evicted_keys", 0)):
        says = f"the engine has dropped {evicted} keys since it started: games are lost or damaged"
        yield Finding("eviction", "problem", says, "ledgerline restore BACKUP")


def _judge_persistence(settings: EngineSettings, fields: Mapping[str, str]) -> Iterator[Finding]:
    failed = [*_judge_writes(fields)]
    yield from failed
    for unknown in unknown_settings(settings):
        yield Finding("persistence", "notice", unknown, "ask as the user operator")
    policy = settings.fsync_policy
    on = "redis-cli CONFIG SET appendonly yes && " if policy == "off" else ""
    mend = f"{on}redis-cli CONFIG SET appendfsync always && redis-cli CONFIG REWRITE"
    if policy in {"off", "no"}:
        what = "the engine keeps no AOF" if policy == "off" else "the engine never syncs its AOF itself"
        yield Finding("persistence", "problem", f"{what}: a crash loses what was acknowledged (P1, P7)", mend)
    elif policy == "everysec":
        says = "the AOF is synced every second: a power cut loses up to two, and most engines can't give `durable`"
        yield Finding("persistence", "notice", says, mend)
    elif policy == "always" and not settings.is_synced_in_rewrites:
        says = "the AOF isn't synced while it is rewritten: a power cut then loses what was acknowledged"
        yield Finding("persistence", "problem", says, "redis-cli CONFIG SET no-appendfsync-on-rewrite no")
    elif policy == "always" and not failed:
        yield Finding("persistence", "fine", "the AOF is synced before every answer")


def _judge_eviction(settings: EngineSettings) -> Iterator[Finding]:
    mend = "redis-cli CONFIG SET maxmemory-policy noeviction && redis-cli CONFIG REWRITE"
    if settings.may_drop_keys:
        says = f"the engine drops keys when its memory is full ({settings.eviction}): games vanish (P1, P7)"
        yield Finding("eviction", "problem", says, mend)
    elif settings.eviction not in {KEEPS_ALL, NOT_SHOWN}:
        says = f"the engine would drop keys if its memory had a limit ({settings.eviction})"
        yield Finding("eviction", "notice", says, mend)
    elif settings.eviction == KEEPS_ALL:
        yield Finding("eviction", "fine", "the engine drops no keys")


def _judge_memory(fields: Mapping[str, str]) -> Iterator[Finding]:
    used, limit, machine = (
        int(fields.get(name, 0)) for name in ("used_memory", "maxmemory", "total_system_memory")
    )
    advised_mib = int(MEMORY_SHARE * machine / MIB)
    mend = f"redis-cli CONFIG SET maxmemory {advised_mib}mb && redis-cli CONFIG REWRITE"
    if limit and used >= FULL_SHARE * limit:
        says = (
            f"{used / limit:.0%} of the engine's memory is used: no game is created from {FULL_SHARE:.0%} on"
        )
        yield Finding("memory", "problem", says, f"redis-cli CONFIG SET maxmemory {2 * limit // MIB}mb")
    if not limit and fields:
        says = "the engine's memory has no limit: the system ends the engine when the machine has no more"
        yield Finding("memory", "notice", says, mend)
    elif machine and limit > machine:
        says = f"the engine's limit of {limit / MIB:,.0f} MiB is more than its machine has ({machine / MIB:,.0f})"
        yield Finding("memory", "problem", says, mend)
    elif fields:
        yield Finding("memory", "fine", f"{used / MIB:,.0f} of {limit / MIB:,.0f} MiB are used")


def _judge_disk(
    room: DiskRoom | None, settings: EngineSettings, fields: Mapping[str, str]
) -> Iterator[Finding]:
    """A rewrite needs room for the AOF twice, and the engine ends when there is none."""
    if room is None:
        says = "the disk of the engine's AOF can't be seen from here"
        yield Finding(
            "disk",
            "notice",
            says,
            "run doctor on the engine's machine, or mount its volume at the same place",
        )
        return
    aof_bytes, base = (int(fields.get(name, 0)) for name in ("aof_current_size", "aof_base_size"))
    grown = max(aof_bytes, 2 * base)  # when it is rewritten at the latest, as engines are set
    needed = grown - aof_bytes + base + grown // 2
    mend = "make room, or move the folder to a larger disk: docs/how-to/runbook.md, a full disk"
    if room.is_low or room.free < needed:
        says = f"{room}; the next rewrite of the AOF needs {needed / MIB:,.0f}, and the engine ends when the disk is full"
        yield Finding("disk", "problem", says, mend)
    elif settings.max_bytes and room.total < REWRITE_COPIES * settings.max_bytes:
        says = f"{room}; with all its memory used, the engine needs {REWRITE_COPIES * settings.max_bytes / MIB:,.0f} for its AOF"
        yield Finding("disk", "notice", says, mend)
    else:
        yield Finding("disk", "fine", f"{room}; the AOF has {aof_bytes / MIB:,.1f}")


def _judge_clients(fields: Mapping[str, str]) -> Iterator[Finding]:
    connected, most = (int(fields.get(name, 0)) for name in ("connected_clients", "maxclients"))
    if most and connected >= CROWDED_SHARE * most:
        says = f"{connected} of at most {most} connections to the engine are open"
        yield Finding("connections", "problem", says, f"redis-cli CONFIG SET maxclients {2 * most}")
    elif most:
        yield Finding(
            "connections", "fine", f"{connected} of at most {most} connections to the engine are open"
        )


def _judge_users(users: Reply, rules: Mapping[str, str]) -> Query[list[Finding]]:
    """Whether strangers get in, older engines replay all, and each service may do what its version needs."""
    if isinstance(users, Exception):
        return [Finding("users", "notice", "the engine doesn't show its users", "ask as the user operator")]
    lines = {words[1]: words[2:] for line in users if (words := line.decode(errors="replace").split())}
    default = lines.get("default", [])
    if "on" in default and "nopass" in default:
        says = "whoever reaches the engine may do everything: its user default has no password"
        return [
            Finding(
                "users",
                "problem",
                says,
                "ledgerline engine-users secrets   # then aclfile, see deploy/README",
            )
        ]
    if "off" in default and "+@all" not in default:
        says = (
            "the user default may not do everything: some engines leave out of a restart what it may not do"
        )
        return [Finding("users", "problem", says, "redis-cli ACL SETUSER default allkeys allchannels +@all")]
    own = {name: words for name, words in rules.items() if name in lines and name != "default"}
    if not own:
        return [Finding("users", "fine", "one user with a password does everything: right for one machine")]
    changed = []
    for name, words in own.items():
        if not (yield from _is_allowed_as_ruled(name, words)):
            changed.append(name)
    missing = sorted(rules.keys() - lines.keys())
    if changed or missing:
        listed = ", ".join([*changed, *(f"{name} (missing)" for name in missing)])
        says = f"users of the engine have other rights than this version's: {listed}"
        return [Finding("users", "problem", says, "ledgerline engine-users secrets && redis-cli ACL LOAD")]
    return [Finding("users", "fine", f"{len(own)} users, each with the rights of this version")]


def _is_allowed_as_ruled(name: str, words: str) -> Query[bool]:
    """Whether a user is on and has the rights that these words give, by the engine's own reading of them."""
    *_, found, ruled, _ = yield [
        command("ACL", "SETUSER", COMPARED_USER, "reset", *split_rules(words), "off"),
        command("ACL", "GETUSER", name),
        command("ACL", "GETUSER", COMPARED_USER),
        command("ACL", "DELUSER", COMPARED_USER),
    ]
    if isinstance(found, Exception) or isinstance(ruled, Exception):
        return False
    return _rights(found) == _rights(ruled) and b"on" in _fields(found)[b"flags"]


def split_rules(words: str) -> list[str]:
    """The arguments of ACL SETUSER: a selector in brackets is one."""
    return re.findall(r"\([^)]*\)|\S+", words)


def _rights(user: Reply) -> dict[bytes, Reply]:
    return {name: value for name, value in _fields(user).items() if name not in {b"flags", b"passwords"}}


def _fields(user: Reply) -> dict[bytes, Reply]:
    return dict(zip(user[::2], user[1::2], strict=True))


def _version(fields: Mapping[str, str]) -> str:
    product = "Valkey" if "valkey_version" in fields else "Redis"
    return f"{product} {fields.get('valkey_version', fields.get('redis_version', NOT_SHOWN))}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _seconds(time: Reply) -> float:
    seconds, microseconds = map(int, time)
    return seconds + microseconds / 1_000_000
