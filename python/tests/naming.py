"""The text of ``dropcast/named_settings.py``: settings by name and type, as the commands describe them."""

import inspect

import dropcast
from dropcast._settings import arguments_of, default_of, settings_names
from dropcast.sklearn import DropcastClassifier

HEAD = '''"""The settings that functions take besides their own arguments, by name, for type checkers.

They are the command's options; ``help(dropcast.train)`` says what each does. This file is written by
``UPDATE_GOLDEN=1 python -m pytest tests/test_package.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Union

#: Names, or a text with commas between them.
Names = Union[str, Iterable[str]]
#: Numbers, or a text with commas between them.
Numbers = Union[str, int, Iterable[int]]
'''

#: Types that the classifier of scikit-learn has in place of the command's, for its own names too.
CLASSIFIER = {
    "bootstrap": "bool",
    "class_weight": "str | dict[Any, float] | None",
    "features": "Any",
    "max_features": "str | int | None",
    "n_jobs": "int | None",
    "random_state": "Any",
}


def further(function):
    """The names of settings that a function takes beside its own arguments."""
    own = inspect.signature(getattr(function, "__wrapped__", None) or function).parameters
    return [name for name in inspect.signature(function).parameters if name not in own]


def type_of(argument):
    """The type of an argument's values in Python."""
    values = argument["values"] or ""
    if argument["is_flag"]:
        return "bool"
    if argument["is_many"]:
        return "object"
    if argument["choices"]:
        said = "Literal[" + ", ".join(f'"{choice}"' for choice in argument["choices"]) + "]"
    elif "=" in values:
        said = "str | Mapping[str, int]"
    elif values.endswith(",..."):
        said = "Names" if values.startswith("NAME") else "Numbers"
    elif values == "NAME":
        said = "Names"
    elif values.endswith("|N"):
        said = "str | int"
    else:
        said = argument["type"]
    has_default = default_of(argument) is not None or said == "Names"
    return said if has_default else f"{said} | None"


def text():
    """The whole file."""
    parts = [name for name in settings_names()["train"] if name != "seed"]
    refined = further(dropcast.refine)
    classifier = inspect.signature(DropcastClassifier).parameters
    tables = [
        ("LabelSettings", "", "How arrivals are labelled.", "collect", settings_names()["labels"]),
        ("CollectSettings", "LabelSettings", "Further settings of :func:`dropcast.collect`.", "collect", further(dropcast.collect)),
        ("ForestSettings", "", "How forests are trained.", "train", [name for name in parts if name in refined]),
        ("SplitForestSettings", "ForestSettings", "The same, and how rows are divided and vote thresholds chosen.", "train", parts),
        ("TrainSettings", "SplitForestSettings", "Further settings of :func:`dropcast.train`.", "train", further(dropcast.train)),
        ("ClassifierSettings", "", "Settings of :class:`dropcast.sklearn.DropcastClassifier`.", "train", list(classifier)[1:]),
        ("RefineSettings", "ForestSettings", "Further settings of :func:`dropcast.refine`.", "refine", refined),
        ("ReproduceSettings", "", "Further settings of :func:`dropcast.reproduce`.", "reproduce", further(dropcast.reproduce)),
    ]
    file, known = [HEAD], {"": set()}
    for name, base, doc, command, names in tables:
        types = {of["name"].replace("-", "_"): type_of(of) for of in arguments_of(command)}
        types |= CLASSIFIER if name == "ClassifierSettings" else {}
        bases = f"{base}, " if base else "TypedDict, "
        fields = [f"    {field}: {types[field]}\n" for field in names if field not in known[base]]
        file.append(f'\n\nclass {name}({bases}total=False):\n    """{doc}"""\n\n' + "".join(fields))
        known[name] = {*known[base], *names}
    return "".join(file)
