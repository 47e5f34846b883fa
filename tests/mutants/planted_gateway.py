"""Planted bugs of the gateway: what it sends too early, twice, or not at all."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

KIT: Final = ("tests/gateway/test_client_kit.py",)
ATTACH: Final = ("tests/gateway/test_attach.py",)
DIRECT: Final = ("tests/gateway/test_direct_commands.py",)
SIMULATOR: Final = ("tests/simulator/test_games.py", "tests/simulator/test_losses.py")

GATEWAY_MUTANTS: Final = (
    Mutant(
        "durable is acknowledged without asking the engine", "P1", "services/gateway/games/command_tracking.py",
        "if level.needs_confirmation:", "if False:", ("tests/gateway/test_ack_levels.py", "tests/gateway/test_fail_over.py"),
    ),
    Mutant(
        "accepted is acknowledged before the command is submitted",
        "P1",
        "services/gateway/games/command_tracking.py",
        "                    await self.settle(envelope, self.ledger.submission.submit(envelope))\n                    progress.level = ACCEPTED",
        "                    progress.level = ACCEPTED\n                    await self.settle(envelope, self.ledger.submission.submit(envelope))",
        ("tests/gateway/test_lost_reply.py", "tests/gateway/test_ack_levels.py", "tests/gateway/test_overload.py"),
    ),
    Mutant(
        "what WAITAOF answers isn't read",
        "P1",
        "services/ledger/acknowledgements.py",
        "return bool(proof[0] >= 1) and",
        "return",
        ("tests/gateway/test_engine_word.py", "tests/gateway/test_ack_levels.py"),
    ),
    Mutant(
        "what WAIT answers isn't read",
        "P1",
        "services/ledger/acknowledgements.py",
        "return bool(replies[0] >= level.replicas)",
        "return True",
        ("tests/gateway/test_ack_confirmation.py", "tests/cluster/test_replicated.py"),
    ),
    Mutant(
        "no write before WAITAOF", "P1", "services/ledger/scripts/lua/confirm_entry.lua",
        "redis.call('SET', KEYS[3], number)", "",
        ("tests/gateway/test_ack_confirmation.py", "tests/gateway/test_ack_levels.py", *SIMULATOR),
    ),
    Mutant(
        "a level that the engine can't give is found out too late", "P1", "services/gateway/games/command_tracking.py",
        "        await self.require_level(envelope.game, ack_request.level)\n", "", ("tests/gateway/test_ack_levels.py",),
    ),
    Mutant(
        "a full partition is an internal error", "P8", "services/gateway/games/command_tracking.py",
        "except QueueFullError as error:", "except ZeroDivisionError as error:", ("tests/gateway/test_overload.py",),
    ),
    Mutant(
        "a verdict that a fail-over took is waited for, for ever", "P1", "services/gateway/games/command_tracking.py",
        "progress.sequence = ACCEPTED, 0\n                await self.settle(envelope, self.ledger.submission.submit(envelope))\n", "progress.sequence = ACCEPTED, 0\n",
        ("tests/gateway/test_fail_over.py", *SIMULATOR),
    ),
    Mutant(
        "an entry has what is legal after another one", "P7", "services/gateway/tables/table_folds.py",
        "        return fold if fold.is_at(number, head) else None\n", "        return fold\n",
        ("tests/gateway/test_legal_entries.py",),
    ),
    Mutant(
        "a client's command gets another id when it is sent again", "P2", "services/bots/kit/seat_session.py",
        "        self._is_sent = True\n", "        self._is_sent, self.pending = True, SentCommand(self._new_id(), self.pending.command)\n", KIT,
    ),
    Mutant(
        "a client believes every entry", "P6", "services/bots/kit/seat_session.py",
        "        self.verifier.verify(entry)\n", "        self.verifier.sequence = entry.number\n", KIT,
    ),
    Mutant(
        "an entry goes out twice", "P5", "services/gateway/following/hub.py",
        "            if delivered > after:\n                yield item", "            if True:\n                yield item",
        ("tests/gateway/test_hub.py", "tests/gateway/test_websocket_session.py", *SIMULATOR),
    ),
    Mutant(
        "floods aren't slowed", "P8", "services/runtime/rate_limit.py",
        "        if available < cost:\n", "        if False:\n", ("tests/gateway/test_refusals.py",),
    ),
    Mutant(
        "viewers don't learn that a fail-over took back entries",
        "P5",
        "services/gateway/following/subscriptions.py",
        "if self.head and new.previous_head and new.previous_head != self.head:",
        "if False:",
        ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "a page of another branch is delivered",
        "P5",
        "services/ledger/scripts/stored_entries.py",
        "if head and public[0][2] and public[0][2] != head:",
        "if False:",
        ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "a new subscriber reads what the hub has yet to deliver", "P3", "services/gateway/following/hub.py",
        "read_on(request, min(PAGE_SIZE, subscription.start - after))", "read_on(request, PAGE_SIZE)", ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "a new subscriber may have read another branch than the hub delivers", "P3",
        "services/gateway/following/subscriptions.py",
        "if len(self.start_heads) > 1:", "if False:", ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "the idle poll compares lengths alone", "P3", "services/gateway/following/subscriptions.py",
        "self.last_sequence == sequence and (not head or self.head in (b\"\", head))", "self.last_sequence == sequence",
        ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "an AOF that isn't in force yet counts as durable", "P1", "services/ledger/acknowledgements.py",
        "return now.syncs_before_it_answers and is_aof_in_force(proof)", "return now.syncs_before_it_answers",
        ("tests/gateway/test_aof_in_force.py",),
    ),
    Mutant(
        "a socket isn't told where the log is", "P3", "services/gateway/sockets/websocket_session.py",
        "            await self.websocket.send_text(to_json(body).decode())\n", "", ATTACH,
    ),
    Mutant(
        "the head that a client names isn't compared", "P3", "services/gateway/sockets/websocket_opening.py",
        "    if not head:\n", "    if True:\n", ("tests/gateway/test_stream.py",),
    ),
    Mutant(
        "a client with an entry that was lost waits for it", "P3", "services/gateway/sockets/websocket_opening.py",
        "    if sequence > opening.log_head.sequence:\n", "    if False:\n", ATTACH,
    ),
    Mutant(
        "a client whose entries were lost is told to go on", "P3", "services/gateway/sockets/websocket_opening.py",
        "CloseCode.BEGIN_ANEW, LOG_REWOUND_REASON", "CloseCode.GO_ON, LOG_REWOUND_REASON", ATTACH,
    ),
    Mutant(
        "the head of a subscriber who is ahead of the hub isn't compared", "P3", "services/gateway/following/hub.py",
        "            elif delivered == after and head and", "            elif False and",
        ("tests/gateway/test_log_rewound.py",),
    ),
    Mutant(
        "a stream goes on when its token is withdrawn", "P5", "services/gateway/sockets/followed_view.py",
        "                    if ending in done:\n                        ending.result()\n", "", ("tests/gateway/test_stream.py",),
    ),
    Mutant(
        "a slow table holds the event loop", "P8", "services/gateway/tables/table_folds.py",
        "return await self.compute(client, lambda: answer(fold.table))", "return answer(fold.table)", ("tests/gateway/test_table_threads.py",),
    ),
    Mutant(
        "a plain command overtakes the message before it", "P2", "services/gateway/sockets/websocket_session.py",
        "                self._connection.take_text = None ", "                pass ", DIRECT,
    ),
    Mutant(
        "a plain command isn't counted", "RATE-1", "services/gateway/sockets/websocket_session.py",
        "        if self.service.rate_limiter.acquire(self._counted_as):", "        if False:", DIRECT,
    ),
    Mutant(
        "a lost connection leaves commands without an answer", "P1", "services/fast_path/engine_connection.py",
        "        for on_reply, _since, _size in waiting:\n            on_reply(error)\n", "", DIRECT,
    ),
    Mutant(
        "what waits for an engine that hangs has no bound", "BUSY-1", "services/fast_path/engine_connection.py",
        "if self._waiting_bytes >= MAX_WAITING_BYTES:", "if False:", DIRECT,
    ),
)  # fmt: skip
