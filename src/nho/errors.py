"""The errors a user can meet. Their text is the message: what, where, and the remedy."""

_LONGEST = 1000  # characters of a message


class NhoError(Exception):
    """Base of every error that `nho` raises on purpose."""


class InputError(NhoError):
    """Something the user gave cannot be used; the text names the file, the index and a remedy.

    Messages quote what they complain about, and a damaged file may hold anything: the text is
    made one printable line, shortened in the middle, so that it can go to a terminal or a table.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_one_readable_line(message))


def _one_readable_line(text: str) -> str:
    if not text.isprintable():
        escaped = (repr(character)[1:-1] for character in text.replace("\n", " "))
        text = "".join(escaped)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 3]} ... {text[2 - half :]}"
