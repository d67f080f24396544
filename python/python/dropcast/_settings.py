"""Arguments as the command has them: its names, its defaults, its words."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from dropcast import _dropcast

F = TypeVar("F", bound=Callable[..., Any])


@cache
def commands() -> dict[str, Any]:
    """Every command, with its arguments, defaults and help."""
    found: dict[str, Any] = json.loads(_dropcast.commands())
    return found


def as_arguments(settings: Mapping[str, Any]) -> list[str]:
    """Settings as the command line has them; those that are None or False are left out."""
    arguments = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        arguments.append(flag if value is True else f"{flag}={as_text(value)}")
    return arguments


def as_text(value: Any) -> str:
    """A value as the command line has it: lists are separated by commas."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Iterable):
        return ",".join(str(item) for item in value)
    return str(value)


def takes_settings_of(command: str) -> Callable[[F], F]:
    """Gives a function the remaining arguments of a command: the names and defaults that it shows,
    what `help` says of them, and a TypeError for others. So it has whatever the command learns."""

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        named = [of for of in own.parameters.values() if of.kind != of.VAR_KEYWORD]
        known = {of.name for of in named}
        arguments = [of for of in commands()[command]["arguments"] if _name(of) not in known]
        arguments = [of for of in arguments if _name(of) not in NOT_HERE]
        inherited = [
            inspect.Parameter(_name(of), inspect.Parameter.KEYWORD_ONLY, default=default_of(of))
            for of in arguments
        ]
        signature = own.replace(parameters=named + inherited)

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}") from None
            return function(*bound.args, **bound.kwargs)

        call.__name__, call.__qualname__ = function.__name__, function.__qualname__
        call.__module__ = function.__module__
        call.__doc__ = (inspect.getdoc(function) or "") + _about(arguments)
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__wrapped__ = function  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


# What is printed where is no argument of a function.
NOT_HERE = {"format"}


def default_of(argument: Mapping[str, Any]) -> Any:
    """The default of an argument, as Python has it."""
    if argument["is_flag"]:
        return False
    default = argument["default"]
    if not default:
        return None
    text = default[0]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def default(command: str, name: str) -> Any:
    """The command's default of an argument."""
    arguments = commands()[command]["arguments"]
    return next(default_of(of) for of in arguments if _name(of) == name)


def _name(argument: Mapping[str, Any]) -> str:
    return str(argument["name"]).replace("-", "_")


def _about(arguments: list[Mapping[str, Any]]) -> str:
    lines = ["", "", "Further settings, those of the command:", ""]
    for argument in arguments:
        default = default_of(argument)
        shown = "" if default in (None, False) else f" Default: {default}."
        choices = argument["choices"]
        known = f" One of {', '.join(choices)}." if choices and not argument["is_flag"] else ""
        lines.append(f"{_name(argument)}:\n    {argument['help']}{known}{shown}")
    return "\n".join(lines) + "\n"


def as_list(value: Any) -> list[Any]:
    """One thing, or several in a list or tuple."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))


def switch_of(switch: Any) -> dict[str, Any] | None:
    """A description of switches, a file or a dict, for the compiled part."""
    if switch is None:
        return None
    if is_path(switch):
        return {"path": os.fspath(switch), "json": None}
    return {"path": None, "json": json.dumps(switch)}
