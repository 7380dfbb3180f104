"""`nho` inside other programs: PyVista and notebooks. Each module is imported only there."""
