#!/usr/bin/env python3
"""Prints the licence texts of the crates that a target's build is made of: licences.py TARGET. deny.toml says which licences may be."""

import json
import re
import subprocess
import sys
from pathlib import Path

NAMED = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked", "--manifest-path", "python/Cargo.toml", "--features", "object-store"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


target = sys.argv[1]
tree = cargo("tree", "--target", target, "--edges", "normal", "--prefix", "none", "--format", "{p}")
built = {tuple(line.split()[:2]) for line in tree.splitlines()}
metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))
print("dropcast is under the MIT license (LICENSE). The command and the wheels are built with these libraries, each under its license.")
for crate in sorted(metadata["packages"], key=lambda crate: (crate["name"], crate["version"])):
    if crate["source"] is None or (crate["name"], "v" + crate["version"]) not in built:
        continue
    print(f"\n{'=' * 80}\n{crate['name']} {crate['version']}: {crate['license'] or crate['license_file']}")
    if crate["authors"]:
        print("by " + ", ".join(crate["authors"]))
    if crate["repository"]:
        print(crate["repository"])
    for file in sorted(Path(crate["manifest_path"]).parent.iterdir()):
        if file.is_file() and NAMED.match(file.name):
            print(f"\n{file.name}:\n\n{file.read_text(errors='replace').strip()}")
