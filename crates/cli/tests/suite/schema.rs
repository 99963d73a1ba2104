//! A validator for the part of JSON Schema that `docs/schema/` uses. A keyword that it does not know is a failure.

use std::path::Path;

use serde_json::{Map, Value};

/// Returns what is wrong with a value, by a schema file in `docs/schema/`.
pub(crate) fn validate(file: &str, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    let root = load(file);
    Validator { root: &root }.check(&root, value, "", &mut errors);
    errors
}

fn load(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(file);
    let text = std::fs::read_to_string(&path).expect("the schema is there");
    serde_json::from_str(&text).expect("the schema is JSON")
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let schema = schema.as_object().expect("a schema is an object");
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "$schema" | "$id" | "title" | "description" | "$defs" => {}
                "properties" | "required" | "additionalProperties" => {}
                "$ref" => self.follow(rule.as_str().expect("a reference is a string"), value, at, errors),
                "type" if !has_type(rule, value) => errors.push(format!("{at}: {value} is not of type {rule}")),
                "const" if value != rule => errors.push(format!("{at}: {value} is not {rule}")),
                "enum" if !rule.as_array().expect("a list").contains(value) => {
                    errors.push(format!("{at}: {value} is not one of {rule}"));
                }
                "minimum" if value.as_f64().is_some_and(|number| Some(number) < rule.as_f64()) => {
                    errors.push(format!("{at}: {value} is below {rule}"));
                }
                "type" | "const" | "enum" | "minimum" => {}
                "anyOf" => self.any_of(rule, value, at, errors),
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{number}"), errors);
                    }
                }
                unknown => panic!("the validator does not know `{unknown}`"),
            }
        }
        if let Some(value) = value.as_object() {
            self.object(schema, value, at, errors);
        }
    }

    fn object(&self, schema: &Map<String, Value>, value: &Map<String, Value>, at: &str, errors: &mut Vec<String>) {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !value.contains_key(name.as_str().expect("a name")) {
                errors.push(format!("{at}: {name} is missing"));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, member) in value {
            match properties.and_then(|properties| properties.get(name)) {
                Some(rule) => self.check(rule, member, &format!("{at}/{name}"), errors),
                None if is_closed => errors.push(format!("{at}: {name} is not known")),
                None => {}
            }
        }
    }

    fn any_of(&self, rules: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let mut failures = Vec::new();
        for rule in rules.as_array().expect("a list") {
            let mut found = Vec::new();
            self.check(rule, value, at, &mut found);
            if found.is_empty() {
                return;
            }
            failures.extend(found);
        }
        errors.extend(failures);
    }

    /// `#/$defs/name` in this file, or `file#/$defs/name`.
    fn follow(&self, reference: &str, value: &Value, at: &str, errors: &mut Vec<String>) {
        let (file, pointer) = reference.split_once('#').expect("references have a fragment");
        if file.is_empty() {
            let rule = self.root.pointer(pointer).expect("the reference leads somewhere");
            return self.check(rule, value, at, errors);
        }
        let root = load(file);
        let rule = root.pointer(pointer).expect("the reference leads somewhere");
        Validator { root: &root }.check(rule, value, at, errors);
    }
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().expect("types are names") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        unknown => panic!("the validator does not know the type `{unknown}`"),
    };
    rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
}
