"""The studio: a page in the browser to place anchors, match, and inspect the result.

`session` is everything that is open (meshes, marks, job, result), sent to the page as one state;
`server` carries it over HTTP on this machine only; `page/` is what runs in the browser.
"""

from nho.studio.server import Studio

__all__ = ["Studio"]
