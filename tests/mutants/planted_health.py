"""Planted bugs of what an operator is told: outages that nobody hears of, and lines without end."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.planted_engine import ENGINE_MUTANTS

HEALTH: Final = ("tests/gateway/test_health.py",)

STATUS: Final = ("tests/cli/test_status.py",)

REPEATED: Final = ("tests/security/test_repeated_errors.py",)

HEALTH_MUTANTS: Final = (
    Mutant(
        "without a referee all is well", "P7", "services/gateway/health.py",
        "return self.silence_s >= SILENT_S", "return False", HEALTH,
    ),
    Mutant(
        "a dead referee's heartbeat counts as new", "P7", "services/gateway/health.py",
        "if known is not None and known.heartbeat_ms == heartbeat_ms:", "if False:", HEALTH,
    ),
    Mutant(
        "bots that were killed aren't missed", "P7", "services/ledger/operations/backlog_queries.py",
        "not self.is_optional or was_there or tasks > 0", "not self.is_optional or tasks > 0", HEALTH,
    ),
    Mutant(
        "a gateway that stood still misses everybody", "P7", "services/gateway/health.py",
        "min(now_s - self._looked_s, MAX_LOOK_S)", "now_s - self._looked_s", HEALTH,
    ),
    Mutant(
        "ready says nothing of an engine that may drop keys", "P1", "services/gateway/health.py",
        "return found + (self.settings.problems() if self.settings else [])", "return found", ("tests/gateway/test_engine_settings.py",),
    ),
    Mutant(
        "a stalled partition isn't told of", "P8", "services/gateway/health.py",
        "if now_s - since_s >= self.stall_s and partition not in self.stalled:", "if False:", HEALTH,
    ),
    Mutant(
        "a stalled partition is told of at every look", "P8", "services/gateway/health.py",
        "if now_s - since_s >= self.stall_s and partition not in self.stalled:", "if now_s - since_s >= self.stall_s:", HEALTH,
    ),
    Mutant(
        "a busy partition counts as stalled", "P8", "services/gateway/health.py",
        "before is not None and before.backlog.oldest_mark == backlog.oldest_mark", "before is not None", HEALTH,
    ),
    Mutant(
        "an engine that refuses writes is ready", "P8", "services/gateway/health.py",
        "                await self._try_write(partitions[0])\n", "", HEALTH,
    ),
    Mutant(
        "an engine that refuses writes counts as away", "P8", "services/runtime/worker_loop.py",
        'return text if text.lstrip("-").partition(" ")[0] in REFUSAL_WORDS else ""', 'return ""', HEALTH,
    ),
    Mutant(
        "answers become unknown and nobody is told", "P8", "services/gateway/games/command_tracking.py",
        "        if progress.level != ack_request.level:\n            self.answers.record_unknown",
        "        if False:\n            self.answers.record_unknown", ("tests/gateway/test_health_routes.py",),
    ),
    Mutant(
        "ledgerline status says that a system without referees is well", "P7", "services/bootstrap/system_report.py",
        "        if is_missed and kind", "        if kind is not REFEREE and is_missed and kind", STATUS,
    ),
    Mutant(
        "ledgerline status overlooks an engine that drops keys", "P1", "services/bootstrap/system_report.py",
        "for broken in broken_promises(settings)]", "for broken in ()]", STATUS,
    ),
    Mutant(
        "an engine that refuses writes can't be looked at", "P9", "services/ledger/engine/connection.py",
        "        if stored is None:  # else nothing", "        if True:  # else nothing", STATUS,
    ),
    Mutant(
        "an event gets a field, and its code stays", "P4", "schemas/events.py",
        "class TurnStarted(EventContract):\n    seat: Seat\n", "class TurnStarted(EventContract):\n    seat: Seat\n    again: Seat | None = None\n",
        ("tests/schemas/test_contract_record.py",),
    ),
    Mutant(
        "a code's fields may change their places", "P4", "schemas/contract_record.py",
        "if new_names[: len(old_names)] != old_names:", "if {*old_names} - {*new_names}:",
        ("tests/schemas/test_contract_record.py",),
    ),
    Mutant(
        "errors that repeat fill the log", "P9", "services/runtime/logging_setup.py",
        "processors=[repeat_limit, *shared_processors", "processors=[*shared_processors", REPEATED,
    ),
    Mutant(
        "repeated errors of all games count as one", "P9", "services/runtime/logging_setup.py",
        "(str(event_dict[name]) for name in SUBJECTS if name in event_dict)", "(name for name in SUBJECTS if name in event_dict)", REPEATED,
    ),
    Mutant(
        "what wasn't logged is never counted", "P9", "services/runtime/logging_setup.py",
        "                seen.unlogged[subject if is_counted else OTHERS] += 1\n", "", REPEATED,
    ),
    Mutant(
        "a stranger's refused commands fill the log", "P9", "services/runtime/logging_setup.py",
        " and not seen.rate.acquire(now_s)", "", REPEATED,
    ),
    *ENGINE_MUTANTS,
    Mutant(
        "an older engine replays none of what scripts wrote", "P1", "deploy/redis/users.acl",
        "user default off nopass allkeys allchannels +@all", "user default off nopass resetkeys resetchannels -@all",
        ("tests/security/test_engine_users.py",),
    ),
    Mutant(
        "anybody is the default user, who may do all", "P6", "deploy/redis/users.acl",
        "user default off nopass", "user default on nopass", ("tests/security/test_engine_users.py",),
    ),
)  # fmt: skip
