//! The form of witness files.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_norway::Value;

/// An entry of a file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct EntryView {
    pub(super) entry_type: String,
    #[serde(default)]
    pub(super) metadata: MetadataView,
    pub(super) content: Vec<ItemView>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct MetadataView {
    #[serde(deserialize_with = "word")]
    pub(super) format_version: String,
    pub(super) uuid: String,
    #[serde(deserialize_with = "word")]
    pub(super) creation_time: String,
    pub(super) producer: ProducerView,
    pub(super) task: TaskView,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct ProducerView {
    pub(super) name: String,
    #[serde(deserialize_with = "word")]
    pub(super) version: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct TaskView {
    pub(super) input_files: Vec<String>,
    pub(super) input_file_hashes: BTreeMap<String, String>,
    pub(super) specification: String,
    pub(super) data_model: String,
    pub(super) language: String,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct ItemView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) segment: Option<Vec<StepView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) invariant: Option<InvariantView>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StepView {
    pub(super) waypoint: WaypointView,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct WaypointView {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread_id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) constraint: Option<ConstraintView>,
    pub(super) location: LocationView,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ConstraintView {
    #[serde(deserialize_with = "word")]
    pub(super) value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct InvariantView {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) location: LocationView,
    #[serde(deserialize_with = "word")]
    pub(super) value: String,
    pub(super) format: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LocationView {
    #[serde(default)]
    pub(super) file_name: String,
    pub(super) line: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) function: Option<String>,
}

/// Reads a scalar as text: files have `1` and `true` without quotes.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("a text is expected here")),
    }
}
