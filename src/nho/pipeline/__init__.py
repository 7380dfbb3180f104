"""`match`: from two meshes and anchors to a result, at any size."""
