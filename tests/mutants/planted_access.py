"""Planted bugs in who may watch a game, how late, and who may take its seats."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

ACCESS: Final = ("tests/rules/test_access.py",)
PRIVATE: Final = ("tests/security/test_private_tables.py", "tests/security/test_token_matrix.py")
LISTED: Final = ("tests/referee/test_eviction.py", *PRIVATE)
QUOTAS: Final = ("tests/security/test_quotas.py",)
TABLES: Final = ("tests/gateway/test_tables.py",)
FREED: Final = ("tests/rules/test_freed_seats.py",)
FREED_OVER_HTTP: Final = ("tests/gateway/test_freed_seats.py",)
FREED_PROOF: Final = ("tests/verification/audit/test_freed_seats.py",)

ACCESS_MUTANTS: Final = (
    Mutant(
        "who takes a freed seat has the secret of who sat there before", "P6", "services/referee/games/shuffle.py",
        'again = b"\\0" + times_freed.to_bytes(8, "big") if times_freed else b""', 'again = b""', FREED,
    ),
    Mutant(
        "a bot in a freed seat has the secret of the bot before", "P6", "services/referee/games/fair_randomness.py",
        'derive_seat_secret(seed, seat, "" if policy else game, times_freed)',
        'derive_seat_secret(seed, seat, "" if policy else game, 0 if policy else times_freed)', FREED,
    ),
    Mutant(
        "the next holder believes any secret", "P6", "services/referee/games/proof/view_verifier.py",
        "if self.seat_secret in self.former_secrets:", "if False:", FREED_PROOF,
    ),
    Mutant(
        "a freed seat is taken at once", "security", "services/referee/games/seat_changes.py",
        "not seat_state.times_freed or state.at_ms >= seat_state.freed_at_ms + FREED_SEAT_RESTS_MS", "True", FREED,
    ),
    Mutant(
        "the contribution of who sat there stays", "P6", "services/referee/games/appliers.py",
        "seat_state.seat_secret = seat_state.contribution = None", "seat_state.seat_secret = None", FREED,
    ),
    Mutant(
        "who sat there sends on", "security", "services/referee/games/decide.py",
        "if seat is not None and not creates and state.seats[seat].times_freed and not state.seats[seat].is_seated:", "if False:", FREED,
    ),
    Mutant(
        "the token of who sat there opens the seat", "security", "services/referee/command_processor.py",
        "            self.ledger.record_freed_seat(game, freed.seat, times_freed)\n", "", FREED_OVER_HTTP,
    ),
    Mutant(
        "who sat there joins again under its id, and gets the next holder's token", "security",
        "services/gateway/games/authorization.py", "for entry in entries) < times_freed:", "for entry in entries) < 0:", FREED_OVER_HTTP,
    ),
    Mutant(
        "the invitation of who sat there opens the seat", "security", "services/gateway/games/authorization.py",
        "is_void = invitation.times_freed < freed.get(invitation.seat, 0)", "is_void = False", FREED_OVER_HTTP,
    ),
    Mutant(
        "the webhook of who sat there stays", "security", "services/gateway/routes/games.py",
        "    await service.ledger.webhooks().remove(game, seat)\n", "", FREED_OVER_HTTP,
    ),
    Mutant(
        "a seat frees another", "security", "services/gateway/routes/games.py",
        "if holder.seat is not None:", "if False:", FREED_OVER_HTTP,
    ),
    Mutant(
        "a seat is freed that has seen its hand", "security", "services/referee/games/seat_changes.py",
        "state.fork_origin is not None or bool(state.ruleset.is_laid(state))", "False", FREED,
    ),
    Mutant(
        "a game for its players alone is shown to everybody", "security", "services/gateway/games/game_views.py",
        '        if (await self.creations.find(game)).access.visibility == "players":\n', "        if False:\n", PRIVATE,
    ),
    Mutant(
        "a game for its players alone is for everybody in the archive", "security",
        "services/gateway/games/game_creations.py",
        "        entries = entries or await self._finished_games.read_view(game, None) or ()\n", "", PRIVATE,
    ),
    Mutant(
        "what another seat saw is shown while the game goes on", "security", "services/gateway/games/game_views.py",
        "        if not await self.is_over(game, location):\n            raise NotYours", "        if False:\n            raise NotYours", TABLES,
    ),
    Mutant(
        "a game that isn't public is listed", "security", "services/ledger/log/event_store.py",
        "keys.games(partition) if is_listed else keys.unlisted_games(partition),", "keys.games(partition),", LISTED,
    ),
    Mutant(
        "an unlisted game stays in its set when it is evicted", "P9", "services/ledger/log/game_indexes.py",
        "        keys.unlisted_games(partition),\n        keys.archived_lengths(partition),\n",
        "        keys.games(partition),\n        keys.archived_lengths(partition),\n", LISTED,
    ),
    Mutant(
        "a game is public unless its creator says otherwise", "security", "services/gateway/games/service.py",
        'DEFAULT_VISIBILITY: Final = "unlisted"', 'DEFAULT_VISIBILITY: Final = "public"', PRIVATE,
    ),
    Mutant(
        "spectators read a page at once", "P5", "services/gateway/games/game_views.py",
        "        if not access.spectator_delay:\n", "        if True:\n", PRIVATE,
    ),
    Mutant(
        "spectators' sockets aren't late", "P5", "services/gateway/sockets/followed_view.py",
        "delay_entries(followed, delay) if delay else followed", "followed", PRIVATE,
    ),
    Mutant(
        "a spectator is sent new entries directly", "P5", "services/gateway/sockets/followed_view.py",
        "        if delay or folds or table:", "        if folds or table:", PRIVATE,
    ),
    Mutant(
        "a spectator's socket says where the log really is", "P5", "services/gateway/games/game_views.py",
        "        if length == latest.sequence:\n", "        if True:\n", PRIVATE,
    ),
    Mutant(
        "spectators never see the end of a page", "security", "schemas/game_options.py",
        "        return length if is_over else max(", "        return max(", (*PRIVATE, *ACCESS),
    ),
    Mutant(
        "spectators' sockets never send the end", "security", "services/gateway/sockets/followed_view.py",
        "        kept = 0 if entry.ends_game else delay\n", "        kept = delay\n", PRIVATE,
    ),
    Mutant(
        "a fork shows a later state than everybody is shown", "P5", "services/referee/games/trains/setup/fork.py",
        "    require(command.at <= visible,", "    require(command.at <= len(log),", (*ACCESS, *PRIVATE),
    ),
    Mutant(
        "a fork is public", "security", "services/referee/games/trains/setup/fork.py",
        "            **state.access.of_fork().fields(),\n", "", (*ACCESS, *PRIVATE),
    ),
    Mutant(
        "anybody takes a seat in a fork of a game for its players alone", "security", "schemas/game_options.py",
        'by_invitation=self.by_invitation or self.visibility == "players")', "by_invitation=self.by_invitation)",
        (*ACCESS, *PRIVATE),
    ),
    Mutant(
        "a play-off is public", "security", "services/referee/games/play_off.py",
        "        **state.access.fields(),\n", "", ACCESS,
    ),
    Mutant(
        "a game's access is set again", "P6", "services/referee/games/proof/public_verifier.py",
        "isinstance(event, AccessSet | GameForked)", "isinstance(event, GameForked)", ACCESS,
    ),
    Mutant(
        "a seat is taken without an invitation", "security", "services/gateway/games/authorization.py",
        "            if (await self._creations.find(game)).access.by_invitation:\n", "            if False:\n", PRIVATE,
    ),
    Mutant(
        "an invitation is to the first free seat", "security", "services/gateway/games/authorization.py",
        "        return replace(command, seat=seat)\n", "        return command\n", PRIVATE,
    ),
    Mutant(
        "an invitation is to any game", "security", "services/gateway/games/authorization.py",
        "        if invitation.game != game:\n", "        if False:\n", PRIVATE,
    ),
    Mutant(
        "an invitation never ends", "security", "services/gateway/games/authorization.py",
        "if is_void or invitation.ends_at_s <= self._wall_clock_s():", "if is_void:", PRIVATE,
    ),
    Mutant(
        "anybody's signature makes an invitation", "security", "schemas/web/tokens.py",
        "            or not hmac.compare_digest(signature.encode(), _sign(key, prefix, claim).encode())\n",
        "", PRIVATE,
    ),
    Mutant(
        "a creator who asks from elsewhere has no quota", "P9", "services/gateway/routes/games.py",
        "    elif bearer:\n", "    elif False:\n", QUOTAS,
    ),
    Mutant(
        "forks of one's own forks are another's", "P9", "services/gateway/games/open_games.py",
        "        counted = [self._first_creators.get(creator, creator) for creator in creators]\n",
        "        counted = [*creators]\n", QUOTAS,
    ),
)  # fmt: skip
