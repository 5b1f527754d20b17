"""What a case of the bench reports."""

import dataclasses


@dataclasses.dataclass
class Row:
    what: str
    peer: str
    ours: str
    ratio: str = ""
    goal: str = ""
    verdict: str = ""  # "met", "missed", "not run", or nothing where no goal is set


@dataclasses.dataclass
class Section:
    title: str
    note: str
    rows: list
    against: str = "Polygraphy"  # what the first column of figures is of
    compared: str = "Ratio"
