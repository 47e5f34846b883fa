"""One referee, 200 games at once, beside a client without rules that runs the same scripts.

The games are pre-played, and fed round by round: each game's next command, when all have
been answered. Feeding isn't counted on either side. The referee's time is that of its
steps, from taking commands to the script's answers, in a process of its own. The client,
in another process, then runs the append scripts of the same rounds, byte for byte and in the
same batches, on a second engine, where the same commands are pending in the streams,
so that acknowledging and deleting them is as much work. Rounds of both alternate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, islice
from statistics import median
from typing import Any, Final

from schemas.commands import CommandEnvelope
from schemas.stored.codec import join_entry, pack_envelope, unpack_entry
from schemas.stored.entries import Entry
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.queries import Argument, RedisCommand
from tests.bench.figure import Figure, Report, Size, ratio
from tests.bench.games import bots, fresh_engine, script
from tests.bench.referee_workers import Calls, Spent, Worker, run_client, run_referee

GOAL: Final = 0.35
SEATS: Final = bots(*("random",) * 4)
# Places among the append script's arguments; then come the tasks and the private parts.
SECRET, PUBLIC, TASKS, PARTS = 6, 7, 16, 17
Round = list[tuple[str, CommandEnvelope]]  # envelopes by their ids in the commands stream


def measure(size: Size, report: Report) -> Figure:
    games, blocks, rounds = size.of(200, 4), size.of(20, 3), size.of(12, 8)
    report(f"{games} games: playing them in advance")
    feed = lanes(games)
    with (
        fresh_engine() as our_url,
        fresh_engine() as their_url,
        Worker(run_referee, our_url) as referee,
        Worker(run_client, their_url) as client,
    ):
        ours, theirs = ledger_at(our_url), ledger_at(their_url)
        our, their, errors = list[Spent](), list[Spent](), 0
        for block in range(1, blocks + 1):
            report(f"block {block} of {blocks}")
            envelopes = list(islice(feed, rounds))
            outcomes = [ours_round(ours, referee, each) for each in envelopes]
            our.append(total(spent for spent, _ in outcomes))
            done = [
                theirs_round(theirs, client, each, calls)
                for each, (_, calls) in zip(envelopes, outcomes, strict=True)
            ]
            their.append(total(done))
            errors += sum(map(mistakes, (calls for _, calls in outcomes)))
        errors += unanswered(ours) + unanswered(theirs)
        script_us = engine_us(theirs)
    return build_figure(our, their, errors, games, script_us)


def build_figure(our: list[Spent], their: list[Spent], errors: int, games: int, script_us: float) -> Figure:
    our_rates = [spent.commands / spent.seconds for spent in our]
    their_rates = [spent.commands / spent.seconds for spent in their]
    share, all_of_us = ratio(our_rates, their_rates), total(our)
    cpu = all_of_us.user / all_of_us.commands * 1e6
    return Figure(
        f"one referee, {games} games, commands a second, of the same scripts without rules",
        f"{share:.2f} ({median(our_rates):,.0f} of {median(their_rates):,.0f} a second;"
        f" {cpu:.0f} us user CPU a command, {errors} errors)",
        f"at least {GOAL}, no errors",
        share >= GOAL and not errors,
        {
            "ratio": share,
            "ours_per_s": our_rates,
            "theirs_per_s": their_rates,
            "commands": all_of_us.commands,
            "user_cpu_us_per_command": cpu,
            "system_cpu_us_per_command": all_of_us.system / all_of_us.commands * 1e6,
            "theirs_user_cpu_us_per_command": total(their).user / total(their).commands * 1e6,
            "engine_us_per_script": script_us,
            "errors": errors,
        },
    )


# -- feeding -------------------------------------------------------------------------


def lanes(games: int) -> Iterator[Round]:
    """Endless rounds, with one command of each of so many games; a game that ends is replaced by a
    new one."""
    number = count()
    lane: list[Iterator[CommandEnvelope]] = [iter(()) for _ in range(games)]
    for number_of_round in count(1):
        envelopes: Round = []
        for n in range(games):
            envelope = next(lane[n], None)
            if envelope is None:
                name = f"game-{next(number)}"
                lane[n] = iter(script(name, SEATS, name))
                envelope = next(lane[n])
            envelopes.append((f"{number_of_round}-{n + 1}", envelope))
        yield envelopes


def ledger_at(url: str) -> RedisLedger:
    client = connect(url)
    return RedisLedger(client, init_partition_count(client, keys.DEFAULT_PARTITIONS))


def put(ledger: RedisLedger, envelopes: Round) -> None:
    """Add commands to the command streams, under ids that are the same on every engine."""
    client: Any = ledger._client  # the port has no way to choose these ids
    pipe = client.pipeline(transaction=False)
    for id_, envelope in envelopes:
        stream = keys.commands(keys.partition_of(envelope.game, ledger.partitions))
        pipe.xadd(stream, {"c": pack_envelope(envelope)}, id=id_)
    pipe.execute()


def ours_round(ledger: RedisLedger, referee: Worker, envelopes: Round) -> tuple[Spent, Calls]:
    put(ledger, envelopes)
    spent, calls = referee.ask(len(envelopes))
    return spent, calls


def theirs_round(ledger: RedisLedger, client: Worker, envelopes: Round, calls: Calls) -> Spent:
    put(ledger, envelopes)
    assert len(ledger.commands.take("client", range(ledger.partitions), len(envelopes), 0)) == len(envelopes)
    spent: Spent = client.ask(calls)
    return spent


# -- checks -------------------------------------------------------------------------


def total(spent: Iterable[Spent]) -> Spent:
    return Spent(*map(sum, zip(*spent, strict=True)))


def mistakes(calls: Calls) -> int:
    """How many of these verdicts are refusals: none, as every command was legal."""
    return sum(entry_of(command).refusal is not None for batch in calls for command in batch)


def entry_of(command: RedisCommand) -> Entry:
    """The log entry that this call appends."""
    arguments = command.arguments[3 + int(command.arguments[2]) :]  # behind the script and its keys
    first = PARTS + 1 + int(arguments[TASKS])
    parts = arguments[first : first + 2 * int(arguments[PARTS])]
    private_parts = [(int(seat), _bytes(part)) for seat, part in zip(parts[::2], parts[1::2], strict=True)]
    return unpack_entry(join_entry(_bytes(arguments[PUBLIC]), private_parts, _bytes(arguments[SECRET])))


def _bytes(argument: Argument) -> bytes:
    assert isinstance(argument, bytes)
    return argument


def unanswered(ledger: RedisLedger) -> int:
    """How many commands wait, or were moved to the dead letters."""
    client: Any = ledger._client
    pipe = client.pipeline(transaction=False)
    for partition in range(ledger.partitions):
        pipe.xlen(keys.commands(partition))
        pipe.xlen(keys.dead_letters(partition))
    return sum(pipe.execute())


def engine_us(ledger: RedisLedger) -> float:
    """What a script takes in the engine itself: no client could run more of them."""
    client: Any = ledger._client
    return float(client.info("commandstats")["cmdstat_evalsha"]["usec_per_call"])
