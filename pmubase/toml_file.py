# SPDX-License-Identifier: Apache-2.0
"""Reads a TOML file by a JSON schema. An error is one line with the file, the line of the [[table]], and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import jsonschema

from .errors import UserError

Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "pattern": r"\S", "description": "a text"}
TEXTS: Schema = {"type": "array", "items": TEXT, "uniqueItems": True}
SOME_TEXTS: Schema = {**TEXTS, "minItems": 1}
KINDS = {"string": "a text", "boolean": "true or false", "integer": "a whole number"}
KINDS |= {"number": "a number", "array": "a list", "object": "a table"}
"""The types of JSON, as a message names them."""


def like(pattern: str, description: str) -> Schema:
    """A schema for a text that matches a pattern as a whole. `description` is for the message."""
    return {"type": "string", "pattern": rf"^(?:{pattern})\Z", "description": description}


def table(keys: Mapping[str, Schema], optional: Collection[str] = ()) -> Schema:
    """A schema for a table that has these keys, and no other ones."""
    head = {"type": "object", "additionalProperties": False}
    required = [key for key in keys if key not in optional]
    return {**head, "required": required, "properties": dict(keys)}


def tables(key: str, entry: Schema) -> Schema:
    """A schema for a file that has only tables [[key]]."""
    return table({key: {"type": "array", "items": entry}}, optional=[key])


def load(path: Path, schema: Schema) -> dict[str, Any]:
    """The content of the file. UserError names the first violation of the schema."""
    try:
        found = tomllib.loads(text := path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:  # ValueError: not UTF-8, or not TOML.
        raise UserError(f"{path}: {getattr(why, 'strerror', None) or why}") from why
    check(found, schema, path, text)
    return found


def check(found: dict[str, Any], schema: Schema, path: Path, text: str = "") -> None:
    """UserError names the first violation of the schema by the values of a file. `text`: its TOML, to find the line."""
    for error in jsonschema.Draft7Validator(schema).iter_errors(found):
        keys = list(error.absolute_path)
        raise UserError(f"{path}{_line(text, keys)}: {_place(keys)}{_why(error)}")


def _line(text: str, keys: list[str | int]) -> str:
    """The line of the [[table]] that the keys begin with. Removes its index from them. "" for another value."""
    match keys:
        case [str(name), int(index), *_]:
            rows = enumerate(text.splitlines(), 1)
            heads = [number for number, row in rows if row.startswith(f"[[{name}]]")]
            if index < len(heads):
                del keys[1]
                return f":{heads[index]}"
    return ""


def _place(keys: list[str | int]) -> str:
    words = "".join(f"[{key + 1}]" if isinstance(key, int) else f".{key}" for key in keys)
    return f"{words.removeprefix('.')}: " if keys else ""


def _why(error: jsonschema.ValidationError) -> str:
    wanted, has, schema = error.validator_value, error.instance, error.schema
    if error.validator == "additionalProperties":
        known = schema["properties"]
        return f"unknown key '{min(set(has) - set(known))}'; known: {', '.join(known)}"
    if error.validator == "required":
        return f"no key '{next(key for key in wanted if key not in has)}'"
    if error.validator in ("minItems", "uniqueItems"):
        return "has an entry twice" if wanted is True else f"has fewer than {wanted} entries"
    kind = f"one of {', '.join(wanted)}" if error.validator == "enum" else KINDS.get(str(wanted))
    return f"{has!r} is not {schema.get('description') or kind or wanted}"
