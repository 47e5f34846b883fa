"""Every error of the product has one base; none is also what a bug raises."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import schemas
import services
from schemas.errors import LedgerlineError
from services.runtime.worker_loop import PROGRAMMING_ERRORS


def all_modules() -> Iterator[ModuleType]:
    for package in (schemas, services):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield importlib.import_module(module.name)


def own_errors() -> set[type[BaseException]]:
    return {
        value
        for module in all_modules()
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseException)
        and (issubclass(value, Exception) or value.__name__ != "_Interruption")  # which no clause may catch
        and value.__module__.partition(".")[0] in ("schemas", "services")
    }


def test_every_error_of_the_product_has_the_one_base() -> None:
    errors = own_errors()
    assert len(errors) > 15
    assert [error for error in errors if not issubclass(error, LedgerlineError)] == []


def test_a_clause_for_bugs_catches_no_error_of_the_product() -> None:
    assert [error for error in own_errors() if issubclass(error, PROGRAMMING_ERRORS)] == []
