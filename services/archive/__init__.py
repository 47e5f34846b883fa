"""Finished games outside of the engine. `game_file` is the format of one and the server's signature, `store` where the files
are, `recovery` what can be read of a damaged one. No rules here."""

from services.archive.game_file import (
    MAX_FILE_BYTES,
    PUBLIC_KEY_HEX,
    GameFile,
    GameFileError,
    Signer,
    TrustedKey,
    TrustedKeys,
    build_statement,
    decode_game_file,
    encode_game_file,
    is_signed,
    trusted_keys,
)
from services.archive.store import Archive, ArchiveUnavailableError

__all__ = [
    "MAX_FILE_BYTES", "Archive", "ArchiveUnavailableError", "GameFile", "Signer", "GameFileError", "is_signed", "decode_game_file", "build_statement",
    "encode_game_file", "PUBLIC_KEY_HEX", "TrustedKey", "TrustedKeys", "trusted_keys",
]  # fmt: skip
