"""Shape spaces of many partial scans: Procrustes, mean, components with missing data, scores.

>>> import nho
>>> space = nho.ShapeSpace.fit(positions, template, weights)       # doctest: +SKIP
>>> space.scores, space.explained, space.mesh([1.0, -0.5])         # doctest: +SKIP
"""

from nho.shapes.given_shapes import PartFit
from nho.shapes.sliding import slide
from nho.shapes.space import Estimate, ShapeSpace

__all__ = ["Estimate", "PartFit", "ShapeSpace", "slide"]
