"""Validates a file against a schema of docs/schema: schemas.py FOLDER NAME FILE.

The schemas refer to each other by their `$id`; nothing is fetched. The file without its version must be refused."""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

folder, name, path = sys.argv[1:]
schemas = [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder).glob("*.json"))]
for schema in schemas:
    Draft202012Validator.check_schema(schema)
registry = Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in schemas])
(schema,) = [schema for schema in schemas if schema["$id"].endswith(f"/{name}.schema.json")]
validator = Draft202012Validator(schema, registry=registry)

value = json.loads(pathlib.Path(path).read_text())
errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]
sys.exit("\n".join(errors)[:4000]) if errors else None
del value["version"]
print("accepted, and refused when broken" if not validator.is_valid(value) else "accepted even when broken")
