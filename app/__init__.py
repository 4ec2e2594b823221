"""The plates as pages: served live, read at the command line, written as static files."""

from importlib import import_module
from typing import Any

__all__ = ["serve", "show"]


def __getattr__(name: str) -> Any:
    """Import `serve` or `show` when it is first asked for, since Panel takes a second to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module({"serve": "app.server", "show": "app.notebook"}[name]), name)
