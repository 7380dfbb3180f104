"""Triangle meshes: points on them, distances, spectra, deformation."""
