"""The neural Hamiltonian and the maps derived from it: the paper's heart.

Read beside Sec. 4, in this order (equation numbers in brackets):

- `field`, `network`: the intrinsic neural field and its soft indicator (6, 7)
- `hamiltonian`: the operator, reduced or sparse, its energy and its support (9, 15, 17, 18)
- `losses`, `persistence`: anchors, area, topology, spectrum and their sum (8, 10 to 12, 14, 16)
- `fitting`: Adam on the field's parameters
- `correspondence`: alignment, nearest rows, local distortion, reliable matches (19 to 21)
- `refinement`: ZoomOut and Neural ZoomOut (App. D)
- `spectra`: what is computed once for a pair of shapes

`nho.recipes.paper` puts them together (8, 13, and the loop of Fig. 2).
"""
