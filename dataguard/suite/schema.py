"""JSON Schema (2020-12) of suites and of dataguard.yaml, for editors: from the table and the models, so that it never lags.

What no schema can say is left to the loader: bounds that cross, an expectation that stands twice with the same arguments, a
parameter without a value, names in `when`, 5.0 for 5. One thing is stricter here: null, written out, for an argument that must be
a number and is named by `when`; in suites it comes from a parameter.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from dataguard.expectations.base import Expectation
from dataguard.expectations.context import NAMES_FOR_WHEN
from dataguard.result import SEVERITIES
from dataguard.shards.roles import ROLES
from dataguard.suite.arguments import WHOLE_ALONE
from dataguard.suite.glossary import ARGUMENTS
from dataguard.suite.loading import EXPECTATION_KEYS, SUITE_KEYS
from dataguard.suite.parameters import KEY
from dataguard.suite.project import NAME, ProjectSettings, SamplerSettings
from dataguard.suite.settings import ExpectationSettings, SuiteSettings
from dataguard.vocabulary.told import IDS, SIZES

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PARAMETER = {"$ref": "#/$defs/parameter"}
NOTHING = {"type": "null"}
TEXT = {"type": ["string", "null"], "pattern": r"\S"}
HIGHEST = (1 << 63) - 1


def suite_schema(table: Mapping[str, type[Expectation]]) -> Schema:
    """Return the schema of a suite that names the expectations of a table."""
    properties: Schema = {key: {} for key in sorted(SUITE_KEYS)}
    properties |= {
        "name": {**TEXT, "description": "What reports call the suite."},
        "expectations": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": _expectation(table),
            "description": "What is expected, in the order in which reports list it.",
        },
        "suite_parameters": {
            "type": ["object", "null"],
            "description": f"Defaults of the parameters, which stand in arguments as {{{KEY}: NAME}}; --set NAME=VALUE wins.",
        },
        "meta": _meta(_settings(SuiteSettings), "Settings of dataguard stand under meta.dataguard."),
    }
    return {
        "$schema": DRAFT,
        "title": "A dataguard suite",
        **_closed(properties, required=("expectations",)),
        "$defs": {"parameter": _parameter(), **{name: _arguments(kind) for name, kind in table.items()}},
    }


def project_schema() -> Schema:
    """Return the schema of a dataguard.yaml."""
    return {"$schema": DRAFT, "title": NAME, **_settings(ProjectSettings)}


def _closed(properties: Schema, *, required: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object that has these keys and no others."""
    demands = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **demands}


def _expectation(table: Mapping[str, type[Expectation]]) -> Schema:
    properties: Schema = {key: {} for key in sorted(EXPECTATION_KEYS)}
    properties |= {
        "type": {"enum": list(table), "enumDescriptions": [_first_line(kind) for kind in table.values()]},
        "kwargs": {"description": "Its arguments."},
        "severity": {
            "enum": [*SEVERITIES, None],
            "description": "Only critical failures fail a run, unless --fail-on says otherwise.",
        },
        "id": TEXT,
        "meta": _meta(_settings(ExpectationSettings), "When it is skipped: {dataguard: {when: [labels]}}."),
    }
    return {**_closed(properties, required=("type",)), "allOf": [_of_type(*each) for each in table.items()]}


def _of_type(name: str, kind: type[Expectation]) -> Schema:
    """Return the condition that ties an expectation's arguments to its type."""
    needed = any(field.is_required() for field in kind.arguments().values())
    arguments: Schema = {"$ref": f"#/$defs/{name}"}
    allowed = {"anyOf": [arguments, PARAMETER, *([] if needed else [NOTHING])]}
    return {
        "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
        "then": {"properties": {"kwargs": allowed}, **({"required": ["kwargs"]} if needed else {})},
    }


def _arguments(kind: type[Expectation]) -> Schema:
    """Return the schema of an expectation's arguments."""
    whole = kind.model_json_schema()
    own = {name: _argument(name, schema, kind) for name, schema in whole["properties"].items()}
    if "by_source" in own:
        differing = {name: schema for name, schema in own.items() if name not in WHOLE_ALONE}
        of_source = {"anyOf": [_closed(differing), PARAMETER]}
        by_source = {**_mapping({"additionalProperties": of_source}), "description": ARGUMENTS["by_source"]}
        own["by_source"] = {"anyOf": [by_source, PARAMETER], "description": ARGUMENTS["by_source"]}
    described = {"description": inspect.getdoc(kind) or kind.type()}
    return {**described, **_closed(own, required=tuple(whole.get("required", ())))}


def _argument(name: str, schema: Schema, kind: type[Expectation]) -> Schema:
    told = kind.arguments()[name].description or ARGUMENTS.get(name) or _first_line(kind)
    default = {"default": schema["default"]} if "default" in schema else {}
    return {**_or_parameter(schema), **default, "description": told}


def _or_parameter(schema: Schema) -> Schema:
    """Return the schema of a value, wherever inside it a parameter may stand for one."""
    inner = _inside(schema)
    return {"anyOf": [*(inner["anyOf"] if set(inner) == {"anyOf"} else [inner]), PARAMETER]}


def _inside(schema: Schema) -> Schema:
    """Return a schema without pydantic's titles and defaults, the values inside of it replaced by `_or_parameter`."""
    found = {key: value for key, value in schema.items() if key not in ("title", "default")}
    if "anyOf" in found:
        found["anyOf"] = [_inside(each) for each in found["anyOf"]]
    if isinstance(found.get("items"), dict):
        found["items"] = _or_parameter(found["items"])
    if "prefixItems" in found:
        found["prefixItems"] = [_or_parameter(each) for each in found["prefixItems"]]
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = _or_parameter(found["additionalProperties"])
    return _mapping(found) if found.get("type") == "object" else found


def _mapping(schema: Schema) -> Schema:
    """Return the schema of an object that is no parameter."""
    return {"type": "object", "propertyNames": {"not": {"const": KEY}}, **schema}


def _parameter() -> Schema:
    return {
        **_closed({KEY: {"type": "string", "minLength": 1}}, required=(KEY,)),
        "description": f"A parameter of the suite: {{{KEY}: NAME}}, from suite_parameters or --set NAME=VALUE.",
    }


def _meta(own: Schema, description: str) -> Schema:
    """Return the schema of `meta`, which holds what others write too."""
    return {
        "type": ["object", "null"],
        "properties": {"dataguard": {"anyOf": [own, NOTHING]}},
        "description": description,
    }


def _settings(model: type[BaseModel]) -> Schema:
    """Return the schema of settings: what pydantic knows, and what the loader checks beside it."""
    whole = model.model_json_schema()
    found: Schema = {name: _without_titles(schema) for name, schema in whole["properties"].items()}
    for name, special in SPECIAL.items():
        if name in found:
            nullable = [NOTHING] if NOTHING in found[name].get("anyOf", ()) else []
            described = {key: found[name][key] for key in ("description",) if key in found[name]}
            found[name] = {"anyOf": [special(), *nullable], **described}
    return _closed(found)


def _sampler() -> Schema:
    return _settings(SamplerSettings)


def _without_titles(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in ("title", "default")}


def _columns() -> Schema:
    roles = "|".join(re.escape(role) for role in sorted(ROLES))
    return {
        "type": "object",
        "propertyNames": {"pattern": f"^(.*_)?({roles})$"},
        "additionalProperties": {"type": "string", "minLength": 1},
        "description": "Which column plays a role: {input_ids: tokens}.",
    }


def _vocabulary() -> Schema:
    number = {"type": "integer", "minimum": 0, "maximum": HIGHEST}
    keys: Schema = {key: {"type": ["integer", "null"], "minimum": 1, "maximum": HIGHEST} for key in SIZES}
    keys |= {key: {"type": ["integer", "null"], "minimum": 0, "maximum": HIGHEST} for key in IDS}
    keys["special"] = {"type": ["object", "null"], "additionalProperties": number}
    keys["reserved"] = {"type": ["array", "null"], "items": number}
    return {**_closed(keys), "description": "What no tokenizer tells: {size: 50257, pad: 50256}."}


def _when() -> Schema:
    known = {"enum": sorted(NAMES_FOR_WHEN)}
    return {
        "type": "array",
        "items": {"anyOf": [known, {"type": "string"}]},
        "description": "Where one of these is absent the expectation is skipped, and the report says so.",
    }


SPECIAL = {"columns": _columns, "vocabulary": _vocabulary, "when": _when, "sampler": _sampler}
"""Settings of which the loader knows more than pydantic."""


def _first_line(kind: type[Expectation]) -> str:
    return (inspect.getdoc(kind) or kind.type()).partition("\n")[0]
