"""Planted bugs of isolation: one bad key, node or crowd stops everybody else."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

MISTYPED: Final = ("tests/referee/test_mistyped_keys.py",)
SHARED: Final = ("tests/referee/test_leases.py",)

SLOW_POLICIES: Final = ("tests/bots/test_slow_policies.py",)
DRAWINGS: Final = ("tests/gateway/test_drawn_boards.py",)
SILENT: Final = ("tests/cluster/test_silent_nodes.py",)

ISOLATION_MUTANTS: Final = (
    Mutant(
        "a policy that hangs is waited for", "P8", "services/runtime/killable_processes.py",
        "self.clock() >= process.deadline_s", "False", SLOW_POLICIES,
    ),
    Mutant(
        "what a slow policy chose is sent whatever it is", "P8", "services/bots/worker.py",
        "if choice in commands:", "if choice is not None:", SLOW_POLICIES,
    ),
    Mutant(
        "a process that died is asked again", "P8", "services/runtime/killable_processes.py",
        "        self._processes.remove(process)\n", "", SLOW_POLICIES,
    ),
    Mutant(
        "a stranger's board is drawn by the server itself", "P8", "services/tables/trains/train_tables.py",
        "board if is_built_in(board) else None", "board", DRAWINGS,
    ),
    Mutant(
        "names near each other are all compared", "P8", "services/tables/trains/board_drawing.py",
        "covered >= most or compared >= MAX_COMPARED", "False", DRAWINGS,
    ),
    Mutant(
        "bots think for whoever waits longest", "P8", "services/bots/slow_tasks.py",
        "self._turns.put((creator, delivery.task.game), key)", "self._turns.put((), key)", SLOW_POLICIES,
    ),
    Mutant(
        "who asks for many suggestions holds up the others", "P8", "services/runtime/executors.py",
        "self._turns.put((asker,), ", "self._turns.put((), ", ("tests/gateway/test_fair_turns.py",),
    ),
    Mutant(
        "a key of another type stops all partitions", "P8", "services/ledger/engine/partitions.py",
        "[partition for partition in partitions if partition not in self.left_out]", "[*partitions]", MISTYPED,
    ),
    Mutant(
        "a key of another type isn't logged by its name", "P8", "services/ledger/engine/partitions.py",
        "        for name in sorted(found - self.names):\n", "        for name in ():\n", MISTYPED,
    ),
    Mutant(
        "a shared key of another type stops all referees", "P8", "services/ledger/scripts/lua/heartbeat.lua",
        "if not string.find(tostring(reply.err), 'WRONGTYPE') then", "if true then", SHARED,
    ),
    Mutant(
        "a referee that can't see the others has no partition", "P8", "services/referee/leases.py",
        "members = reply.members or (self.name,)", 'members = reply.members or ("",)', SHARED,
    ),
    Mutant(
        "without the shared clock a referee goes by the wall clock", "P10", "services/referee/leases.py",
        "reply_ms = self.wall_time_ms() if asked_ms is None else asked_ms", "reply_ms = self.wall_time_ms()", SHARED,
    ),
    Mutant(
        "a membership of another type is taken for a time without referees", "P8", "services/gateway/health.py",
        "self.last_signs, self._last_seen_s = {}, self._watched_s", "self.last_signs = {}", ("tests/gateway/test_health.py",),
    ),
    Mutant(
        "an append meets a key of another type half way through", "P8", "services/ledger/scripts/lua/append_entry.lua",
        "redis.call('ZSCORE', KEYS[6], ARGV[12])\n", "", MISTYPED,
    ),
    Mutant(
        "a command is lost where dead letters are of another type", "P8", "services/ledger/scripts/lua/reject_command.lua",
        "#ARGV > 9 and redis.call('XLEN', KEYS[3])", "#ARGV > 9 and 0", MISTYPED,
    ),
    Mutant(
        "a bots' worker keeps what it knows of games that are over", "P9", "services/bots/seat_projection.py",
        "        if projection.state.result:", "        if False:", ("tests/bots/test_worker.py",),
    ),
    Mutant(
        "a bots' worker never looks at games that send no task", "P9", "services/bots/seat_projection.py",
        "if self.clock() - projections.looked_at_s >= IDLE_S", "if False", ("tests/bots/test_worker.py",),
    ),
    Mutant(
        "an entry that a seat of the worker needs isn't held", "P5", "services/bots/seat_projection.py",
        "first_needed = 1 + min(", "first_needed = 1 + max(", ("tests/bots/test_shared_projections.py",),
    ),
    Mutant(
        "a part that can't be believed stops the game's other bots", "P6", "services/bots/seat_projection.py",
        "            self._stop(projection, error)\n", "            raise\n", ("tests/bots/test_shared_projections.py",),
    ),
    Mutant(
        "a seat is shown entries of which its parts weren't read", "P5", "services/bots/seat_projection.py",
        "end = projection.sequence - first_recent, projection.parts_until - first_recent",
        "end = projection.sequence - first_recent, None", ("tests/bots/test_shared_projections.py",),
    ),
    Mutant(
        "a bot keeps a path whose route somebody claimed", "P8", "services/bots/trains/ticket_paths.py",
        " and known.holds_over(open_routes)", "", ("tests/bots/test_greedy.py",),
    ),
    Mutant(
        "a service outlives the process that started it", "P7", "services/bootstrap/embedded.py",
        "        os.read(stop_read, 1)\n", "        Event().wait()\n", ("tests/cli/test_service_processes.py",),
    ),
    Mutant(
        "an engine outlives the process that started it", "P7", "services/ledger/engine/engine_watcher.py",
        "    while not is_free(alive) and is_there(pid):\n", "    while False:\n", ("tests/ledger_contract/test_embedded_engine.py",),
    ),
    Mutant(
        "a full disk isn't named", "P8", "services/ledger/engine/embedded_engine.py",
        "            file.write(bytes(ROOM_BYTES))\n", "", ("tests/ledger_contract/test_embedded_engine.py",),
    ),
    Mutant(
        "a service that was killed isn't missed", "P7", "services/bootstrap/embedded.py",
        "\n    failed.set()\n", "\n", ("tests/cli/test_service_processes.py",),
    ),
    Mutant(
        "a service that is stopped while it starts is killed", "P7", "services/cli/__init__.py",
        "SERVICES.isdisjoint(sys.argv[1:2])", "True", ("tests/cli/test_stopped_at_start.py",),
    ),
    Mutant(
        "the ids of answered commands are in no order", "P9", "services/referee/game_cache.py",
        "self.answered_ids.insert(bisect_left(self.answered_ids, digest), digest)", "self.answered_ids.append(digest)",
        ("tests/referee/test_game_cache.py",),
    ),
    Mutant(
        "all watchers of a game are written to at once", "P8", "services/gateway/following/subscriptions.py",
        "            if written % CHUNK_SIZE == 0:\n", "            if False:\n", ("tests/gateway/test_crowds.py",),
    ),
    Mutant(
        "entries overtake those that wait for a crowd", "P5", "services/gateway/following/subscriptions.py",
        "if not followed.queued_pages and len(recipients) <= CHUNK_SIZE:", "if len(recipients) <= CHUNK_SIZE:",
        ("tests/gateway/test_crowds.py",),
    ),
    Mutant(
        "what a full delivery queue left out is never read", "P1", "services/gateway/following/subscriptions.py",
        "                    self._on_drained(game)\n", "                    pass\n", ("tests/gateway/test_crowds.py",),
    ),
    Mutant(
        "a node of a cluster that hangs is waited for for ten seconds", "P7", "services/ledger/engine/cluster.py",
        "NODE_TIMEOUT_S: Final = 0.5", "NODE_TIMEOUT_S: Final = 10.0", ("tests/cluster/test_hanging_node.py",),
    ),
    Mutant(
        "a node of a cluster that hangs is asked again each time", "P7", "services/ledger/engine/cluster.py",
        "if not lost.is_heard() and self._clock_s() < lost.retry_s:", "if False:", SILENT,
    ),
    Mutant(
        "a node that hangs is dropped without a word", "P7", "services/ledger/engine/cluster.py",
        "            if name not in self._lost:\n", "            if False:\n", SILENT,
    ),
    Mutant(
        "a game on a node that is away stops the referee's step", "P7", "services/referee/command_processor.py",
        "            except NodeAwayError:  # a part of a cluster", "            except ZeroDivisionError:  # a part of a cluster",
        ("tests/referee/test_damaged_games.py",),
    ),
    Mutant(
        "a game on a node that is away stops the bots", "P7", "services/bots/worker.py",
        "is_lost and not isinstance(error, NodeAwayError)", "is_lost",
        ("tests/bots/test_waiting_tasks.py",),
    ),
    Mutant(
        "a confirmation waits for a node that hangs though another took over", "P7", "services/ledger/acknowledgements.py",
        "            if await is_replaced():\n", "            if False:\n", ("tests/gateway/test_hanging_confirmations.py",),
    ),
    Mutant(
        "a list of games doesn't say that a node is away", "P8", "services/ledger/log/game_indexes.py",
        "if is_mistyped(reply) or isinstance(reply, NodeAwayError)", "if is_mistyped(reply)", ("tests/cluster/test_part_away.py",),
    ),
    Mutant(
        "a list of games doesn't say what it lacks", "P8", "services/gateway/routes/tables.py",
        "    if unread:\n", "    if False:\n", ("tests/gateway/test_games.py",),
    ),
    Mutant(
        "a gateway hears of every game of a partition", "P8", "services/ledger/engine/keys.py",
        "{hash_tag(partition)}:{{{game}}}:notifications", "{hash_tag(partition)}:notifications", ("tests/ledger_contract/test_notifications.py",),
    ),
    Mutant(
        "the nodes of a cluster pass notifications on to each other", "P8", "services/ledger/queues/consumer_groups.py",
        'return "SPUBLISH" if', 'return "PUBLISH" if', ("tests/ledger_contract/test_notifications.py", "tests/cluster/test_notifications.py"),
    ),
    Mutant(
        "a game that begins to be followed is read before its notifications come, and not again", "P8", "services/gateway/following/hub.py",
        "        self.verdict_waiters.notify(game, has_new_entry=False)\n        self.mark_stale(game)\n",
        "        self.verdict_waiters.notify(game, has_new_entry=False)\n", ("tests/gateway/test_notifications.py",),
    ),
    Mutant(
        "a game of a slot that moved is heard no more", "P8", "services/ledger/notifications.py",
        "if channel in self.games and channel not in self._unconfirmed:", "if False:", ("tests/cluster/test_notifications.py",),
    ),
    Mutant(
        "a gateway listens to a node that hangs", "P7", "services/ledger/notifications.py",
        "            elif is_asked:\n", "            elif False:\n", ("tests/cluster/test_notifications.py",),
    ),
    Mutant(
        "a command that a hanging node didn't get is waited for until the client gives up", "P7",
        "services/gateway/games/command_tracking.py",
        "            elif progress.level is None:", "            elif False:", ("tests/gateway/test_lost_reply.py",),
    ),
    Mutant(
        "a remote player that fails at the end stays in its rank", "P8", "services/trains_server/remote_tournament.py",
        "tuple(seat for seat in rank if seat not in failed)", "tuple(rank)", ("tests/trains_server/test_protocol.py",),
    ),
    Mutant(
        "a remote player that fails at its last cards is counted", "CONDUCT-2", "services/trains_server/remote_tournament.py",
        "    if not removed:\n", "    if True:\n", ("tests/trains_server/test_course_referee.py",),
    ),
    Mutant(
        "a remote player that is silent ends the tournament", "P8", "services/trains_server/remote_tournament.py",
        "        return Leave()\n", "        raise\n", ("tests/trains_server/test_fuzzed_peers.py",),
    ),
    Mutant(
        "a remote player's value may be as long as it likes", "P9", "services/trains_server/peer_connection.py",
        "if (end or len(self._buffer)) > max_bytes:", "if False:", ("tests/trains_server/test_json_stream.py",),
    ),
)  # fmt: skip
