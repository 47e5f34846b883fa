"""Planted bugs of the limits on strangers: each opens one of the attacks of tests/security/test_floods.py."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

FLOODS: Final = ("tests/security/test_floods.py",)
OTHER_SITES: Final = ("tests/security/test_other_sites.py",)
QUOTAS: Final = ("tests/security/test_quotas.py",)

BUDGETS: Final = ("tests/security/test_command_budgets.py",)

FLOOD_MUTANTS: Final = (
    Mutant(
        "an address may fill the referees' queues", "P8", "services/gateway/games/client_limits.py",
        "            if account.places.taken >= MAX_UNANSWERED:\n", "            if False:\n", BUDGETS,
    ),
    Mutant(
        "refused commands cost nothing", "P8", "services/gateway/games/client_limits.py",
        "            self._budgets.rate_limiter.spend(account.budget)\n", "            pass\n", BUDGETS,
    ),
    Mutant(
        "who waits for no verdict has its place back", "P8", "services/gateway/games/service.py",
        "                progress = await self.command_tracker.resume(envelope, self.parse_ack_request(None, None))\n",
        "                return\n", BUDGETS,
    ),
    Mutant(
        "pongs wait for a client that never reads", "P8", "services/fast_path/server_connections.py",
        "        if self.writable.is_set():\n", "        if True:\n", FLOODS,
    ),
    Mutant(
        "a closing waits until the client reads", "P8", "services/fast_path/server_connections.py",
        "        if message[\"type\"] != \"websocket.close\" or", "        if True or", FLOODS,
    ),
    Mutant(
        "messages wait without limit for a slow client", "P8", "services/fast_path/server_connections.py",
        "        if self.transport.get_write_buffer_size() > self.limits.unsent_bytes:", "        if False:", FLOODS,
    ),
    Mutant(
        "pings aren't counted", "P8", "services/fast_path/server_connections.py",
        "until the client reads on.\"\"\"\n        if not self._count_frame():\n            return\n",
        "until the client reads on.\"\"\"\n", FLOODS,
    ),
    Mutant(
        "an address may have any number of connections", "P8", "services/runtime/connection_limits.py",
        "        if self.by_address[address] >= self.most_per_address and", "        if False and", FLOODS,
    ),
    Mutant(
        "connections that ended still count", "P8", "services/fast_path/server_connections.py",
        'doesn\'t learn of its end."""\n        self.open_connections.close(self.peer)\n', 'doesn\'t learn of its end."""\n', FLOODS,
    ),
    Mutant(
        "half of a header is waited for without end", "P8", "services/fast_path/server_connections.py",
        "        if refused is None:\n            self._set_deadline(self.limits.header_s)\n",
        "        if refused is None:\n            pass\n", FLOODS,
    ),
    Mutant(
        "half of a body is waited for without end", "P8", "services/fast_path/server_connections.py",
        "        self._set_deadline(self.limits.body_s)\n", "        self._clear_deadline()\n", FLOODS,
    ),
    Mutant(
        "senseless messages have no rate", "P8", "services/gateway/sockets/websocket_session.py",
        "                self.service.rate_limiter.require(self._counted_as)\n", "                pass\n", FLOODS,
    ),
    Mutant(
        "reads have no rate", "P8", "services/gateway/web/request_middleware.py",
        "        if scope[\"method\"] == COMMAND_METHOD:\n", "        if True:\n", FLOODS,
    ),
    Mutant(
        "X-Forwarded-For is believed from this machine", "P8", "services/gateway/server.py",
        "[str(network) for network in settings.proxies or ()]", '"127.0.0.0/8"',
        ("tests/security/test_forwarded_for.py",),
    ),
    Mutant(
        "the last of two equal keys counts", "P8", "services/gateway/web/request_parsing.py",
        "    if len(fields) == len(pairs):\n", "    if True:\n", OTHER_SITES,
    ),
    Mutant(
        "a body may be in UTF-16", "P8", "services/gateway/web/request_parsing.py",
        "else text.decode()", "else text", OTHER_SITES,
    ),
    Mutant(
        "a page of another site may create games", "P8", "services/gateway/routes/dependencies.py",
        "    require_json_type(request.headers.get(\"content-type\"), request.headers.get(\"origin\"))\n", "", OTHER_SITES,
    ),
    Mutant(
        "pages of any site open sockets", "P8", "services/gateway/routes/play.py",
        " and origin not in origins:", " and not origin:", OTHER_SITES,
    ),
    Mutant(
        "an address may create any number of games", "P9", "services/gateway/games/open_games.py",
        "                if await self._count(creator, game, bytes_at_most):\n", "                if False:\n", QUOTAS,
    ),
    Mutant(
        "games take any number of bytes", "P9", "services/gateway/games/open_games.py",
        "        return sum(game.stored_bytes for game in self.by_id.values())\n", "        return 0\n", QUOTAS,
    ),
    Mutant(
        "games are created until the engine is full", "P9", "services/ledger/operations/backlog_queries.py",
        "self.used >= FULL_SHARE * self.most", "self.used >= self.most", QUOTAS,
    ),
    Mutant(
        "games that are over count as open", "P9", "services/gateway/games/open_games.py",
        "                counted.is_over = await self._finished_games.is_over(id_)\n", "                pass\n", QUOTAS,
    ),
    Mutant(
        "a game that never started stays as long as others", "P9", "services/referee/decision_building.py",
        "            return EvictAt(unstarted_eviction_ms)\n", "            return EvictAt(ended_eviction_ms)\n",
        ("tests/referee/test_eviction.py",),
    ),
)  # fmt: skip
