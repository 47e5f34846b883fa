"""The gateway serves the guide that `make docs` makes, and lets its pages do no more than they need."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from deploy.make_release import SITE
from services.gateway.routes import guide_pages
from tests.gateway.clients import problem
from tests.shipped import Shipped

SCRIPT = "document.body.dataset.theme = 'auto'"


def test_without_a_guide_the_answer_says_how_to_make_it(
    http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide_pages, "FOLDER", tmp_path / "none")
    assert "make docs" in problem(http.get("/guide/docs/index.html"), 404, "SHAPE-1")["detail"]


def test_a_page_may_run_the_scripts_of_the_guide_and_no_others(
    http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.html").write_text(f"<script>{SCRIPT}</script>", encoding="utf-8")
    (tmp_path / "searchindex.js").write_text("Search.setIndex({})", encoding="utf-8")
    monkeypatch.setattr(guide_pages, "FOLDER", tmp_path)
    first = http.get("/guide")
    assert (first.status_code, first.headers["location"]) == (307, "/guide/docs/index.html")
    page = http.get(first.headers["location"])
    policy = page.headers["content-security-policy"]
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    script = http.get("/guide/searchindex.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "unsafe" not in script.headers["content-security-policy"]
    for outside in ("/guide/nothing.html", "/guide/../pyproject.toml", "/guide/%2e%2e/pyproject.toml"):
        assert http.get(outside).status_code == 404


@pytest.mark.long
def test_the_site_is_made_without_a_warning_and_asks_no_other_host_for_anything(shipped: Shipped) -> None:
    """A warning, of a link, an anchor or a picture that leads nowhere, would have ended the build."""
    out = shipped.tree / SITE
    assert (out / "searchindex.js").stat().st_size > 10_000
    loaded = re.compile(
        r"<(?:script|img|iframe)[^>]* src=\"(https?:[^\"]+)|<link[^>]* rel=\"(?:stylesheet|preload)\"[^>]* href=\"(https?:[^\"]+)"
    )
    pages = [*out.rglob("*.html")]
    assert len(pages) > 35
    assert {found for page in pages for found in loaded.findall(page.read_text(encoding="utf-8"))} == set()
    fonts = [path for path in out.rglob("*.css") if "//fonts." in path.read_text(encoding="utf-8")]
    assert fonts == []
