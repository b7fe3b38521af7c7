# SPDX-License-Identifier: Apache-2.0
"""Writes the guide "How to write a PMU driver that passes review" from the checks, the rules and the examples."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.rules import generate

from . import examples
from .report import About, about_checks

ORDER = {
    "event_init": "event_init",
    "add": "add",
    "read": "read and stop",
    "interrupt": "The interrupt",
    "hotplug": "A CPU that goes offline",
    "registration": "Registration",
    "sysfs": "Files in sysfs",
    "tree": "Other files of the kernel tree",
}
"""The headings, by callback, in their order."""
TITLE = "How to write a PMU driver that passes review"
INTRODUCTION = (
    "Each section has duties of a PMU driver, with the reason. A line that begins with + is right, and a line that begins "
    "with - is the mistake. The names in brackets are rules of the catalogue, and the check of `make review`."
)


def duties() -> Iterator[tuple[str, list[tuple[str, About]]]]:
    """The headings, each with its checks."""
    for callback, heading in ORDER.items():
        yield heading, [
            (name, about) for name, about in about_checks().items() if about.callback == callback
        ]


def snippet(name: str) -> list[str]:
    """The example of a check as the lines of a diff; empty without one."""
    example = examples.read().get(name)
    if example is None:
        return []
    lines = [
        ("-" if sign else "+", text)
        for sign, source in ((1, example.wrong), (0, example.right))
        for text in source.strip("\n").splitlines()
    ]
    return [f"{sign}{text}" for sign, text in lines]


def wrap(text: str) -> list[str]:
    """The lines of a paragraph."""
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def rule_texts() -> dict[str, str]:
    """The text of each rule of the catalogue."""
    rules = generate.read_catalogue(sorted(Path(generate.__file__).parent.glob("*.toml")))
    return {rule.id: rule.text for rule in rules}


def markdown() -> str:
    """The guide as Markdown."""
    out = [
        f"# {TITLE}",
        "",
        *wrap(INTRODUCTION),
        "",
        "`/usr/bin/python3 -m review.guide` generates this page.",
    ]
    for heading, checks in duties():
        out += ["", f"## {heading}"]
        for name, about in checks:
            rules = ", ".join(about.rules)
            out += ["", *wrap(f"**{about.title}** ({rules}; `{name}`)"), "", *wrap(about.why)]
            if lines := snippet(name):
                out += ["", "```diff", *lines, "```"]
    return "\n".join(out) + "\n"


def restructured() -> str:
    """The guide as reStructuredText, for Documentation/ of the kernel."""
    bar = "=" * len(TITLE)
    out = [
        ".. SPDX-License-Identifier: GPL-2.0",
        "",
        bar,
        TITLE,
        bar,
        "",
        INTRODUCTION.replace("`", "``"),
    ]
    for heading, checks in duties():
        out += ["", heading, "=" * len(heading)]
        for name, about in checks:
            out += ["", f"**{about.title}** ({', '.join(about.rules)})", "", about.why]
            if lines := snippet(name):
                out += ["", ".. code-block:: diff", "", *(f"   {line}".rstrip() for line in lines)]
    return "\n".join(out) + "\n"


def machine() -> str:
    """The guide for a program that reviews patches: short, by callback, with the rule that proves a suspicion."""
    texts = rule_texts()
    out = ["# PMU drivers (struct pmu)", ""]
    for heading, checks in duties():
        out += [f"## {heading}", ""]
        for name, about in checks:
            proof = " ".join(texts[rule] for rule in about.rules[:1] if rule in texts)
            out += [
                f"- {about.title}",
                f"  - rule: {proof or about.title}",
                f"  - effect: {about.why}",
            ]
            out += [f"  - do not report if: {about.refute}"]
            out += [f"  - fixed elsewhere: {about.fixed}"] * bool(about.fixed)
        out += [""]
    return "\n".join(out)


FORMATS = {"markdown": markdown, "rst": restructured, "machine": machine}


def main(argv: Sequence[str]) -> int:
    """Prints the guide."""
    parser = argparse.ArgumentParser(prog="python3 -m review.guide", description=__doc__)
    parser.add_argument("--format", choices=FORMATS, default="markdown")
    print(FORMATS[parser.parse_args(argv).format](), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
