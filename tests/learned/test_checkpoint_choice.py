"""Which weights are used: the first file that holds the method, whatever it is called."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from nho.errors import InputError  # noqa: E402
from nho.learned import checkpoints  # noqa: E402
from nho.learned.architecture import Architecture  # noqa: E402
from nho.learned.backend import quiet_torch  # noqa: E402
from nho.learned.checkpoints import matcher_for, save_checkpoint  # noqa: E402
from nho.learned.methods import new_matcher  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    for name, method, blocks in (("b", "dpfm", 1), ("c", "dpfm", 2), ("d", "ulrssm", 1)):
        with quiet_torch(0):
            net = new_matcher(Architecture(method, outputs=8, width=8, blocks=blocks))
        save_checkpoint(tmp_path / f"{name}.npz", net)
    (tmp_path / "a.pth").write_bytes(b"no checkpoint at all")
    (tmp_path / "readme.txt").write_text("not looked at")
    return tmp_path


def test_the_first_file_of_the_method_is_taken(folder):
    assert matcher_for("dpfm", str(folder)).architecture.blocks == 1
    listed = f"{folder / 'd.npz'}, {folder / 'c.npz'},{folder / 'b.npz'}"
    assert matcher_for("dpfm", listed).architecture.blocks == 2
    assert matcher_for("ulrssm", listed).architecture.method == "ulrssm"


def test_where_there_is_none_the_message_says_what_there_is(folder):
    with pytest.raises(InputError, match="no network of 'wormhole'.*b.npz is dpfm.*a.pth: cannot"):
        matcher_for("wormhole", str(folder))
    with pytest.raises(InputError, match="no such file or folder"):
        matcher_for("dpfm", str(folder / "absent.npz"))
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="there are none"):
        matcher_for("dpfm", str(folder / "empty"))


def test_without_a_setting_the_shipped_network_is_taken(folder, monkeypatch):
    monkeypatch.setattr(checkpoints, "_SHIPPED", folder)
    (folder / "b.npz").rename(folder / "dpfm.npz")
    assert matcher_for("dpfm").architecture.method == "dpfm"
    with pytest.raises(InputError, match="no weights of 'wormhole' come with this installation"):
        matcher_for("wormhole")
