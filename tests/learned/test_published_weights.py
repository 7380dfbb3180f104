"""Published weights reach the published accuracy on real shapes."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nho.evaluation.ground_truth import read_ground_truth  # noqa: E402
from nho.evaluation.metrics import evaluate  # noqa: E402
from nho.geometry.mesh import Mesh  # noqa: E402
from nho.lab import baselines  # noqa: E402
from nho.lab.bench.datasets import FAMILIES  # noqa: E402
from nho.learned.checkpoints import load_checkpoint  # noqa: E402
from nho.settings import Settings  # noqa: E402

pytestmark = pytest.mark.data
FILES = {
    "dpfm_faust.pth": "dpfm",
    "dpfm_shrec_cuts.pth": "dpfm",
    "ulrssm_shrec16_cuts.pth": "ulrssm",
    "wormhole_pfaust_m.pth": "wormhole",
}


@pytest.fixture(scope="module")
def weights(data):
    folder = data / "weights"
    if not folder.is_dir():
        pytest.skip(f"{folder}: published weights not found")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_every_tensor_of_the_published_files_has_its_place(weights, name):
    matcher = load_checkpoint(weights / name)
    assert matcher.architecture.method == FILES[name]
    raw = torch.load(weights / name, weights_only=True, map_location="cpu")
    tensors = raw.get("networks", {}).get("feature_extractor", raw)
    numbers = sum(tensor.numel() for tensor in tensors.values())
    assert numbers == sum(tensor.numel() for tensor in matcher.state_dict().values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "method, file, error, overlap",
    [
        ("dpfm", "dpfm_shrec_cuts.pth", 2.6, 85),  # published: 2.38 and 80.45 over all cuts
        ("ulrssm", "ulrssm_shrec16_cuts.pth", 1.5, 85),  # 2.85
    ],
)
def test_the_cat_is_matched_as_published(data, weights, method, file, error, overlap):
    folder = data / "shrec16_cat"
    partial, full = (Mesh.read(folder / f"cuts-{name}.off") for name in ("cat1", "cat"))
    truth = read_ground_truth(folder / "cuts-cat1_cuts-cat.map", partial, full)
    settings = Settings(checkpoints=str(weights / file), threads=1)
    found = evaluate(baselines.run(method, partial, full, None, settings), full, truth)
    assert found.geodesic_error < error
    assert found.iou > overlap


@pytest.mark.slow
def test_wormhole_matches_a_body_with_holes(data, weights):
    pair = FAMILIES["pfaust_m"].load(data, "tr_reg_003-tr_reg_070")
    settings = Settings(checkpoints=str(weights), threads=1)
    result = baselines.run("wormhole", pair.partial, pair.full, None, settings)
    assert evaluate(result, pair.full, pair.truth).geodesic_error < 8
    # The variant of the gradient features that the weights were trained with is the only one.
    matcher = load_checkpoint(weights / "wormhole_pfaust_m.pth")
    for block in matcher.extractor.blocks:
        block.gradients.turning = "complex"
    wrong = matcher.features(pair.partial, pair.full).target
    assert np.mean(wrong == result.vertex_map) < 0.5
