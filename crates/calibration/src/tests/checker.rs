//! A JSON Schema validator for tests, with the keywords of our schema only.
//!
//! A validator from crates.io as dev-dependency would enable features of crates that polars uses, so tests would
//! compile polars a second time.

use serde_json::Value;

/// Whether the document is valid. Panics on unknown keywords and patterns.
pub(super) fn is_valid(schema: &Value, document: &Value) -> bool {
    check(schema, schema, document)
}

fn check(root: &Value, schema: &Value, value: &Value) -> bool {
    let keywords = schema.as_object().expect("a schema is an object");
    keywords.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => check(root, root.pointer(&rule.as_str().unwrap()[1..]).expect("a definition"), value),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| check(root, one, value)),
        "const" => value == rule || (rule.is_number() && value.as_f64() == rule.as_f64()),
        "enum" => rule.as_array().unwrap().contains(value),
        "oneOf" => rule.as_array().unwrap().iter().filter(|one| check(root, one, value)).count() == 1,
        "type" => match rule {
            Value::Array(types) => types.iter().any(|one| is_of(one.as_str().unwrap(), value)),
            one => is_of(one.as_str().unwrap(), value),
        },
        // each of the other keywords applies to one type and ignores the rest
        "required" => value
            .as_object()
            .is_none_or(|o| rule.as_array().unwrap().iter().all(|name| o.contains_key(name.as_str().unwrap()))),
        "properties" => value.as_object().is_none_or(|o| {
            rule.as_object().unwrap().iter().all(|(name, one)| o.get(name).is_none_or(|v| check(root, one, v)))
        }),
        "additionalProperties" => {
            assert_eq!(rule, false);
            let known = keywords.get("properties").and_then(Value::as_object).expect("properties");
            value.as_object().is_none_or(|o| o.keys().all(|name| known.contains_key(name)))
        }
        "minProperties" => value.as_object().is_none_or(|o| o.len() as u64 >= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| check(root, rule, item))),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
        "minLength" => value.as_str().is_none_or(|s| s.chars().count() as u64 >= rule.as_u64().unwrap()),
        "pattern" => value.as_str().is_none_or(|s| matches(rule.as_str().unwrap(), s)),
        "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|x| x > rule.as_f64().unwrap()),
        other => panic!("keyword {other}"),
    })
}

fn is_of(one: &str, value: &Value) -> bool {
    match one {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|x| x.fract() == 0.0),
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        other => panic!("type {other}"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let shape = |shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(b, s)| match s {
                b'x' => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
                b'9' => b.is_ascii_digit(),
                other => b == other,
            })
    };
    match pattern {
        "^[0-9a-f]{64}$" => shape(&"x".repeat(64)),
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" => shape("9999-99-99"),
        other => panic!("pattern {other}"),
    }
}
