"""The plates: one folder each, found by name. They know `model` and `param`, never Panel.

A folder `plates/` anywhere on Python's path adds to them, so a course can keep its own elsewhere.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
