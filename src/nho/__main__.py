"""``python -m nho`` is the command ``nho``."""

from nho.cli import main

main()
