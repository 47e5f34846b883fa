"""Templates of HTML pages, which escape what is put into them."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def html_templates(package: str) -> Environment:
    """The templates in the folder `templates` of a package. What is put into one is escaped, unless it is
    `Markup`. Rendering raises jinja2.UndefinedError for a name that it wasn't given."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
