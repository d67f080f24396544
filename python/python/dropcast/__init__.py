"""Drop-prediction oracles for shared-buffer switches."""

from dropcast._dropcast import __version__

__all__ = ["__version__"]
