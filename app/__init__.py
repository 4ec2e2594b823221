"""The plates as pages: served live, read at the command line, written as static files."""

from importlib import import_module
from typing import Any

__all__ = ["lab", "serve", "show"]


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for, since Panel takes a second to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = {"lab": "app.workbench", "serve": "app.server", "show": "app.notebook"}
    return getattr(import_module(modules[name]), name)
