"""Drop-prediction oracles for shared-buffer switches.

Packet events become a labelled trace (:func:`collect`), the trace trains a forest (:func:`train`),
the forest is measured (:func:`report`) and written as tables for a dataplane (:func:`export`).
"""

from dropcast._dropcast import __version__
from dropcast.convert import from_lightgbm, from_sklearn, from_xgboost, import_forest
from dropcast.errors import (
    DropcastError,
    DropcastWarning,
    InputError,
    InternalError,
    NotVerifiedError,
)
from dropcast.models import Model
from dropcast.stages import (
    Comparison,
    Report,
    Sweep,
    collect,
    export,
    report,
    simulate,
    sweep,
    train,
    train_per,
    verify,
)
from dropcast.traces import Trace

__all__ = [
    "Comparison",
    "DropcastError",
    "DropcastWarning",
    "InputError",
    "InternalError",
    "Model",
    "NotVerifiedError",
    "Report",
    "Sweep",
    "Trace",
    "__version__",
    "collect",
    "export",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_forest",
    "report",
    "simulate",
    "sweep",
    "train",
    "train_per",
    "verify",
]
