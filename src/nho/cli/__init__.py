"""The command line: one module a command."""

from nho.cli.app import main

__all__ = ["main"]
