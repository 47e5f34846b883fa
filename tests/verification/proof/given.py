"""Game files for the one-file verifier, which is loaded from its path, without the package."""

from __future__ import annotations

import sys
import zlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from json import loads
from pathlib import Path
from typing import Any

import msgpack

from services.archive import decode_game_file, encode_game_file
from services.verification.replay import reseal_log
from tests.golden.record import Recorder
from tests.golden.scenarios import SCENARIOS
from tests.verification.audit.small_server import SIGNER

ROOT = Path(__file__).parents[3]
VERIFIER = ROOT / "deploy" / "verify_game.py"
FILE_MAGIC = b"ledgerline/log/1\n"


def _loaded() -> Any:
    spec = spec_from_file_location("verify_game", VERIFIER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


verify_game: Any = _loaded()


@cache
def played(scenario: str) -> bytes:
    """The file of this scenario's game, played under the current rules."""
    recorder = Recorder(scenario, SCENARIOS[scenario])
    recorder.play()
    return as_file(scenario, recorder.log)


def as_file(game: str, log: Sequence[bytes]) -> bytes:
    steps = list(reseal_log(game, log))
    entries, heads = [step.sealed.entry for step in steps], [step.sealed.head for step in steps]
    return encode_game_file(game, entries, heads, SIGNER)


@cache
def golden_file(path: Path) -> bytes:
    """The file of a golden game."""
    return as_file(path.stem, [b64decode(line) for line in loads(path.read_text())["log"]])


def repacked(file: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with some fields changed, compressed and with its digest like a good one."""
    fields = decode_game_file(file).stored_fields()
    change(fields)
    return compressed(msgpack.packb(fields))


def compressed(packed: bytes) -> bytes:
    data = FILE_MAGIC + zlib.compress(packed, 1)
    return data + sha256(data).digest()


def decompressed(file: bytes) -> bytes:
    return zlib.decompress(file[len(FILE_MAGIC) : -32])


def first_found(file: bytes) -> tuple[int | None, str] | None:
    """The verifier's first finding: the entry's number and the reason. None if the file is good."""
    findings = verify_game.verify(file)["findings"]
    return (findings[0]["entry"], findings[0]["why"]) if findings else None
