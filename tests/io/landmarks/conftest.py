"""Files of landmarks from text."""

import json

import pytest

from nho.errors import InputError
from nho.io.landmarks import read_landmarks


@pytest.fixture
def read(tmp_path):
    """Read a text, bytes or a JSON document as a file of that name."""

    def read_content(content, name):
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_landmarks(path)

    return read_content


@pytest.fixture
def refused(read):
    """The one line with which a content is refused; it must name the file."""

    def message_of(content, name):
        with pytest.raises(InputError) as caught:
            read(content, name)
        message = str(caught.value)
        assert name in message and message.isprintable()
        return message

    return message_of
