"""YAML of the BOM: loaded safely, duplicate keys refused, every mistake named by file and field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from schemas.errors import BomError

M = TypeVar("M", bound=BaseModel)


class _UniqueKeys(yaml.SafeLoader):
    """A key given twice is a mistake; PyYAML would silently keep the last."""


def _mapping(loader: _UniqueKeys, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is given twice", node.start_mark)
    return loader.construct_mapping(node, deep=True)


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse_yaml(name: str, raw: bytes) -> Any:
    """The document in a YAML file. Raises BomError with the line."""
    try:
        return yaml.load(raw.decode("utf-8"), Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except UnicodeDecodeError as error:
        raise BomError(f"{name}: byte {error.start} is not UTF-8") from error
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        if isinstance(error, yaml.reader.ReaderError):  # it has a position and no mark
            line = raw.decode("utf-8")[: error.position].count("\n") + 1
            raise BomError(f"{name}: line {line}: the character U+{error.character:04X} is not allowed") from error
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise BomError(f"{name}: {where}{getattr(error, 'problem', None) or type(error).__name__}") from error


def read_yaml(files: Mapping[str, bytes], name: str, shape: type[M]) -> M:
    """One YAML file of the BOM in its shape. Raises BomError naming file, field and value."""
    if name not in files:
        raise BomError(f"{name} is missing from the BOM")
    try:
        return shape.model_validate(parse_yaml(name, files[name]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the document"
        raise BomError(f"{name}: {field}: {first['msg']} (got {first['input']!r:.80})") from error
