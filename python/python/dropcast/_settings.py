"""Arguments as the command has them: its names, its defaults, its words."""

from __future__ import annotations

import difflib
import inspect
import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, Union

from dropcast import _dropcast
from dropcast.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
#: A file or a folder.
Path = Union[str, os.PathLike[str]]


@cache
def commands() -> dict[str, Any]:
    """Every command, with its arguments, defaults and help."""
    found: dict[str, Any] = json.loads(_dropcast.commands())
    return found


def arguments_of(command: str) -> list[dict[str, Any]]:
    """Arguments of a command, and of its subcommands, each name once."""
    found = commands()[command]
    of_each = [found, *found["subcommands"].values()]
    named = {of["name"]: of for each in reversed(of_each) for of in reversed(each["arguments"])}
    return list(reversed(named.values()))


@cache
def settings_names() -> dict[str, list[str]]:
    """Names of settings that several functions take: of ``labels``, ``train``, and of ``split`` among these."""
    found: dict[str, list[str]] = json.loads(_dropcast.settings_names())
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
        arguments = [of for of in arguments_of(command) if _name(of) not in known]
        arguments = [of for of in arguments if _name(of) not in NOT_HERE]
        inherited = [
            inspect.Parameter(_name(of), inspect.Parameter.KEYWORD_ONLY, default=default_of(of))
            for of in arguments
        ]
        signature = own.replace(parameters=named + inherited)
        defaults = {of.name: of.default for of in inherited if of.default not in (None, False)}

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                near = _nearest(kwargs, signature.parameters)
                raise TypeError(f"{function.__name__}(): {error}{near}") from None
            refuse_none({name: bound.arguments.get(name, "") for name in defaults}, defaults)
            return function(*bound.args, **bound.kwargs)

        call.__name__, call.__qualname__ = function.__name__, function.__qualname__
        call.__module__ = function.__module__
        call.__doc__ = (inspect.getdoc(function) or "") + _about(arguments)
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__wrapped__ = function  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def _nearest(given: Iterable[str], known: Iterable[str]) -> str:
    """The name that is meant by the first that is not known, if one is near."""
    names = list(known)
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            return f"; did you mean {near[0]}?" if near else ""
    return ""


def refuse_none(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuses None for a setting that has a default: it would be taken silently."""
    for name, value in settings.items():
        if value is None and name in defaults:
            raise InputError(
                f"{name}: is None, expected a value; leave it out for the default, {defaults[name]}"
            )


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


def _about(arguments: Iterable[Mapping[str, Any]]) -> str:
    lines = ["", "", "Further settings, those of the command:", ""]
    for argument in arguments:
        default = default_of(argument)
        shown = "" if default in (None, False) else f" Default: {default}."
        choices = argument["choices"]
        known = f" One of {', '.join(choices)}." if choices and not argument["is_flag"] else ""
        lines.append(f"{_name(argument)}:\n    {argument['help']}{known}{shown}")
    return "\n".join(lines) + "\n"


def whole(name: str, value: Any, least: int = 1) -> Any:
    """A whole number from `least` on, or None."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number < 2**63:
        raise InputError(f"{name}: is {value!r}, expected a whole number from {least}")
    return number


def reading_of(
    column: Mapping[str, str] | None,
    time_unit: str | None,
    drops: Any = (),
    drop_window_ms: int | None = None,
) -> list[str]:
    """How events are read, as the command line has it."""
    if column is not None and not isinstance(column, Mapping):
        raise TypeError(f"column is a dict of columns by field, not {type(column).__name__}")
    columns = [f"--column={field}={of}" for field, of in (column or {}).items()]
    reports = [f"--drops={os.fspath(path)}" for path in as_list(drops)]
    window = whole("drop_window_ms", drop_window_ms, least=0)
    words = as_arguments({"time_unit": time_unit, "drop_window_ms": window})
    return [*words, *columns, *reports]


def as_list(value: Any) -> list[Any]:
    """One thing, or several in a list or tuple."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))


def described(value: Any) -> Any:
    """A description, a file or a dict with its fields, for the compiled part."""
    if value is None or is_path(value):
        return None if value is None else os.fspath(value)
    return {"json": json.dumps(value)}
