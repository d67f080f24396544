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
from dropcast.fabric import Comparison, refine, reproduce, simulate

# Not in __all__: `import *` would hide Python's own.
from dropcast.fabric import map as map
from dropcast.inspection import inspect, resources
from dropcast.models import Model
from dropcast.stages import (
    Report,
    Sweep,
    collect,
    export,
    report,
    sweep,
    train,
    train_per,
    verify,
)
from dropcast.traces import Trace, TraceFolder
from dropcast.whole_run import Run, run

__all__ = [
    "Comparison",
    "DropcastError",
    "DropcastWarning",
    "InputError",
    "InternalError",
    "Model",
    "NotVerifiedError",
    "Report",
    "Run",
    "Sweep",
    "Trace",
    "TraceFolder",
    "__version__",
    "collect",
    "export",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_forest",
    "inspect",
    "refine",
    "report",
    "reproduce",
    "resources",
    "run",
    "simulate",
    "sweep",
    "train",
    "train_per",
    "verify",
]
