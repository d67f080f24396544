"""The package as it is installed, and that it has what the command has."""

import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import get_type_hints

import naming
import pytest

import dropcast
from dropcast import _dropcast, named_settings
from dropcast._settings import arguments_of, commands, default_of

# Commands that the package has no function of, and why.
NO_FUNCTIONS = {
    "completions": "of the shell",
    "counters": "judges a file of counters; --format json is for programs",
    "man": "of the command",
    "switch": "drafts a file to be edited",
}
FUNCTIONS = {
    "run": dropcast.run,
    "simulate": dropcast.simulate,
    "collect": dropcast.collect,
    "train": dropcast.train,
    "refine": dropcast.refine,
    "sweep": dropcast.sweep,
    "map": dropcast.map,
    "import": dropcast.import_forest,
    "rescale": dropcast.Model.for_buffer,
    "export": dropcast.export,
    "verify": dropcast.verify,
    "resources": dropcast.resources,
    "report": dropcast.report,
    "inspect": dropcast.inspect,
    "reproduce": dropcast.reproduce,
}
# Arguments that have another name in Python.
RENAMED = {("import", "from"): "format", ("collect", "events"): "events"}
# Arguments that a function does without: what it returns is not printed or written.
# The rule of a switch without a model is no method of models.
WITHOUT = {
    ("import", "output"),
    ("rescale", "output"),
    # A program compares what it likes.
    ("report", "fail_if"),
    # Of texts; what Python has is UTC.
    ("report", "utc_offset"),
    # A format: save(path, "details").
    ("report", "details"),
    # What Python writes it verifies.
    ("verify", "files"),
    ("run", "details"),
    # A file for other programs.
    ("report", "decisions"),
    ("rescale", "model"),
    ("export", "policy"),
    ("verify", "policy"),
    ("verify", "switch"),
    ("verify", "verdicts"),
}


def test_it_has_a_version():
    assert dropcast.__version__[0].isdigit()


def test_every_command_is_a_function_or_known_not_to_be():
    assert set(commands()) == set(FUNCTIONS) | set(NO_FUNCTIONS)


@pytest.mark.parametrize("command", FUNCTIONS)
def test_functions_have_the_names_and_defaults_of_the_command(command):
    parameters = inspect.signature(FUNCTIONS[command]).parameters
    for argument in arguments_of(command):
        name = argument["name"].replace("-", "_")
        if name == "format" or (command, name) in WITHOUT:
            continue
        name = RENAMED.get((command, name), name)
        assert name in parameters, name
        default = parameters[name].default
        expected = default_of(argument)
        is_said = argument["is_required"] or argument["is_many"] or expected is None
        if not is_said and (command, name) != ("reproduce", "output"):
            assert default == expected, name
        if command == "reproduce" and name == "output":
            assert default is None  # it depends on the figure
        elif expected is None and not argument["is_required"]:
            assert default in (None, (), False, inspect.Parameter.empty), name


def test_settings_are_named_for_type_checkers():
    """A new option is in the file after `UPDATE_GOLDEN=1 python -m pytest tests/test_package.py`."""
    path = pathlib.Path(__file__).parents[1] / "python" / "dropcast" / "named_settings.py"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(naming.text())
    assert path.read_text() == naming.text()


def test_settings_of_parts_are_named_for_type_checkers():
    def known(call):
        with pytest.raises(dropcast.InputError, match="unknown field `x`") as error:
            call()
        return set(re.findall("`([a-z_]+)`", str(error.value).split("expected one of")[1]))

    forest = known(lambda: _dropcast.summarize_trace("none", '{"x": 1}'))
    split = known(lambda: _dropcast.summarize_trace("none", '{"split": {"by": "time", "x": 1}}'))
    assert set(get_type_hints(named_settings.SplitForestSettings)) == forest | split - {"by"}
    labels = known(lambda: _dropcast.cut_events('{"settings": {"x": 1}}', 1))
    assert set(get_type_hints(named_settings.LabelSettings)) == labels


def test_help_teaches_what_the_command_says():
    about = dropcast.train.__doc__
    assert "min_samples_leaf:" in about and "Least rows in a leaf" in about


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError, match=r"train\(\): got an unexpected keyword argument 'tree'"):
        dropcast.train("x", tree=4)


def test_the_command_is_in_the_wheel(trace_file):
    said = subprocess.run(
        [sys.executable, "-m", "dropcast", "inspect", trace_file, "--format", "json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(said.stdout)["kind"] == "trace"


def test_everything_public_has_docs():
    for name in dropcast.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(dropcast, name)), name
    assert _dropcast.targets()
