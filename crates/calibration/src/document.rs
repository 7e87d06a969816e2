//! The published JSON Schema of the calibration file, generated from its types.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Value, json};

use crate::file::Calibration;

/// The JSON Schema (draft 2020-12) of the calibration file, version 1, as indented text.
///
/// It refuses everything that a schema can refuse. Only [`Calibration::read`] checks that bins ascend, that the chosen
/// model is one of `models` and that a covariance is symmetric and positive.
pub fn schema() -> String {
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
