"""Finished games outside of the engine. `files` is the form of one, `store` where they lie,
`views` what each viewer was shown of one. Nobody here knows a rule."""

from services.archive.game_file import FILE_MOST, GameFile, Unreadable, read_file, statement, write_file
from services.archive.signing import Signer, is_signed
from services.archive.store import Archive, ArchiveAway

__all__ = [
    "FILE_MOST", "Archive", "ArchiveAway", "GameFile", "Signer", "Unreadable", "is_signed", "read_file", "statement",
    "write_file",
]  # fmt: skip
