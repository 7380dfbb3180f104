"""Many shapes in bounded memory, and a batch whose fits are made on a Dask cluster."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import nho
from nho.cli.app import app
from tests.shapes.family import write_batch

PEAK = """
import resource, sys
import numpy as np
import nho
from nho.geometry.synthetic import bumpy_sphere

template = bumpy_sphere(5)  # 10,242 vertices
count, folder = int(sys.argv[1]), sys.argv[2]
shape = (count, template.n_vertices, 3)
stored = np.lib.format.open_memmap(folder + "/shapes.npy", "w+", np.float32, shape)
random = np.random.default_rng(0)
nose = np.exp(3 * (template.vertices[:, [2]] - 1))
for row in stored:
    first, second = random.normal(size=2)
    row[:] = template.vertices * (1 + 0.15 * first * nose) * [1 + 0.06 * second, 1, 1]
    row += 0.002 * random.normal(size=row.shape)
stored.flush()
del stored
shapes = np.load(folder + "/shapes.npy", mmap_mode="r")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
space = nho.ShapeSpace.fit(shapes, template, components=3)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(before, after, *space.explained)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is told in other units elsewhere")
def test_memory_does_not_grow_with_shapes(tmp_path):
    """Pages of the file may stay in memory, and some copies of 800 vertices of every shape."""
    peaks = {}
    for count in (20, 200):
        command = [sys.executable, "-c", PEAK, str(count), str(tmp_path)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        numbers = found.stdout.split()
        peaks[count] = int(numbers[1]) / 1024
        assert float(numbers[2]) + float(numbers[3]) > 0.9
    in_file, sample = 200 * 10_242 * 3 * 4 / 2**20, 200 * 800 * 4 * 8 / 2**20
    assert peaks[200] < peaks[20] + in_file + 8 * sample


def test_fits_of_a_batch_on_a_dask_cluster_give_the_same_space(tmp_path):
    distributed = pytest.importorskip("distributed")
    write_batch(tmp_path / "results", 5)
    options = {"dashboard_address": ":0", "memory_limit": "2GiB", "processes": False}
    spaces = []
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster:
        for name, more in (("local", []), ("dask", ["--scheduler", cluster.scheduler_address])):
            arguments = ["shapes", tmp_path / "results", "--out", tmp_path / name, "--jobs", 1]
            arguments += ["--components", 1, "--quiet", "--json", *more]
            outcome = CliRunner().invoke(app, [*map(str, arguments)])
            assert outcome.exit_code == 0, outcome.output
            assert json.loads(outcome.stdout)["shapes"] == 5
            spaces.append(nho.ShapeSpace.load(tmp_path / name))
    np.testing.assert_allclose(spaces[1].scores, spaces[0].scores, atol=1e-6)
