"""The studio: a page in the browser to place anchors, press match and look.

`session` is everything that is open (meshes, marks, job, result), told to the page as one state;
`server` carries it over HTTP on this machine only; `page/` is what runs in the browser.
"""

from nho.studio.server import Studio

__all__ = ["Studio"]
