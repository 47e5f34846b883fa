"""Planted bugs of security: each opens one of the attacks of tests/security."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.planted_webhooks import WEBHOOK_MUTANTS

LONGEST_TRAIL: Final = ("tests/rules/test_longest_trail.py",)
HOSTILE_FILES: Final = ("tests/security/test_hostile_files.py",)
UNREADABLE_BOARD: Final = ("tests/referee/test_unreadable_board.py",)
OWN_BOARDS: Final = ("tests/security/test_own_boards.py",)
DECISION_LIMIT: Final = ("tests/referee/test_decision_limit.py",)
CREDENTIALS: Final = ("tests/security/test_credentials.py",)
FOREIGN_SIGNATURES: Final = ("tests/security/test_foreign_signatures.py",)
ENGINE_USERS: Final = ("tests/security/test_engine_users.py",)
TOKEN_KEYS: Final = ("tests/security/test_token_keys.py",)
TOKEN_MATRIX: Final = ("tests/security/test_token_matrix.py",)
GENERATED_REQUESTS: Final = ("tests/security/test_generated_requests.py",)
FOREIGN_TEXT: Final = ("tests/security/test_foreign_text.py",)

SECURITY_MUTANTS: Final = (
    *WEBHOOK_MUTANTS,
    Mutant(
        "a named seed alone deals to people", "security", "services/referee/decision_building.py",
        "    return replace(envelope, command=replace(command, seed=None)), mixed\n", "    return envelope, seed\n",
        ("tests/security/test_named_seeds.py",),
    ),
    Mutant(
        "a named seed is mixed where bots alone play", "security", "services/referee/decision_building.py",
        ' or all(plan.kind == "bot" for plan in command.seats)', "", ("tests/security/test_named_seeds.py",),
    ),
    Mutant(
        "a token key may be short", "security", "schemas/web/tokens.py",
        "        if len(key) < MIN_KEY_CHARACTERS:\n", "        if not key:\n", TOKEN_KEYS,
    ),
    Mutant(
        "any key is taken for the one that a token names", "security", "schemas/web/tokens.py",
        "        key = self._by_id.get(key_id)\n", "        key = self.keys[0]\n", TOKEN_KEYS,
    ),
    Mutant(
        "the document lacks a status", "security", "services/gateway/models/openapi.py",
        '    404: _problem_response(404, "GAME-1", "No such game", "there is no game 3f9a1c0b77e2"),\n', "", GENERATED_REQUESTS,
    ),
    Mutant(
        "an entry's number is of any size", "security", "schemas/game_options.py",
        "Field(ge=1, le=2**53)", "Field(ge=1)", ("tests/gateway/test_fork.py",),
    ),
    Mutant(
        "a token opens every game", "security", "services/gateway/games/authorization.py",
        "        if token.holder.game != game:\n", "        if False:\n", TOKEN_MATRIX,
    ),
    Mutant(
        "a seat reads another's dispute", "security", "services/gateway/routes/disputes.py",
        "is_own = (name.game, name.seat, name.times_freed) == (asked.game, *sitter)", "is_own = name.game == asked.game",
        TOKEN_MATRIX,
    ),
    Mutant(
        "a command is of the seat that it names", "security", "services/gateway/games/service.py",
        "            if claimed_seat.__class__ is not int or claimed_seat != seat:\n", "            if False:\n", TOKEN_MATRIX,
    ),
    Mutant(
        "a token has no end", "security", "services/gateway/games/authorization.py",
        "token.has_ended(self._wall_clock_s())", "False", TOKEN_KEYS,
    ),
    Mutant(
        "a withdrawn token is taken", "security", "services/gateway/games/authorization.py",
        "        if token.generation < generations.of(token.holder.seat):\n",
        "        if False:\n", TOKEN_KEYS,
    ),
    Mutant(
        "a gateway never reads again what was withdrawn", "security", "services/gateway/games/authorization.py",
        "        if kept is not None and self._clock_s() < kept[0]:\n", "        if kept is not None:\n", TOKEN_KEYS,
    ),
    Mutant(
        "a socket stays open after its token was withdrawn", "security", "services/gateway/sockets/websocket_session.py",
        "                self._watch_end(commands, opening, leaves),\n", "", TOKEN_KEYS,
    ),
    Mutant(
        "a join is forgotten when keys rotate", "security", "services/gateway/games/command_tracking.py",
        "        others = [command_id, *(_derive_logged_id(key, game, command_id) for key in self._other_keys)]\n",
        "        others = [command_id]\n", TOKEN_KEYS,
    ),
    Mutant(
        "guesses at the longest trail never end", "security", "services/referee/games/trains/search/longest_trail.py",
        "        self.guesses_left -= 1\n", "", (*LONGEST_TRAIL, "tests/security/test_endless_search.py"),
    ),
    Mutant(
        "a sweep takes the cities as they come", "security", "services/referee/games/trains/search/sweeps.py",
        "        city = min(waiting, key=growth)\n", "        city = next(iter(waiting))\n", LONGEST_TRAIL,
    ),
    Mutant(
        "what stations lend isn't bounded", "security", "services/referee/games/trains/setup/validation.py",
        "prod(1 + count for _, count in busiest)", "0", ("tests/rules/test_complexity_limits.py",),
    ),
    Mutant(
        "any number of ticket decks", "security", "services/referee/games/trains/setup/validation.py",
        "comb(named + deck_count - 1, named) if named else 1", "1", ("tests/rules/test_complexity_limits.py",),
    ),
    Mutant(
        "a sweep for the simple path forgets its ends", "security",
        "services/referee/games/trains/search/sweeps.py",
        "2 * arms.get(other, 0) - sum(longest[other][:-1])", "2 * arms.get(other, 0)",
        ("tests/rules/test_longest_path.py",),
    ),
    Mutant(
        "a journey is searched for as long where many ways leave a city", "security",
        "services/referee/games/trains/search/passenger_journeys.py",
        "PRINTED_WALKS if is_printed else MAX_WALKS", "PRINTED_WALKS", ("tests/rules/test_passenger_journeys.py",),
    ),
    Mutant(
        "what lies beyond a bridge is swept with the rest", "security",
        "services/referee/games/trains/search/sweeps.py",
        "        if earliest == visits[city]:", "        if not visits[city]:", LONGEST_TRAIL,
    ),
    Mutant(
        "anybody creates games on boards of their own", "security", "services/gateway/routes/games.py",
        "    if has_own_board(body):\n", "    if False:\n", OWN_BOARDS,
    ),
    Mutant(
        "a fork brings back a board that only the operator may use", "security", "services/gateway/routes/games.py",
        "\n    if (await service.creations.find(game)).has_own_board:\n", "\n    if False:\n", OWN_BOARDS,
    ),
    Mutant(
        "a position isn't a board of one's own", "security", "services/gateway/games/client_limits.py",
        " or body.get(\"position\") is not None", "", OWN_BOARDS,
    ),
    Mutant(
        "a board's file that can't be read stops the referee", "security", "services/referee/games/trains/board.py",
        "    except (OSError, ValueError, RecursionError, InvalidInputError) as error:\n",
        "    except RecursionError as error:\n", UNREADABLE_BOARD,
    ),
    Mutant(
        "a game on a board that can't be read stops the referee", "security",
        "services/referee/games/trains/appliers.py",
        "    except InvalidInputError as error:\n", "    except CorruptDataError as error:\n", UNREADABLE_BOARD,
    ),
    Mutant(
        "nobody interrupts a decision", "security", "services/referee/decision_limit.py",
        "            if self._ticks % TICKS == 0:", "            if self._ticks == 0:", DECISION_LIMIT,
    ),
    Mutant(
        "a decision that was interrupted is tried for ever", "security", "services/referee/command_processor.py",
        "        if delivery.delivery_count >= MAX_INTERRUPTED_DELIVERIES:\n", "        if False:\n", DECISION_LIMIT,
    ),
    Mutant(
        "a game stays in the cache as an interrupted decision left it", "security",
        "services/referee/command_processor.py",
        "        self.game_cache.invalidate(envelope.game)\n        self._interrupted_games.add", "        self._interrupted_games.add",
        DECISION_LIMIT,
    ),
    Mutant(
        "a referee that hangs keeps its lease", "security", "services/runtime/worker_loop.py",
        "        if self._silent_beats >= self._max_silent_beats:\n", "        if False:\n", DECISION_LIMIT,
    ),
    Mutant(
        "a name on the command line is read as markup", "security", "services/cli/output.py",
        "            emoji=False,\n            markup=False,\n            highlight=highlight",
        "            emoji=False,\n            markup=True,\n            highlight=highlight", FOREIGN_TEXT,
    ),
    Mutant(
        "an escape sequence reaches the terminal", "security", "services/cli/output.py",
        "            visible_text(as_pasted(text)),", "            as_pasted(text),", FOREIGN_TEXT,
    ),
    Mutant(
        "an escape sequence reaches a terminal in a traceback", "security", "services/runtime/logging_setup.py",
        ", exception_formatter=_write_traceback", "", FOREIGN_TEXT,
    ),
    Mutant(
        "each passenger of a seat has a search of its own", "security",
        "services/referee/games/trains/search/passenger_journeys.py",
        "share = min(1.0, UNSHARED_BY / passengers)", "share = 1.0", ("tests/rules/test_passenger_journeys.py",),
    ),
    Mutant(
        "a stranger fills the log", "P8", "services/runtime/logging_setup.py",
        "        except structlog.DropEvent:\n            return False\n",
        "        except structlog.DropEvent:\n            return True\n", ("tests/security/test_log_lines.py",),
    ),
    Mutant(
        "play has boards of one's own where nobody may", "security", "services/cli/playing/play.py",
        "        require_own_boards(settings)\n", "        pass\n", ("tests/security/test_own_boards.py",),
    ),
    Mutant(
        "a traceback on a terminal shows variables", "security", "services/runtime/logging_setup.py",
        "    structlog.dev.plain_traceback(buffer, error)\n",
        "    structlog.dev.RichTracebackFormatter(show_locals=True)(buffer, error)\n", FOREIGN_TEXT,
    ),
    Mutant(
        "any value may be an entry of a file", "security", "services/archive/__init__.py",
        "        max_array_len=0,", "        max_array_len=MAX_UNCOMPRESSED_BYTES,", HOSTILE_FILES,
    ),
    Mutant(
        "a file has entries without number", "security", "services/archive/__init__.py",
        "    if count > MAX_ENTRIES:", "    if False:", HOSTILE_FILES,
    ),
    Mutant(
        "a log that no rules create is replayed", "security", "services/verification/replay.py",
        "        if sequence == 1:\n            require_ruled_creation(decision, entry)\n", "", HOSTILE_FILES,
    ),
    Mutant(
        "the header of a foreign entry isn't checked", "security", "schemas/stored/codec.py",
        '        check_header({"at": at, "id": id_, "seat": seat})\n', "",
        HOSTILE_FILES,
    ),
    Mutant(
        "the one-file verifier takes values without number", "security", "deploy/verify_game.py",
        "min(len(data), MAX_VALUES)", "len(data)", HOSTILE_FILES,
    ),
    Mutant(
        "the log holds the key of a join", "security", "services/gateway/games/command_tracking.py",
        "    return LOGGED_ID_PREFIX + hmac.new(key, message, sha256).hexdigest()[:32]\n",
        "    return command_id\n", CREDENTIALS,
    ),
    Mutant(
        "the id in a log is taken for the key that it stands for", "security", "services/gateway/games/command_tracking.py",
        'RESERVED_ID_PREFIXES: Final = ("clock:", "play-off:", LOGGED_ID_PREFIX)',
        'RESERVED_ID_PREFIXES: Final = ("clock:", "play-off:")', CREDENTIALS,
    ),
    Mutant(
        "a join is answered with its token after the end", "security", "services/gateway/games/service.py",
        "        await self.require_unfinished(game, id_)\n", "", CREDENTIALS,
    ),
    Mutant(
        "an explanation shows the key of a join", "security", "services/verification/explanation.py",
        "    return None if entry.seat is None else entry.id\n", "    return entry.id\n", CREDENTIALS,
    ),
    Mutant(
        "an archived game is served whoever signed it", "security", "services/verification/game_repository.py",
        "            for finding in check_signature(file, self.trusted).findings:", "            for finding in ():", FOREIGN_SIGNATURES,
    ),
    Mutant(
        "two signed ends of a game agree", "P6", "services/verification/log_check.py",
        "    if first.head != other.head:\n", "    if False:\n", ("tests/verification/audit/test_export_verify.py",),
    ),
    Mutant(
        "whoever contributed first could have chosen the deal", "P6", "services/verification/deal_check.py",
        "{givers[-1]}", "{givers[0]}", ("tests/verification/proof/test_deal_makers.py",),
    ),
    Mutant(
        "a key is believed for games of any time", "security", "services/archive/__init__.py",
        "            and (self.before_ms is None or created_ms < self.before_ms)", "", FOREIGN_SIGNATURES,
    ),
    Mutant(
        "bots read logs", "security", "deploy/redis/users.acl",
        "  (+xrange %R~{p*}:g:*:public)",
        "  (+xrange %R~{p*}:g:*:public %R~{p*}:g:*:log)", ENGINE_USERS,
    ),
    Mutant(
        "bots bring scripts of their own", "P8", "deploy/redis/users.acl",
        "  (+evalsha ~{p*}:bot-tasks)\n", "  (+eval +evalsha ~{p*}:bot-tasks)\n", ENGINE_USERS,
    ),
    Mutant(
        "a gateway hears the names of all keys", "P5", "deploy/redis/users.acl",
        "-client|tracking -client|caching +config|get", "+config|get", ENGINE_USERS,
    ),
    Mutant(
        "a script that others call is never loaded", "P7", "services/ledger/scripts/lua_scripts.py",
        "    HEARTBEAT, SUBMIT_COMMAND, ", "    HEARTBEAT, ", ("tests/security/test_engine_users.py",),
    ),
    Mutant(
        "a gateway reads what audits found", "security", "deploy/redis/users.acl",
        "  (+hget +hmget +hgetall +hkeys +hset ~{p*}:g:*:disputes:[0-9]*)",
        "  (+hget +hmget +hgetall +hkeys +hset ~{p*}:g:*:disputes:*)", ENGINE_USERS,
    ),
    Mutant(
        "a gateway takes commands from referees", "security", "deploy/redis/users.acl",
        "  (+xadd +xlen %W~{p*}:commands)\n  (+get +del", "  (+xadd +xlen +xreadgroup ~{p*}:commands)\n  (+get +del",
        ENGINE_USERS,
    ),
    Mutant(
        "every user of the engine has one password", "security", "services/cli/operating/keys.py",
        "password_file(folder, user)) for user in users}", "password_file(folder, users[0])) for user in users}",
        ENGINE_USERS,
    ),
)  # fmt: skip
