"""Files that aren't Python: rule pages, the engine's users, the verifier and the guide, which lie outside of the packages; and
the templates of HTML pages.

The former are beside the packages in a checkout and in the image. A wheel has them in `ledgerline/files`, under the same paths, so
that every way to install it brings them along (pyproject.toml).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

TOP: Final = Path(__file__).parents[2]


def shipped_file(path: str) -> Path:
    """Where the file or folder of this path from the top of the checkout is; it may be missing."""
    installed = TOP / "ledgerline" / "files" / path
    return installed if installed.exists() else TOP / path


@cache
def html_templates(package: str) -> Environment:
    """The templates in the folder `templates` of a package. What is put into one is escaped, unless it is
    `Markup`. Rendering raises jinja2.UndefinedError for a name that it wasn't given."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - most services draw no page

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_template(package: str, name: str, **values: object) -> str:
    """One of these templates, filled. Raises jinja2.UndefinedError: a value is missing."""
    return html_templates(package).get_template(name).render(**values)
