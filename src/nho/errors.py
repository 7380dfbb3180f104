"""The errors a user can meet. Their text is the message: what, where, and the remedy."""


class NhoError(Exception):
    """Base of every error that `nho` raises on purpose."""


class InputError(NhoError):
    """Something the user gave cannot be used; the text names the file, the index and a remedy."""
