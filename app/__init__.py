"""The plates as pages: served live, read at the command line, written as static files."""

from app.notebook import show
from app.server import serve

__all__ = ["serve", "show"]
