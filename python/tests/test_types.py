"""The types say what the package is."""

import re
import subprocess
import sys
from pathlib import Path

from needs import needed

import dropcast

needed("mypy")

PACKAGE = Path(dropcast.__file__).parent
PYTHON = Path(__file__).parent.parent


def test_stubs_are_those_of_the_compiled_part():
    said = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "dropcast._dropcast", "--ignore-missing-stub"],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout + said.stderr


def checked(text, path):
    """What mypy says of a program that uses the package: lines and their errors."""
    # A name of its own: mypy takes a file of the same second and size for the one it knows.
    program = path / f"program_{len(list(path.glob('*.py')))}.py"
    program.write_text(text)
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", path / "cache", program], capture_output=True, text=True
    )
    return {int(of.split(":")[1]): of for of in said.stdout.splitlines() if ": error:" in of}


def test_misspelt_settings_are_found_by_type_checkers(tmp_path):
    right = """import dropcast
import dropcast.partitions
model = dropcast.train("t.parquet", n_estimators=9, features=["rank"], vote=None, own=["priority"])
dropcast.collect("e.csv", departures="line-rate", strict_fit=True, own="priority")
dropcast.train_per("t.parquet", "switch", split="time-blocks", validation_share=0.1)
dropcast.refine("t.parquet", rounds=1, labelled_runs=1, n_estimators=2, model=model)
dropcast.reproduce("fig6", scale="small", runs=2)
dropcast.partitions.Training([dropcast.partitions.summarize("t.parquet", max_depth=3)], max_depth=3)
"""
    assert checked(right, tmp_path) == {}
    for said, instead, error in [
        ("n_estimators=9", "n_estimator=9", "n_estimator"),
        ("n_estimators=9", "n_estimators='9'", "expected \"int\""),
        ("strict_fit", "strictfit", "strictfit"),
        ("time-blocks", "time-block", "split"),
        ("labelled_runs", "labeled_runs", "labeled_runs"),
        ('scale="small"', 'scale="tiny"', "scale"),
        ("max_depth=3)],", "depth=3)],", "depth"),
    ]:
        line = right[: right.index(said)].count("\n") + 1
        found = checked(right.replace(said, instead), tmp_path)
        assert list(found) == [line] and error in found[line], found


def test_the_package_is_typed():
    arguments = ["-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "-p", "dropcast"]
    said = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    assert (PACKAGE / "py.typed").exists()


def test_the_package_runs_on_the_oldest_python_it_names():
    (oldest,) = re.findall(r'^requires-python = ">=(.*)"$', (PYTHON / "pyproject.toml").read_text(), re.MULTILINE)
    said = subprocess.run(["vermin", f"--target={oldest}-", "--eval-annotations", PACKAGE], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
