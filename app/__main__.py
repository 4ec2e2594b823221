"""`python -m app` is the command `plates`."""

from app.command import main

main()
