"""Finished games outside of the engine. `files` is the form of one, `store` where they lie,
`views` what each viewer was shown of one. Nobody here knows a rule."""

from services.archive.game_file import (
    MAX_FILE_BYTES,
    GameFile,
    GameFileError,
    build_statement,
    decode_game_file,
    encode_game_file,
)
from services.archive.signing import Signer, is_signed
from services.archive.store import Archive, ArchiveUnavailableError

__all__ = [
    "MAX_FILE_BYTES", "Archive", "ArchiveUnavailableError", "GameFile", "Signer", "GameFileError", "is_signed", "decode_game_file", "build_statement",
    "encode_game_file",
]  # fmt: skip
