"""Planted bugs of the archive: a game that leaves the engine too early or never, or is overwritten."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

ARCHIVING: Final = ("tests/auditor/test_archive_job.py",)
MARKS: Final = ("tests/auditor/test_archive_index.py",)
TOGETHER: Final = ("tests/auditor/test_archived_together.py",)
JOBS: Final = ("tests/auditor/test_jobs.py",)
SERVER: Final = ("tests/auditor/test_whole_server.py",)
FILES: Final = ("tests/ledger_contract/test_game_files.py",)
FOLLOWED: Final = ("tests/gateway/test_finished_pages.py",)
STORED: Final = ("tests/auditor/test_stored_games.py",)

ARCHIVE_MUTANTS: Final = (
    Mutant(
        "what was written isn't read back", "P9", "services/auditor/archive_job.py",
        "if archive.read(game) != data:", "if False:", ARCHIVING,
    ),
    Mutant(
        "another game in the archive is overwritten", "P6", "services/auditor/archive_job.py",
        "        _require_continuation(archived, decode_game_file(data).entries)", "        pass", ARCHIVING,
    ),
    Mutant(
        "heads aren't compared before they are signed", "P6", "services/ledger/log/game_indexes.py",
        "with_heads(game, entries)", 'with_heads(game, [(number, public, b"") for number, public, _ in entries])', ARCHIVING,
    ),
    Mutant(
        "a finished game is evicted before it is archived", "P9", "services/referee/worker.py",
        "self.read_archived_length(game) != length", "False", ARCHIVING,
    ),
    Mutant(
        "a mark makes a game stay longer", "P9", "services/ledger/log/game_indexes.py",
        "xx=True, lt=True", "xx=True", MARKS,
    ),
    Mutant(
        "a mark evicts a running game", "P10", "services/ledger/log/game_indexes.py",
        "xx=True, lt=True", "lt=True", MARKS,
    ),
    Mutant(
        "the mark stays when the game is evicted", "P9", "services/ledger/scripts/lua/evict_game.lua",
        "for k = 2, 8 do", "for k = 2, 5 do", MARKS,
    ),
    Mutant(
        "streams go although the log went on", "P7", "services/ledger/scripts/lua/remove_streams.lua",
        "if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[2]) then", "if false then", FILES,
    ),
    Mutant(
        "streams go although the head moved", "P7", "services/ledger/scripts/lua/remove_streams.lua",
        "if redis.call('GET', KEYS[5]) ~= ARGV[2] .. ' ' .. ARGV[3] then", "if false then", FILES,
    ),
    Mutant(
        "streams go although the file isn't the one that was checked", "P7", "services/ledger/scripts/lua/remove_streams.lua",
        "if redis.call('GET', KEYS[3]) ~= ARGV[4] then", "if false then", FILES,
    ),
    Mutant(
        "a game that has its file alone is created again", "P2", "services/ledger/scripts/lua/append_entry.lua",
        "if length == 0 and redis.call('EXISTS', KEYS[10]) == 1 then", "if false then", FILES,
    ),
    Mutant(
        "streams go for a file that was never compared with them", "P7", "services/referee/worker.py",
        "elif not _is_made_of(stored, game, game_log):", "elif False:", STORED,
    ),
    Mutant(
        "a file is stored though its views don't follow from it", "P7", "services/auditor/archive_job.py",
        "        reconstruct(game, decode_game_file(data))\n", "", STORED,
    ),
    Mutant(
        "what was stored in the engine isn't read back", "P7", "services/auditor/archive_job.py",
        "if read_back is None or read_back.data != data:", "if False:", STORED,
    ),
    Mutant(
        "a view lacks private parts whose stream went while it was read", "P5", "services/ledger/log/views.py",
        "if may_end and not next(replies):", "if may_end and next(replies) == 0:", FILES,
    ),
    Mutant(
        "a file continues another branch than was delivered", "P3", "services/gateway/following/hub.py",
        "if after and head and view[after - 1].shown.head not in (head, b\"\"):", "if False:", FOLLOWED,
    ),
    Mutant(
        "a verdict of a game that is one value isn't found", "P2", "services/gateway/games/finished_games.py",
        "return rule in NO_STREAMS_RULES and not", "return False and not", ("tests/gateway/test_stored_games.py",),
    ),
    Mutant(
        "streams go before the play-off has begun", "P10", "services/referee/worker.py",
        "if ledger.has_deadline(game):", "if False:", STORED,
    ),
    Mutant(
        "a killed auditor's job is never retried", "P7", "services/auditor/worker.py",
        "clean_registries(queue, [_log_failure])", "pass", JOBS,
    ),
    Mutant(
        "what a job of several games has done is done again", "P7", "services/auditor/archive_job.py",
        "        if is_done(context, idle):\n            continue\n", "", TOGETHER,
    ),
    Mutant(
        "a game that ends its worker holds up those that are due with it", "P8", "services/auditor/archive_job.py",
        "if context.tries or not _try", "if not _try", TOGETHER,
    ),
    Mutant(
        "the queue of jobs has no bound", "P9", "services/auditor/job_queue.py",
        "if queue.count >= self.max_waiting:", "if False:", JOBS,
    ),
    Mutant(
        "a game in the archive is created again under its id", "P2", "services/gateway/games/service.py",
        "return (entries[0], str(DECIDED)) if entries else None", "return None", SERVER,
    ),
)  # fmt: skip
