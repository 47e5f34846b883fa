"""Clients that generators make of the OpenAPI document: one in Python and one in TypeScript play whole games.

Who writes a client by hand sees what a schema means; a generator leaves out what it doesn't know, or raises at it.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

ROOT: Final = Path(__file__).parents[2]
NODE: Final = Path(sys.executable).with_name("node")
MODULES: Final = ROOT / "node_modules"  # make check installs them
MAX_COMMANDS: Final = 2_000  # of a game; one of two has a hundred
FEW_CARS, LEAST_CLAIMS = 20, 6  # of a short game, which has every kind of command
PACKAGE: Final = "generated_client"
NO_JSON: Final = {
    "application/vnd.ledgerline.game": "application/octet-stream",
    "image/svg+xml": "text/html",
    "application/x-ndjson": "text/html",
}  # fmt: skip - that is how the generator calls bytes and text
PROGRAM: Final = """
import type { components, paths } from "./api";

declare const process: { argv: string[] };
type Schemas = components["schemas"];
type Json<R> = R extends { content: { "application/json": infer A } } ? A : never;
type Get<P extends keyof paths> = paths[P] extends { get: { responses: { 200: infer R } } } ? Json<R> : never;

const url = process.argv[2];

async function call<A>(path: string, token?: string, body?: object): Promise<A> {
  const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const reply = await fetch(url + path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as A;
}

const seats: Schemas["CreateGameRequest"]["seats"] = [{ kind: "human" }, { kind: "human" }];
const plan: Schemas["CreateGameRequest"] = { ruleset: "usa", seats, options: { cars: 20 } };
const created = await call<Schemas["GameCreated"]>("/v1/games", undefined, plan);
const game = `/v1/games/${created.game}`;
const tokens: Record<number, string> = {};
for (const name of ["Ada", "Bo"]) {
  const body: Schemas["JoinRequest"] = { name };
  const joined = await call<Schemas["SeatJoined"]>(`${game}/join`, undefined, body);
  tokens[joined.seat] = joined.token;
}
await call<Schemas["GameStarted"]>(`${game}/start`, created.token, {});
let claims = 0;
for (;;) {
  const table = await call<Get<"/v1/games/{game}/state">>(`${game}/state`);
  if (table.status === "over") break;
  for (const seat of table.seats.filter((each) => each.choice !== null)) {
    const token = tokens[seat.seat];
    const { commands } = await call<Get<"/v1/games/{game}/legal">>(`${game}/legal`, token);
    const asked = commands.map((each) => each.command);
    const command: Schemas["PlayerCommand"] | undefined = asked.find((each) => each.type === "claim_route") ?? asked[0];
    if (command === undefined) continue;
    if (command.type === "claim_route") {
      claims += Object.values(command.cards).reduce((sum: number, count: number) => sum + count, 0) > 0 ? 1 : 0;
    }
    const accepted = await call<Schemas["CommandAccepted"]>(`${game}/commands`, token, command);
    const number: number = accepted.number;
    if (number <= table.number) throw new Error("an entry came before the one that the table shows");
  }
}
console.log(claims);
"""
WRONG_LINE: Final = 'const wrong: Schemas["Command_claim_route"]["cards"] = { blue: "two" };\n'


@pytest.fixture(scope="module")
def document(http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clients") / "openapi.json"
    path.write_bytes(http.get("/openapi.json").content)
    return path


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"},  # it formats with ruff
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class GeneratedClient:
    """The package that openapi-python-client made, and what it sends to a server."""

    def __init__(self, url: str) -> None:
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self._client = importlib.import_module(f"{PACKAGE}.client")
        self._url = url
        self.statuses: Counter[int] = Counter()

    def call(self, name: str, token: str | None = None, **arguments: Any) -> Any:
        """The model that an operation's answer is read as."""
        options = {
            "base_url": self._url,
            "timeout": httpx.Timeout(120.0),
            "httpx_args": {"trust_env": False},
            "verify_ssl": False,  # loading certificates took nine tenths of a call
        }
        client = (
            self._client.AuthenticatedClient(token=token, **options)
            if token
            else self._client.Client(**options)
        )
        operation = importlib.import_module(f"{PACKAGE}.api.{name}")
        with client:
            reply = operation.sync_detailed(client=client, **arguments)
        self.statuses[int(reply.status_code)] += 1
        assert reply.status_code < 300, reply.content
        assert reply.parsed is not None, f"{name}: the client reads no answer {reply.status_code}"
        return reply.parsed


@pytest.fixture(scope="module")
def package(document: Path) -> Path:
    """The folder of the client in Python, which is generated without a warning."""
    folder = document.parent
    overrides = "".join(f"  {media_type}: {known}\n" for media_type, known in NO_JSON.items())
    (folder / "config.yml").write_text(f"content_type_overrides:\n{overrides}", encoding="utf-8")
    made = run(
        sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--meta", "none", "--config",
        "config.yml", "--output-path", folder / PACKAGE, "--fail-on-warning", "--overwrite", folder=folder,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


@pytest.fixture
def generated(package: Path, http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> GeneratedClient:
    monkeypatch.syspath_prepend(package)
    return GeneratedClient(str(http.base_url))


@pytest.mark.long
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("ruleset", ["usa", "europe", "tricks"])
def test_a_generated_client_in_python_plays_a_whole_game(generated: GeneratedClient, ruleset: str) -> None:
    models, call = generated.models, generated.call
    # given: a game of two seats, which the client creates, joins and starts
    seats, short = (3, {}) if ruleset == "tricks" else (2, {"options": {"cars": FEW_CARS}})
    body = models.CreateGameRequest.from_dict(
        {"ruleset": ruleset, "seats": [{"kind": "human"}] * seats, **short}
    )
    created = call("games.create_v1_games_post", body=body)
    game, tokens = created.game, {}
    for name in ["Ada", "Bo", "Cy"][: len(body.seats)]:
        joined = call("games.join_v1_games_game_join_post", game=game, body=models.JoinRequest(name=name))
        tokens[joined.seat] = joined.token
    call("games.start_v1_games_game_start_post", created.token, game=game)
    # when: each seat sends a command that it read, until the game is over
    sent: Counter[str] = Counter()
    while (acting := seats_to_act(generated, game)) and sent.total() < MAX_COMMANDS:
        for seat in acting:
            table = call("tables.state_v1_games_game_state_get", tokens[seat], game=game)
            assert table.viewer == seat
            legal = call("tables.legal_v1_games_game_legal_get", tokens[seat], game=game)
            if not legal.commands:
                continue
            chosen = max(legal.commands, key=lambda each: each.command.type_ == "claim_route").command
            accepted = call("play.command_v1_games_game_commands_post", tokens[seat], game=game, body=chosen)
            assert accepted.verdict == "accepted"
            sent[chosen.type_] += 1
    # then: none was refused, and every page of the view is read
    table = call("tables.state_v1_games_game_state_get", game=game)
    assert (table.status, {*generated.statuses}) == ("over", {200, 201})
    assert len(table.result) == len(tokens)
    if ruleset != "tricks":
        assert sent["claim_route"] > LEAST_CLAIMS
    view = call("play.view_v1_games_game_view_get", tokens[0], game=game)
    assert view.entries[-1].events
    call("tables.rulesets_v1_rulesets_get")


def seats_to_act(generated: GeneratedClient, game: str) -> list[int]:
    """The seats that the game waits for, as the public sees them."""
    table = generated.call("tables.state_v1_games_game_state_get", game=game)
    return [seat.seat for seat in table.seats if seat.choice is not None]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_program_of_generated_types_in_typescript_plays_a_whole_game(
    document: Path, http: httpx.Client
) -> None:
    folder = document.parent
    made = run(
        NODE, MODULES / "openapi-typescript/bin/cli.js", document, "-o", folder / "api.d.ts", folder=folder
    )
    assert made.returncode == 0, made.stderr
    options = "--strict --noEmit --target es2023 --lib es2023,dom --module esnext --moduleResolution bundler"
    check = (NODE, MODULES / "typescript-7/bin/tsc", *options.split(), "program.ts")
    # given: a program that the compiler accepts, though not with a line that is wrong
    (folder / "program.ts").write_text(PROGRAM + WRONG_LINE, encoding="utf-8")
    assert "Type 'string' is not assignable to type 'number'" in run(*check, folder=folder).stdout
    (folder / "program.ts").write_text(PROGRAM, encoding="utf-8")
    checked = run(*check, folder=folder)
    assert checked.returncode == 0, checked.stdout
    # when: Node runs it, which leaves the types out
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    played = run(NODE, "program.ts", http.base_url, folder=folder)
    # then: it ends, so no command was refused
    assert played.returncode == 0, played.stderr
    assert int(played.stdout) > LEAST_CLAIMS
