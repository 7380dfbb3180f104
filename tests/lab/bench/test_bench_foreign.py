"""Foreign matter on a partial shape: it has no partner, and the rest keeps its truth."""

from __future__ import annotations

import numpy as np
import pytest

from nho.geometry.foreign import PROFILES
from nho.lab.bench.datasets import FAMILIES
from nho.lab.bench.datasets.foreign import with_foreign_matter


@pytest.fixture(scope="module")
def plain():
    return FAMILIES["synthetic"].load(None, "body-plane")


@pytest.mark.parametrize("kind", PROFILES)
def test_what_is_stitched_on_has_no_partner_and_the_rest_keeps_its_own(plain, kind):
    pair = with_foreign_matter(plain, kind)
    foreign = pair.truth.unmatched
    assert foreign is not None and 0.05 < foreign.mean() < 0.6
    assert (pair.truth.points.face[foreign] == -1).all()
    own = np.flatnonzero(~foreign)
    place = {tuple(row): number for number, row in enumerate(plain.partial.vertices)}
    parent = [place[tuple(row)] for row in pair.partial.vertices[own]]
    np.testing.assert_array_equal(pair.truth.points.face[own], plain.truth.points.face[parent])


def test_the_family_has_a_pair_for_each_and_every_kind_of_matter_in_turn():
    family = FAMILIES["synthetic_foreign"]
    assert family.names(None) == FAMILIES["synthetic"].names(None)
    assert family.load(None, "body-plane").truth.unmatched.any()
