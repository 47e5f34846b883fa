"""The planted bugs: what is broken, which promise it breaks, where, and which tests should notice.

Each removes one thing that a promise depends on. A bug that survives means that a test is
missing.
"""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.planted_access import ACCESS_MUTANTS
from tests.mutants.planted_archive import ARCHIVE_MUTANTS
from tests.mutants.planted_floods import FLOOD_MUTANTS
from tests.mutants.planted_gateway import GATEWAY_MUTANTS, SIMULATOR
from tests.mutants.planted_health import HEALTH_MUTANTS
from tests.mutants.planted_isolation import ISOLATION_MUTANTS
from tests.mutants.planted_names import NAMES_MUTANTS
from tests.mutants.planted_rules import RULES_MUTANTS
from tests.mutants.planted_secrecy import SECRECY_MUTANTS
from tests.mutants.planted_security import SECURITY_MUTANTS
from tests.mutants.planted_stored_form import STORED_FORM_MUTANTS

CONTRACT: Final = ("tests/ledger_contract/test_append.py", "tests/ledger_contract/test_command_queue.py")
REFEREE: Final = ("tests/referee/test_worker.py", "tests/referee/test_two_referees.py")
IDEMPOTENCY: Final = ("tests/gateway/test_idempotency.py",)

LEDGER_MUTANTS: Final = (
    Mutant(
        "no length check", "P3", "services/ledger/scripts/lua/append_entry.lua",
        "if length ~= tonumber(ARGV[3]) then", "if false then", CONTRACT,
    ),
    Mutant(
        "the script ignores the head", "P3", "services/ledger/scripts/lua/append_entry.lua",
        "if before ~= '' and ARGV[4] ~= '' and before ~= ARGV[4] then", "if false then",
        ("tests/ledger_contract/test_hash_chain.py", *REFEREE),
    ),
    Mutant(
        "no id check", "P2", "services/ledger/scripts/lua/append_entry.lua",
        "if known then", "if false then", CONTRACT,
    ),
    Mutant(
        "an id's verdict isn't recorded", "P2", "services/ledger/scripts/lua/append_entry.lua",
        "redis.call('HSET', KEYS[4], ARGV[5], number .. ' ' .. ARGV[15])", "", CONTRACT,
    ),
    Mutant(
        "a verdict is kept without its command", "P2", "services/ledger/scripts/lua/append_entry.lua",
        "ARGV[5], number .. ' ' .. ARGV[15])", "ARGV[5], number)", IDEMPOTENCY,
    ),
    Mutant(
        "a submission doesn't find an earlier verdict", "P2", "services/ledger/scripts/lua/submit_command.lua",
        "return KEYS[3] and redis.call('HGET', KEYS[3], ARGV[4]) or 1", "return 1", IDEMPOTENCY,
    ),
    Mutant(
        "an id answers any command", "P2", "services/gateway/games/command_tracking.py",
        "result.command_digest == digest_command(envelope.command)", "True", IDEMPOTENCY,
    ),
    Mutant(
        "two commands of a socket share an id while they wait", "P2", "services/gateway/sockets/websocket_session.py",
        " and digest_command(waiting.command) != digest_command(envelope.command):", " and False:", IDEMPOTENCY,
    ),
    Mutant(
        "the order of a mapping makes another command", "P2", "schemas/stored/codec.py",
        "in sorted(value.items())", "in value.items()", IDEMPOTENCY,
    ),
    Mutant(
        "a creation with another's id makes room for more games", "P9", "services/gateway/games/open_games.py",
        'isinstance(error, NotYetError | ReusedIdError)', 'isinstance(error, NotYetError)', ("tests/security/test_quotas.py",),
    ),
    Mutant(
        "a decided command stays pending", "P9", "services/ledger/scripts/lua/append_entry.lua",
        "    redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])\n", "", CONTRACT,
    ),
    Mutant(
        "a decided command stays in the stream", "P9", "services/ledger/scripts/lua/append_entry.lua",
        "    redis.call('XDEL', KEYS[1], ARGV[2])\n", "", CONTRACT,
    ),
    Mutant(
        "acknowledged before the append is checked", "P1", "services/ledger/scripts/lua/append_entry.lua",
        "local known = redis.call(", "acknowledge()\nlocal known = redis.call(", CONTRACT,
    ),
    Mutant(
        "no public entry is written", "P5", "services/ledger/scripts/lua/append_entry.lua",
        "redis.call('XADD', KEYS[3], id, unpack(view))", "", CONTRACT,
    ),
    Mutant(
        "a deadline isn't removed", "P10", "services/ledger/scripts/lua/append_entry.lua",
        "  redis.call('ZREM', KEYS[6], ARGV[12])\n", "", CONTRACT,
    ),
    Mutant(
        "a started game is still evicted", "P9", "services/ledger/scripts/lua/append_entry.lua",
        "if ARGV[11] == '' then\n  redis.call('ZREM', KEYS[8], ARGV[12])",
        "if ARGV[11] == '' then", ("tests/referee/test_eviction.py",),
    ),
    Mutant(
        "an engine that is full counts as a damaged log", "P8", "services/ledger/scripts/lua/append_entry.lua",
        "if string.find(tostring(written.err), 'equal or smaller') then", "if true then",
        ("tests/ledger_contract",),
    ),
    Mutant(
        "commands are dropped when too many wait", "P8", "services/ledger/scripts/lua/submit_command.lua",
        "  return 0\n", "  return 1\n", CONTRACT,
    ),
    Mutant(
        "any number of commands may wait", "P8", "services/ledger/scripts/lua/submit_command.lua",
        ">= tonumber(ARGV[1])", ">= 1e9", CONTRACT,
    ),
    Mutant(
        "a consumer that lost a command moves it to the dead letters", "P8", "services/ledger/scripts/lua/reject_command.lua",
        "if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then",
        "if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 9 then", CONTRACT,
    ),
    Mutant(
        "a game that went on is removed", "P9", "services/ledger/scripts/lua/evict_game.lua",
        "if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[2]) then", "if false then",
        ("tests/referee/test_eviction.py",),
    ),
    Mutant(
        "a consumer is removed with its pending commands", "P1", "services/ledger/scripts/lua/remove_consumer.lua",
        "ARGV[2]) > 0 then", "ARGV[2]) > 99 then", CONTRACT,
    ),
    Mutant(
        "the game clock goes back", "P10", "services/ledger/scripts/lua/heartbeat.lua",
        "(lead > 0 and", "(true and", ("tests/referee/test_leases.py",),
    ),
    Mutant(
        "a dead referee keeps its lease", "P7", "services/ledger/scripts/lua/heartbeat.lua",
        "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))\n", "",
        ("tests/referee/test_leases.py",),
    ),
    Mutant(
        "claimed too early", "P7", "services/referee/worker.py",
        "RECLAIM_IDLE_MS: Final = 2_000", "RECLAIM_IDLE_MS: Final = 0", REFEREE,
    ),
    Mutant(
        "redelivered commands are decided together with others",
        "P8",
        "services/ledger/queues/consumer_groups.py",
        "delivered_once = [delivery for delivery in stale if delivery.pending.delivery_count <= 1]",
        "delivered_once = stale",
        (*CONTRACT, "tests/referee/test_poison.py"),
    ),
    Mutant(
        "an earlier rejection answers the next submission", "P2", "services/ledger/scripts/lua/submit_command.lua",
        "redis.call('DEL', KEYS[2])\n", "", ("tests/ledger_contract", "tests/gateway/test_idempotency.py"),
    ),
)  # fmt: skip

REFEREE_MUTANTS: Final = (
    Mutant(
        "a game isn't folded again after a conflict", "P3", "services/referee/command_processor.py",
        "elif status is AppendStatus.CONFLICT or not isinstance(request, DuplicateCommand):", "elif False:",
        REFEREE,
    ),
    Mutant(
        "a conflict is forgotten", "P1", "services/referee/command_processor.py",
        "if status is AppendStatus.CONFLICT and request.delivery.id:", "if status is None and request.delivery.id:", REFEREE,
    ),
    Mutant(
        "commands of several partitions with the same stream id are taken for one", "P8", "services/referee/command_processor.py",
        "delivery_key = request.delivery.partition, request.delivery.id", "delivery_key = 0, request.delivery.id", ("tests/referee",),
    ),
    Mutant(
        "who sends much comes first", "P8", "services/referee/command_processor.py",
        "turns.sort(key=itemgetter(0))", "pass", ("tests/referee/test_turns.py",),
    ),
    Mutant(
        "a rejection is decided on a stale state", "P2", "services/referee/command_processor.py",
        "            if is_current:\n", "            if is_current is not None:\n", ("tests/referee",),
    ),
    Mutant(
        "a broken decision stops the referee", "P8", "services/referee/command_processor.py",
        "except PROGRAMMING_ERRORS as error:", "except ZeroDivisionError as error:", ("tests/referee/test_poison.py",),
    ),
    Mutant(
        "a broken state is used again",
        "P8",
        "services/referee/command_processor.py",
        "if attempt is nullcontext:",
        "if False:",
        REFEREE,
    ),
    Mutant(
        "a command that kills is retried for ever", "P8", "services/referee/worker.py",
        "if delivery.delivery_count <= self.max_deliveries:", "if True:", ("tests/referee/test_poison.py",),
    ),
    Mutant(
        "a fork that is being expanded is reclaimed by another referee", "P8", "services/referee/worker.py",
        "self.ledger.commands.renew(self.name, self.forks.held_deliveries())", "pass",
        ("tests/referee/test_fork_expansion.py",),
    ),
    Mutant(
        "a bot isn't called again after its refusal", "P10", "services/referee/decision_building.py",
        "(seat not in pending_before or seat == sender)", "seat not in pending_before",
        ("tests/referee/test_redispatch.py", *SIMULATOR),
    ),
    Mutant(
        "every entry calls every bot", "P9", "services/referee/decision_building.py",
        "(seat not in pending_before or seat == sender)", "True",
        ("tests/referee/test_redispatch.py", *SIMULATOR),
    ),
    Mutant(
        "commands that other referees left pending aren't reclaimed", "P7", "services/referee/worker.py",
        "self.ledger.commands.reclaim(self.name, self.owned_partitions(), idle_ms)",
        "self.ledger.commands.reclaim(self.name, (), idle_ms)", (*REFEREE, *SIMULATOR),
    ),
    Mutant(
        "time can be called on a seat that has time left", "P10", "services/referee/games/seat_changes.py",
        "require(state.is_out_of_time(late_seat), \"CLOCK-2\"", 'require(True, "CLOCK-2"',
        ("tests/rules/test_deadlines.py", "tests/rules/test_conduct.py"),
    ),
    Mutant(
        "a deadline fires too early",
        "P10",
        "services/referee/worker.py",
        "elif deadline is not None and state.opened_at_ms + deadline[0] <= now_ms:",
        "elif deadline is not None:",
        ("tests/referee/test_clock.py", "tests/referee/test_redispatch.py"),
    ),
    Mutant(
        "the wall clock decides", "P10", "services/bootstrap/composition.py",
        "clocks = Clocks(clock, now_ms,", "clocks = Clocks(now_ms, now_ms,", ("tests/referee/test_leases.py",),
    ),
    Mutant(
        "a running game is evicted", "P9", "services/referee/worker.py",
        "if state.started and not state.result:", "if False:", ("tests/referee/test_eviction.py",),
    ),
    Mutant(
        "partitions have no owner when shares are uneven", "P7", "services/referee/leases.py",
        "(count == base_count and full < extra_count)", "False", ("tests/referee/test_leases.py",),
    ),
    Mutant(
        "the game clock runs while no referee does", "P10", "services/referee/leases.py",
        "min(self.monotonic_ms() - read_at_ms, MAX_HEARTBEAT_AGE_MS)", "(self.monotonic_ms() - read_at_ms)",
        ("tests/referee/test_leases.py",),
    ),
    Mutant(
        "a bot keeps a state that a fail-over took back", "P7", "services/bots/seat_projection.py",
        "(None,), verifier.head, parts)", "(None,), None, parts)", ("tests/bots", *SIMULATOR),
    ),
    Mutant(
        "a bot doesn't verify what it is shown", "P6", "services/bots/seat_projection.py",
        "            answers, events = self.part_verifier.verify(entry, parts.pop(entry.number, None))\n",
        "            answers, events = None, entry.events\n", ("tests/bots",),
    ),
    Mutant(
        "a verdict names its own head as the previous one", "P3", "services/referee/decision_building.py",
        "previous_head=chain_state.head,", "previous_head=sealed_entry.head,",
        REFEREE,
    ),
    Mutant(
        "a cached game's head isn't compared", "P3", "services/referee/game_cache.py",
        "if length == cached_game.length and (not length or head in (cached_game.head, b\"\")):",
        "if length == cached_game.length:",
        ("tests/referee/test_game_cache.py",),
    ),
    Mutant(
        "a bot task is finished before its command is sent",
        "P7",
        "services/bots/worker.py",
        "(finished if error is None else requeued).append(remaining.popleft())",
        "finished.append(remaining.popleft())",
        ("tests/bots", *SIMULATOR),
    ),
    Mutant(
        "a bot that is silent isn't called again",
        "P7",
        "services/referee/decision_building.py",
        "wakeups_ms.append(state.at_ms + BOT_SILENCE_MS)",
        "pass",
        ("tests/referee/test_redispatch.py",),
    ),
    Mutant(
        "a command conflicts with a damaged game for ever",
        "P8",
        "services/referee/command_processor.py",
        "if conflict_counts[delivery_key] >= MAX_STUCK_CONFLICTS:",
        "if False:",
        ("tests/referee/test_damaged_games.py",),
    ),
)  # fmt: skip

MUTANTS: Final = (
    *LEDGER_MUTANTS,
    *REFEREE_MUTANTS,
    *GATEWAY_MUTANTS,
    *ARCHIVE_MUTANTS,
    *STORED_FORM_MUTANTS,
    *NAMES_MUTANTS,
    *RULES_MUTANTS,
    *SECRECY_MUTANTS,
    *ACCESS_MUTANTS,
    *FLOOD_MUTANTS,
    *HEALTH_MUTANTS,
    *ISOLATION_MUTANTS,
    *SECURITY_MUTANTS,
)
