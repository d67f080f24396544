"""The notebook runs, and the examples of the documents."""

import os
import re
from pathlib import Path

import pytest
from needs import needed

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_notebook_runs(tmp_path):
    nbclient, nbformat = needed("nbclient"), needed("nbformat")
    needed("ipykernel")
    notebook = nbformat.read(DOCS / "notebooks" / "events-to-p4.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "clear the outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in shown)
    assert "v1model.p4" in text or "core.p4" in text, text
    pictures = [output for output in shown if "image/png" in output.get("data", {})]
    assert len(pictures) == 4


@pytest.mark.parametrize("page", [DOCS / "python.md", DOCS.parent / "README.md"], ids=lambda p: p.name)
def test_examples_run(page, tmp_path):
    """The first example of a page, as a new user would try it."""
    examples = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert examples, page
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(compile(examples[0], str(page), "exec"), {})
    finally:
        os.chdir(here)
    assert (tmp_path / "tables").is_dir()


def test_the_example_of_the_environment_runs():
    needed("gymnasium")
    page = DOCS.parent / "lab" / "notes" / "environment.md"
    example = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)[0]
    exec(compile(example, str(page), "exec"), {})
