"""Use a finished match: carry data between the shapes, and fit the template to the scan.

>>> from nho.transfer import Transfer
>>> carry = Transfer(result, scan, template, source="full")        # doctest: +SKIP
>>> carry.vertices(labels).values                                  # doctest: +SKIP
"""

from nho.transfer.carry import Side, Transfer
from nho.transfer.completion import Completion, complete
from nho.transfer.cycles import cycle_errors
from nho.transfer.fit import Fit, fit_template
from nho.transfer.landmarks import CarriedLandmarks, carry_landmarks
from nho.transfer.map_files import write_map
from nho.transfer.maps import SurfaceMap, load_for
from nho.transfer.values import Carried

__all__ = [
    "Carried",
    "CarriedLandmarks",
    "Completion",
    "Fit",
    "Side",
    "SurfaceMap",
    "Transfer",
    "carry_landmarks",
    "complete",
    "cycle_errors",
    "fit_template",
    "load_for",
    "write_map",
]
