"""The pages' files: what they may load, whose they are, how long they are. tests/browser plays on them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.datastructures import Headers

from schemas.errors import CorruptDataError, ForeignFileError, InvalidInputError, MissingGameError
from services.archive import decode_game_file
from services.gateway.errors import TooManyError
from services.gateway.routes.pages import Assets, Page
from services.gateway.web.problem_details import install_error_handlers
from services.gateway.web.rate_limit import RateLimiter
from services.gateway.web.request_middleware import ReadLimitMiddleware
from services.ledger import MissingEntryError
from services.ledger.ports import EngineError
from tests.gateway.clients import over

PAGES: Final = Path(__file__).parents[2] / "services" / "gateway" / "pages"
VENDOR: Final = PAGES / "vendor"
OWN: Final = sorted(
    path
    for path in PAGES.rglob("*.*")
    if path.suffix in {".js", ".css", ".html"} and VENDOR not in path.parents
)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/table/3f9a1c0b77e2",
        "/assets/table/table.js",
        "/assets/shared/base.css",
        "/service_worker.js",
        "/docs",
        "/openapi.json",
        "/rules",
        "/rules/usa",
        "/rules/ROUTE-1",
        "/v1/games",
        "/v1/games/none/view",
        "/v1/boards/usa/svg",
        "/nowhere",
    ],
)
def test_an_answer_may_run_only_scripts_of_this_server_and_stands_in_no_frame(
    http: httpx.Client, path: str
) -> None:
    reply = http.get(path, headers={"Accept": "text/html, */*"})
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_the_file_of_a_game_is_taken_for_nothing_else(http: httpx.Client) -> None:
    game, _ = over(http)
    while (reply := http.get(f"/v1/games/{game}/file")).status_code == 503:
        time.sleep(0.1)  # it isn't in the archive yet
    assert reply.status_code == 200
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_page_names_no_other_host_and_puts_no_text_in_as_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"https?://[\w.]", text) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|unsafeHTML|eval\(|style=", text) == []


def test_modules_of_pages_fit_what_a_reader_can_hold() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in OWN}
    assert [name for name, length in lengths.items() if length > 300] == []


def test_every_module_is_checked_by_types_and_says_what_it_is_for() -> None:
    first_words = {".js": "// @ts-check\n// ", ".css": "/* "}
    texts = {path: path.read_text(encoding="utf-8") for path in OWN}
    assert [path.name for path, text in texts.items() if not text.startswith(first_words[path.suffix])] == []


def test_files_of_others_are_those_that_are_listed() -> None:
    lines = [line.split() for line in (VENDOR / "sha256.txt").read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    found = {
        path.relative_to(VENDOR).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and path.parent != VENDOR
    }
    assert found == listed


@pytest.mark.parametrize(
    ("path", "early"),
    [("/", 0), ("/table/3f9a1c0b77e2", 1), ("/audit/3f9a1c0b77e2", 0), ("/operator", 0)],
)
def test_a_page_loads_one_script_and_one_sheet_in_which_all_is(
    http: httpx.Client, path: str, early: int
) -> None:
    html = http.get(path).text
    addresses, sheets = (
        re.findall(rf'(?:src|href)="(/assets/[^"]+\.{kind})"', html) for kind in ("js", "css")
    )
    assert (len(addresses), len(sheets)) == (1 + early, 1)
    for address in addresses:
        script = http.get(address).raise_for_status().text
        assert re.findall(r"^(?:import|export)\b|\bexport\{", script, re.MULTILINE) == []
        parts = re.findall(r"^// (\S+\.js)$", script, re.MULTILINE)
        assert len(parts) == len(set(parts))
        for part in parts:  # each comes after all that it imports
            text = http.get(f"/assets/{part}").raise_for_status().text
            for other in re.findall(r'from "(\..+)";$', text, re.MULTILINE):
                assert parts.index(urljoin(part, other)) < parts.index(part)
    assert {"vendor/lit-html/lit-html.js", "shared/frame.js"} <= set(parts)
    sheet = http.get(sheets[0]).raise_for_status().text
    assert (PAGES / "shared" / "base.css").read_text() in sheet


@pytest.mark.parametrize(
    "line",
    [
        'import * as words from "./words.js";',
        'import words from "./words.js";',
        'import "./words.js";',
        'import { say } from "lit";',
        'import { say } from "./words.js"',
        'export { say } from "./words.js";',
        'export * from "./words.js";',
        "export default 1;",
        "export let count = 1;",
        'const words = await import("./words.js");',
        "const here = import.meta.url;",
    ],
)
def test_a_form_that_cant_be_bundled_is_named_with_its_file_and_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "words.js").write_text("export const say = 1;\n")
    (tmp_path / "page.js").write_text(f'// import\nimport {{\n  say,\n}} from "./words.js";\n{line}\n')
    assets = Assets(tmp_path, [Page("page", ())])
    with pytest.raises(ValueError, match=r"^page\.js:5 "):
        assets.answer("page.bundle.js", Headers())


def test_modules_that_import_each_other_are_named(tmp_path: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.js").write_text(f'import {{ a }} from "./{other}.js";\nexport const a = 1;\n')
    assets = Assets(tmp_path, [Page("one", ())])
    with pytest.raises(ValueError, match=r"^one\.js is imported by a module that it imports"):
        assets.answer("one.bundle.js", Headers())


def test_a_file_that_hasnt_changed_is_not_sent_again(http: httpx.Client) -> None:
    first = http.get("/assets/table/table.js")
    assert first.headers["content-encoding"] == "gzip"
    assert first.text == (PAGES / "table" / "table.js").read_text(encoding="utf-8")
    assert (
        http.get("/assets/table/table.js", headers={"Accept-Encoding": "identity"}).content == first.content
    )
    again = http.get("/assets/table/table.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert http.get("/assets/shared/favicon.svg").headers["cache-control"] == "max-age=3600"


def test_an_asset_that_isnt_there_is_a_problem(http: httpx.Client) -> None:
    reply = http.get("/assets/nothing.js")
    assert (reply.status_code, reply.headers["content-type"]) == (404, "application/problem+json")


def test_P6_the_verifier_in_one_file_is_served_as_it_is(http: httpx.Client) -> None:
    reply = http.get("/verify_game.py")
    assert reply.content == (PAGES.parents[2] / "deploy" / "verify_game.py").read_bytes()
    assert reply.headers["content-type"].startswith("text/x-python")
    assert reply.headers["content-disposition"] == 'attachment; filename="verify_game.py"'


def test_P6_the_key_that_signs_games_is_served(http: httpx.Client) -> None:
    game, _ = over(http)
    while (file := http.get(f"/v1/games/{game}/file")).status_code == 503:
        time.sleep(0.1)
    [served] = http.get("/v1/public-keys").json()["keys"]
    assert (served["since"], served["before"]) == (None, None)
    assert decode_game_file(file.content).key.hex() == served["key"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/assets/nothing.js", 404),
        ("POST", "/table/3f9a1c0b77e2", 405),
        ("GET", "/rules/NONE-1", 404),
        ("GET", "/v1/games/none/state", 404),
        ("GET", "/v1/games?most=none", 422),
    ],
)
def test_a_wrong_address_shows_a_page_to_a_browser_and_a_problem_to_a_program(
    http: httpx.Client, method: str, path: str, status: int
) -> None:
    browser = http.request(method, path, headers={"Accept": "text/html,*/*;q=0.8"})
    program = http.request(method, path)
    assert (browser.status_code, program.status_code) == (status, status)
    assert program.headers["content-type"] == "application/problem+json"
    assert browser.headers["content-type"] == "text/html; charset=utf-8"
    assert browser.headers["vary"] == program.headers["vary"] == "Accept"
    problem = program.json()
    assert f"<h1>{escape(problem['title'])}</h1>" in browser.text
    assert 'href="/"' in browser.text


FAULTS: Final[Mapping[str, tuple[int, Exception]]] = {
    "a bug": (500, ZeroDivisionError()),
    "a view with a gap": (500, MissingEntryError("entry 7 is missing")),
    "a damaged view": (500, CorruptDataError("secret bytes")),
    "a game that isn't installed": (501, MissingGameError("chess isn't installed")),
    "an engine that is away": (503, EngineError("no route to it")),
    "a file of another server": (404, ForeignFileError("another server's")),
    "too large a body": (413, InvalidInputError("body", "has more than 9 bytes", "SIZE-1")),
    "too many commands": (429, TooManyError("RATE-1", "your address has 9 games", 60)),
}


@pytest.fixture
def faulty() -> FastAPI:
    """A server whose every address has a fault of its own, and that is read 20 times at most."""
    app = FastAPI()

    async def fail(request: Request) -> None:
        raise FAULTS[request.path_params["fault"]][1]

    app.add_api_route("/{fault}", fail)
    app.add_middleware(ReadLimitMiddleware, RateLimiter(0.001, 20, lambda: 0.0, "reads"))
    install_error_handlers(app)
    return app


def shown(app: FastAPI, path: str, before: int = 0) -> tuple[httpx.Response, httpx.Response]:
    """The answers to a browser and to a program, which agree, after so many requests of others."""

    async def ask() -> tuple[httpx.Response, httpx.Response]:
        wire = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=wire, base_url="http://faulty") as client:
            for _ in range(before):
                assert (await client.get("/nowhere/else")).status_code == 404
            browser = await client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
            return browser, await client.get(path)

    browser, program = asyncio.run(ask())
    assert browser.status_code == program.status_code
    assert program.headers["content-type"] == "application/problem+json"
    assert browser.headers["content-type"] == "text/html; charset=utf-8"
    assert browser.headers["vary"] == program.headers["vary"] == "Accept"
    assert browser.headers.get("retry-after") == program.headers.get("retry-after")
    assert f"<h1>{program.json()['title']}</h1>" in unescape(browser.text)
    return browser, program


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_shows_a_page_to_a_browser_too(faulty: FastAPI, fault: str) -> None:
    browser, program = shown(faulty, f"/{fault}")
    assert program.status_code == FAULTS[fault][0]
    assert "secret bytes" not in browser.text + program.text


def test_RATE_1_a_browser_that_reads_too_often_is_shown_a_page(
    faulty: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.web.request_middleware.EXCESS_PAUSE_S", 0)
    browser, program = shown(faulty, "/a bug", before=20)
    assert (program.status_code, program.json()["rule"]) == (429, "RATE-1")
    assert 'href="/rules/RATE-1"' in browser.text


def test_a_page_of_an_error_puts_no_text_of_its_asker_in_as_markup(http: httpx.Client) -> None:
    page = http.get("/rules/<script>x", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "<script>x" not in page.text


def test_every_page_has_a_title_of_its_own(http: httpx.Client) -> None:
    body = {"seats": [{"kind": "human"}] * 2, "board": "iberia"}
    game = http.post("/v1/games", json=body).raise_for_status().json()["game"]
    paths = [
        "/",
        f"/table/{game}",
        f"/audit/{game}",
        "/rules",
        "/rules/usa",
        "/rules/ROUTE-1",
        "/docs",
        "/nowhere",
    ]
    pages = [http.get(path, headers={"Accept": "text/html"}).text for path in paths]
    titles = [re.findall("<title>(.+)</title>", page)[0] for page in pages]
    assert len(set(titles)) == len(titles), titles
    assert titles[1] == "Iberia: a table for 2 at Ledgerline"


def test_the_worker_of_web_push_stands_where_it_may_open_tables_and_is_asked_for_again(
    http: httpx.Client,
) -> None:
    reply = http.get("/service_worker.js")
    assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"
    again = http.get("/service_worker.js", headers={"If-None-Match": reply.headers["etag"]})
    assert again.status_code == 304
