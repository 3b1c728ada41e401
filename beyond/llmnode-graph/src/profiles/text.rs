//! The format of the file.

use std::collections::BTreeMap;
use std::time::Duration;

use llmnode_runtime::{Reasoning, ResponseFormat, Settings};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{FaultKind, Faults, escaped};
use crate::file::{check, document, head, report_duplicates};

const FORMAT: &str = "llmnode/profiles";
const VERSION: u64 = 1;

pub(super) fn listed(text: &str, faults: &mut Faults) -> Option<Vec<(String, ProfileText)>> {
    let read = document(text, faults)?;
    let Value::Object(file) = read.value else {
        faults.fault("", FaultKind::WrongKind, "must be an object");
        return None;
    };
    if !file.contains_key("format") {
        faults.fault(
            "",
            FaultKind::Format,
            format!("\"format\" is missing: write \"format\": {FORMAT:?}"),
        );
    }
    if !head(&file, FORMAT, VERSION, faults) {
        return None;
    }
    report_duplicates(read.duplicates, faults);
    let before = faults.noted();
    let schema = schemars::schema_for!(FileText);
    check(schema.as_value(), false, &file, None, faults);
    if faults.noted() > before {
        return None;
    }
    let profiles = file
        .get("profiles")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut all = Vec::new();
    for (name, profile) in profiles {
        match ProfileText::deserialize(profile) {
            Ok(profile) => all.push((name.clone(), profile)),
            Err(error) => {
                faults.fault(
                    format!("/profiles/{}", escaped(name)),
                    FaultKind::WrongKind,
                    error.to_string(),
                );
            }
        }
    }
    Some(all)
}

/// The format of the file.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "its schema is read, not its values")]
struct FileText {
    format: Option<String>,
    version: Option<u64>,
    profiles: BTreeMap<String, ProfileText>,
}

/// A profile as the file has it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ProfileText {
    pub(super) base_url: Option<String>,
    #[schemars(length(min = 1))]
    pub(super) model: String,
    pub(super) api_key_env: Option<String>,
    #[serde(default)]
    settings: SettingsText,
}

/// How the model is asked.
#[derive(Default, Deserialize, JsonSchema)]
struct SettingsText {
    #[schemars(range(min = 0))]
    temperature: Option<f64>,
    #[schemars(range(min = 1))]
    max_tokens: Option<u32>,
    #[schemars(extend("enum" = ["off", "low", "medium", "high", "max", null], "x-what" = "reasoning"), with = "Option<String>")]
    reasoning: Option<Reasoning>,
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 86_400))]
    attempt_timeout_s: Option<f64>,
    #[schemars(extend("enum" = ["strict", "schema", "json_object", "prompt", "tool", null], "x-what" = "response format"), with = "Option<String>")]
    response_format: Option<ResponseFormat>,
    #[serde(default)]
    extra: Map<String, Value>,
}

impl ProfileText {
    pub(super) fn settings(&self) -> Settings {
        let text = &self.settings;
        let mut settings = Settings::new().model(self.model.clone());
        settings.temperature = text.temperature;
        settings.max_tokens = text.max_tokens;
        settings.reasoning = text.reasoning;
        settings.attempt_timeout = text
            .attempt_timeout_s
            .and_then(|time| Duration::try_from_secs_f64(time).ok());
        settings.response_format = text.response_format;
        settings.extra.extend(text.extra.clone());
        settings
    }
}
