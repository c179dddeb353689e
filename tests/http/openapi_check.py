"""Holds answers against the OpenAPI document: the part of JSON Schema that it uses."""

import json
import pathlib
import re

DOCUMENT = json.loads(
    (pathlib.Path(__file__).parents[2] / "src/http/openapi.json").read_text(encoding="utf-8")
)
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def resolve(part):
    while "$ref" in part:
        found = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def is_of_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def mistakes(value, schema, at="$"):
    """What is wrong with `value`, as a list of sentences."""
    schema = resolve(schema)
    found = []
    if "allOf" in schema:
        parts = [resolve(part) for part in schema["allOf"]]
        schema = {
            "type": "object",
            "required": [name for part in parts for name in part["required"]],
            "properties": {n: p for part in parts for n, p in part["properties"].items()},
        }
    forms = schema.get("oneOf") or schema.get("anyOf")
    if forms:
        if not any(not mistakes(value, part, at) for part in forms):
            found.append(f"{at} fits none of its forms: {value!r}")
        return found
    if "const" in schema and value != schema["const"]:
        found.append(f"{at} is {value!r}, not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at} is {value!r}, none of {schema['enum']}")
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_of_type(value, name) for name in types):
            return found + [f"{at} is {value!r}, not of type {types}"]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                found.append(f"{at}.{name} is missing")
        for name, member in value.items():
            if name in known:
                found += mistakes(member, known[name], f"{at}.{name}")
            elif isinstance(schema.get("additionalProperties"), dict):
                found += mistakes(member, schema["additionalProperties"], f"{at}.{name}")
            elif known:
                found.append(f"{at}.{name} is not documented")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += mistakes(item, schema["items"], f"{at}[{i}]")
    return found


def operation_of(method, path):
    """The operation that serves the path, or None."""
    path = path.split("?")[0]
    candidates = sorted(DOCUMENT["paths"], key=lambda pattern: pattern.count("{"))
    for pattern in candidates:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
            return DOCUMENT["paths"][pattern].get("get" if method == "HEAD" else method.lower())
    return None


def check_answer(method, path, status, content_type, value):
    """What is wrong with an answer, as a list of sentences. Problems of every kind may come."""
    operation = operation_of(method, path)
    if content_type == "application/problem+json":
        return mistakes(value, {"$ref": "#/components/schemas/Problem"})
    if operation is None:
        return [f"{method} {path} is not documented"]
    if str(status) not in operation["responses"]:
        return [f"{method} {path} gave {status}, which is not documented"]
    content = resolve(operation["responses"][str(status)]).get("content", {})
    if not content:
        return [] if value is None else [f"{method} {path} gave a body with {status}"]
    if content_type not in content:
        return [f"{method} {path} gave {content_type}, not {list(content)}"]
    return mistakes(value, content[content_type]["schema"])
