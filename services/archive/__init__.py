"""Finished games outside of the engine. `game_file` is the format of one, `store` where the files
are, `recovery` what can be read of a damaged one, `signing` the server's signature and whose is believed. No rules here."""

from services.archive.game_file import (
    MAX_FILE_BYTES,
    GameFile,
    GameFileError,
    build_statement,
    decode_game_file,
    encode_game_file,
)
from services.archive.signing import PUBLIC_KEY_HEX, Signer, TrustedKey, TrustedKeys, is_signed, trusted_keys
from services.archive.store import Archive, ArchiveUnavailableError

__all__ = [
    "MAX_FILE_BYTES", "Archive", "ArchiveUnavailableError", "GameFile", "Signer", "GameFileError", "is_signed", "decode_game_file", "build_statement",
    "encode_game_file", "PUBLIC_KEY_HEX", "TrustedKey", "TrustedKeys", "trusted_keys",
]  # fmt: skip
