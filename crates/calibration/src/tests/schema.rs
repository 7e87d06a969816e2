//! The JSON Schema of the calibration file as its types say it, and the parts that they do not give by themselves:
//! [`crate::SCHEMA`] is its committed text.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::estimate::Estimate;
use crate::evidence::Evidence;
use crate::file::Calibration;
use crate::model::{Model, ModelKind};
use crate::types::Termination;

pub(crate) fn schema() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(strict));
    format!("{:#}\n", settings.into_generator().into_root_schema_for::<Calibration>().to_value())
}

/// Requires every field of an object, except where the schema says that none is, and bounds integers by their types.
fn strict(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = object.get("properties")
        && object.get("required") != Some(&json!([]))
    {
        let names: Vec<&String> = properties.keys().collect();
        object.insert("required".to_owned(), json!(names));
    }
    let (minimum, maximum) = match object.remove("format").as_ref().and_then(Value::as_str) {
        Some("uint64") => (json!(0), json!(u64::MAX)),
        Some("uint32") => (json!(0), json!(u32::MAX)),
        Some("int64") => (json!(i64::MIN), json!(i64::MAX)),
        _ => return,
    };
    object.entry("minimum").or_insert(minimum);
    object.entry("maximum").or_insert(maximum);
}

/// An object that may have any of these fields and no others.
fn any_of<'a>(names: impl IntoIterator<Item = &'a str>, value: impl Fn(&str) -> Schema) -> Schema {
    let properties: serde_json::Map<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), value(name).to_value())).collect();
    json_schema!({ "type": "object", "required": [], "additionalProperties": false, "properties": properties })
}

pub(crate) fn terminations(generator: &mut SchemaGenerator) -> Schema {
    let count = generator.subschema_for::<u64>();
    any_of(Termination::ALL.iter().map(|t| t.as_str()), |_| count.clone())
}

pub(crate) fn baselines(generator: &mut SchemaGenerator) -> Schema {
    let estimate = generator.subschema_for::<Estimate>();
    any_of(ModelKind::baselines().map(ModelKind::as_str), |_| estimate.clone())
}

pub(crate) fn chosen_model(generator: &mut SchemaGenerator) -> Schema {
    let models = forms(generator).into_iter().map(|(form, mut schema, _)| {
        let methods: Vec<&str> =
            ModelKind::calibrations().filter(|kind| kind.form_name() == Some(form)).map(ModelKind::as_str).collect();
        add(&mut schema, "kind", json!({ "const": form }));
        add(&mut schema, "method", json!({ "enum": methods }));
        schema
    });
    let models: Vec<Schema> = models.collect();
    json_schema!({ "anyOf": models })
}

pub(crate) fn fitted_models(generator: &mut SchemaGenerator) -> Schema {
    for (form, mut schema, size) in forms(generator) {
        add(&mut schema, "kind", json!({ "const": form }));
        let evidence = Evidence::json_schema(generator).to_value();
        for (name, field) in evidence["properties"].as_object().into_iter().flatten() {
            add(&mut schema, name, field.clone());
        }
        let covariance = &mut schema.ensure_object()["properties"]["covariance"];
        let description = covariance["description"].take();
        let row = json!({ "type": "array", "items": { "type": "number" }, "minItems": size, "maxItems": size });
        *covariance = match size {
            0 => json!({ "description": "None.", "type": "null" }),
            _ => json!({
                "description": description, "type": ["array", "null"], "items": row, "minItems": size, "maxItems": size,
            }),
        };
        generator.definitions_mut().insert(format!("fitted_{form}"), schema.to_value());
    }
    let mut models = any_of(ModelKind::calibrations().map(ModelKind::as_str), |name| {
        let form = ModelKind::parse(name).and_then(ModelKind::form_name).unwrap_or_default();
        Schema::new_ref(format!("#/$defs/fitted_{form}"))
    });
    models.insert("minProperties".to_owned(), json!(1));
    models
}

/// The forms of models that a file can hold.
fn forms(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema, usize)> {
    let mut forms = Model::schemas(generator);
    forms.retain(|(form, ..)| ModelKind::calibrations().any(|kind| kind.form_name() == Some(*form)));
    forms
}

fn add(schema: &mut Schema, name: &str, field: Value) {
    schema.ensure_object()["properties"][name] = field;
}
