"""The types say what the package is."""

import subprocess
import sys
from pathlib import Path

from needs import needed

import dropcast

needed("mypy")

PACKAGE = Path(dropcast.__file__).parent


def test_stubs_are_those_of_the_compiled_part():
    said = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "dropcast._dropcast", "--ignore-missing-stub"],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_package_is_typed():
    arguments = ["-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "-p", "dropcast"]
    said = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    assert (PACKAGE / "py.typed").exists()
