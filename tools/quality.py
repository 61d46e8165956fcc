# SPDX-License-Identifier: Apache-2.0
"""docs/quality.txt: figures that take minutes to find, each with the day on which it was found."""
import datetime
import pathlib

FILE = pathlib.Path(__file__).resolve().parent.parent / "docs/quality.txt"
HEADING = "# Written by tools/clang_tidy --write and tools/coverage --write; tools/measures copies it: NAME: FIGURE, DATE\n"


def rows():
    """{name: "figure, date"} in the file's order."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def put(figures):
    """Replaces the figures of these names."""
    today = datetime.date.today()
    table = rows() | {name: f"{figure}, {today}" for name, figure in figures.items()}
    FILE.write_text(HEADING + "".join(f"{name}: {value}\n" for name, value in table.items()))
