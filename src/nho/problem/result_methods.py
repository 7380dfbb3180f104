"""What a result can do: each method hands on to the module that does it, imported when called.

These modules are built on results, so nothing here may be imported before it is used.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from nho.errors import InputError
from nho.geometry.mesh import Mesh
from nho.geometry.mesh_like import MeshLike, as_mesh

if TYPE_CHECKING:
    import scipy.sparse as sp

    from nho.problem.result import MatchResult
    from nho.transfer import Fit

Side = Literal["partial", "full"]
STORED = {"partial": "partial.ply", "full": "full.ply"}  # in the folder of a result


class ResultMethods:
    """Methods of `MatchResult`, which holds the arrays.

    Examples
    --------
    >>> import nho
    >>> from nho.geometry.synthetic import bumpy_sphere, cut_by_plane
    >>> template = bumpy_sphere(3)
    >>> cut = cut_by_plane(template, [0, 0, 1], keep_area=0.6)
    >>> chosen = nho.sample_vertices(cut.mesh, 8)
    >>> result = nho.match(cut.mesh, template, list(zip(chosen, cut.vertex_of_parent[chosen])))
    >>> result.status, result.matrix().shape == (cut.mesh.n_vertices, template.n_vertices)
    ('ok', True)
    >>> heights = result.transfer(template.vertices[:, 2])
    >>> bool(abs(heights - cut.mesh.vertices[:, 2]).mean() < 0.02)
    True
    >>> sorted(result.point_data())
    ['nho_color', 'nho_confidence', 'nho_overlap', 'nho_vertex']
    """

    if TYPE_CHECKING:
        vertex_map: np.ndarray
        status: str
        meshes: tuple[Mesh, Mesh] | Path | None

    @property
    def _self(self) -> MatchResult:
        return cast("MatchResult", self)

    @cached_property
    def _meshes(self) -> tuple[Mesh, Mesh]:
        given = self.meshes
        if isinstance(given, tuple):
            return given
        if given is None or not all((given / name).exists() for name in STORED.values()):
            raise InputError(
                "this result does not know its meshes; give them, unchanged: "
                "result.with_meshes(partial, full)"
            )
        read = Mesh.read(given / STORED["partial"]), Mesh.read(given / STORED["full"])
        self._self.check_meshes(*read)
        return read

    @property
    def partial(self) -> Mesh:
        """The partial mesh that was matched."""
        return self._meshes[0]

    @property
    def full(self) -> Mesh:
        """The full mesh that was matched."""
        return self._meshes[1]

    def with_meshes(self, partial: MeshLike, full: MeshLike) -> MatchResult:
        """The same result with the meshes that it belongs to."""
        from dataclasses import replace

        meshes = as_mesh(partial, "partial mesh"), as_mesh(full, "full mesh")
        self._self.check_meshes(*meshes)
        return replace(self._self, meshes=meshes)

    @property
    def p2p(self) -> np.ndarray:
        """(n_partial,) the map partial -> full: vertex of full for each of partial; -1 = none.

        Functions travel the other way: ``values_on_full[result.p2p]`` are values on partial. In
        pyFM's words this is ``p2p_21`` with the full shape as mesh 1 and the partial as mesh 2.
        """
        return self.vertex_map

    def matrix(self) -> sp.csr_array:
        """The map as a sparse (n_partial, n_full) matrix of barycentric weights.

        Rows sum to one, or to zero where there is no match, as where ``overlap`` is below one
        half: ``result.matrix() @ values_on_full`` are values on the partial shape.
        """
        from nho.transfer.matrices import map_matrix

        return map_matrix(self._self)

    def functional_map(self, partial_basis: np.ndarray, full_basis: np.ndarray) -> np.ndarray:
        """(k_partial, k_full) the map between coefficients of functions, full -> partial.

        Parameters
        ----------
        partial_basis : (n_partial, k_partial) float array
        full_basis : (n_full, k_full) float array
            Eigenfunctions of the Laplacian, say. What is left over is least by area.
        """
        from nho.transfer.matrices import functional_map

        return functional_map(self._self, partial_basis, full_basis)

    def transfer(
        self, values: np.ndarray, source: Side = "full", *, min_confidence: float = 0.0
    ) -> np.ndarray:
        """Values at the vertices of one shape, on the vertices of the other.

        Floats and colours are interpolated, labels and selections decided by majority. More, such
        as texture coordinates and data on faces: `nho.transfer.Transfer`.

        Parameters
        ----------
        values : (n_source,) or (n_source, k) array
        source : {"full", "partial"}
            The shape that has them.
        min_confidence : float
            Matches below this confidence carry nothing.

        Returns
        -------
        (n_target,) or (n_target, k) array
            Where nothing came: NaN, -1 for labels, "" for texts, False for selections.
        """
        from nho.transfer import Transfer

        carry = Transfer(self._self, self.partial, self.full, source, min_confidence=min_confidence)
        return carry.vertices(np.asarray(values)).values

    def fit(self, *, min_confidence: float = 0.0) -> Fit:
        """The full shape deformed onto the partial one (`nho.transfer.fit_template`)."""
        from nho.transfer import fit_template

        return fit_template(self._self, self.partial, self.full, min_confidence=min_confidence)

    def point_data(self, side: Side = "partial") -> dict[str, np.ndarray]:
        """What the result says of every vertex of a shape, by name.

        On the partial shape ``nho_vertex`` (its partner, -1 = none), ``nho_overlap`` and
        ``nho_confidence``, on the full one ``nho_region`` (0 or 1) and ``nho_region_score``; on
        both ``nho_color``, the same at matching points. ``mesh.point_data.update(...)`` of PyVista
        and meshio takes them, and so does ``mesh.vertex_attributes.update(...)`` of trimesh.
        """
        from nho.report.point_data import point_data

        return point_data(self._self, side)

    def to_trimesh(self, side: Side = "partial") -> Any:
        """One of the shapes as a ``trimesh.Trimesh`` with `point_data` as vertex attributes."""
        return self._mesh(side).to_trimesh(self.point_data(side))

    def to_pyvista(self, side: Side = "partial") -> Any:
        """One of the shapes as a ``pyvista.PolyData`` with `point_data`."""
        return self._mesh(side).to_pyvista(self.point_data(side))

    def to_open3d(self, side: Side = "partial") -> Any:
        """One of the shapes as an ``open3d.t.geometry.TriangleMesh`` with `point_data`."""
        return self._mesh(side).to_open3d(self.point_data(side))

    def _mesh(self, side: Side) -> Mesh:
        return self.partial if side == "partial" else self.full

    def __repr__(self) -> str:
        numbers = self._self.summary()
        return (
            f"MatchResult({self.status}: {numbers['matched_vertices']} of "
            f"{numbers['partial_vertices']} vertices matched, region {numbers['region_vertices']} "
            f"of {numbers['full_vertices']} vertices, mean confidence "
            f"{numbers['mean_confidence']:.2f})"
        )

    def _repr_html_(self) -> str | None:
        """Both shapes in 3D for a notebook; only the text if the meshes are not known."""
        from nho.report.notebook_view import notebook_view

        try:
            return notebook_view(self._self)
        except InputError:
            return None
