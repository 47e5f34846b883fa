"""The machine that the benchmarks ran on; the figures mean nothing without it."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from services.compiled_rules import rules_form
from services.ledger.engine.connection import connect
from tests.bench.games import fresh_engine

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("redis", "msgpack", "pydantic", "uvloop", "websockets", "eventsourcing", "chess")


def machine_info() -> dict[str, Any]:
    commit = _git("rev-parse", "--short=12", "HEAD")
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": f"{commit}, with changes" if _git("status", "--porcelain", "-uno") else commit,
        "python": platform.python_version(),
        "rules": str(rules_form()),
        "engine": _engine(),
        "cpus": os.cpu_count(),
        "cpu": _cpu(),
        "system": platform.platform(),
        "load_before": os.getloadavg()[0],
        "packages": {name: version(name) for name in PEERS},
    }


def _git(*asked: str) -> str:
    done = subprocess.run(["git", *asked], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or ("" if done.returncode == 0 else "unknown")


def _engine() -> str:
    with fresh_engine() as url:
        info: Any = connect(url).info("server")
    return (
        f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info['redis_version']}"
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown")
