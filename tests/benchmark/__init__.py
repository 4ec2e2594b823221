"""How a drag feels, in numbers."""
