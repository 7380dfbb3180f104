"""``mesh.nho.match(template)`` on every ``pyvista.PolyData``.

PyVista finds this module by its entry point (`pyvista.accessors`) and imports it on first use.
"""

from __future__ import annotations

from typing import Any

import pyvista

import nho


@pyvista.register_dataset_accessor("nho", pyvista.PolyData)
class NhoAccessor:
    """What `nho` does with a PyVista mesh."""

    def __init__(self, mesh: pyvista.PolyData) -> None:
        self._mesh = mesh

    def match(self, template: Any, anchors: Any = "auto", **options: Any) -> nho.MatchResult:
        """Match this mesh, the partial shape, to a full one; see `nho.match`.

        Parameters
        ----------
        template : pyvista.PolyData, or whatever `nho.match` takes
        """
        return nho.match(self._mesh, template, anchors, **options)
