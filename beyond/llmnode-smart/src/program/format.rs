//! llmnode's own format of programs.

use llmnode_reader::text::nearest;
use serde_json::{Map, Value, json};

use super::check::{self, DemoCheck, listed, member, unknown_field};
use super::plan::Plan;
use super::{ProgramError, ProgramFault, Provenance};
use crate::form::indented_json;
use crate::signature::{Demo, Field, Form, Signature, without_annotations};

const FORMAT: &str = "llmnode/program";
const VERSION: u64 = 2;
/// The members of a program but for that which says where it comes from.
const MEMBERS: [&str; 9] = [
    "format",
    "version",
    "node",
    "signature",
    "form",
    "goal",
    "fields",
    "demos",
    "settings",
];
const FORMS: [(&str, Form); 3] = [
    ("own", Form::Own),
    ("chat", Form::Chat),
    ("json", Form::Json),
];

/// `declared`: the node's own signature.
pub(super) fn write(node: &str, declared: &Signature, plan: &Plan) -> String {
    let Plan {
        signature,
        demos,
        temperature,
        max_tokens,
        provenance,
    } = plan;
    let mut described = Map::new();
    for field in signature.fields() {
        let is_declared = declared
            .fields()
            .any(|earlier| earlier.name == field.name && earlier.description == field.description);
        if !is_declared {
            described.insert(field.name.clone(), field.description.clone().into());
        }
    }
    let form = FORMS
        .iter()
        .find(|(_, form)| *form == signature.form)
        .map_or("own", |(name, _)| *name);
    let mut settings = Map::new();
    settings.extend(temperature.map(|figure| ("temperature".to_owned(), json!(figure))));
    settings.extend(max_tokens.map(|count| ("max_tokens".to_owned(), json!(count))));
    let mut file = json!({
        "format": FORMAT,
        "version": VERSION,
        "node": node,
        "signature": {"inputs": types(&signature.inputs), "outputs": types(&signature.outputs), "think": signature.thinks},
        "form": form,
        "goal": signature.goal,
        "fields": described,
        "demos": demos.iter().map(Demo::values).collect::<Vec<_>>(),
        "settings": settings,
    });
    if let (Some(provenance), Some(file)) = (
        provenance
            .as_ref()
            .and_then(|provenance| serde_json::to_value(provenance).ok()),
        file.as_object_mut(),
    ) {
        file.insert(provenance_member(VERSION).to_owned(), provenance);
    }
    indented_json(&file) + "\n"
}

fn types(fields: &[Field]) -> Map<String, Value> {
    fields
        .iter()
        .map(|field| (field.name.clone(), field.schema.clone()))
        .collect()
}

pub(super) fn read(
    root: &Value,
    signature: &Signature,
    typed: &DemoCheck,
) -> Result<Plan, ProgramError> {
    let version = read_version(root)?;
    let members: Vec<&str> = MEMBERS
        .into_iter()
        .chain([provenance_member(version)])
        .collect();
    let mut plan = Plan::new(signature);
    let mut faults = Vec::new();
    for name in root.as_object().into_iter().flat_map(Map::keys) {
        if members.contains(&name.as_str()) {
            continue;
        }
        let mend = nearest(name, members.iter().copied())
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        faults.push(ProgramFault::new(
            member("", name),
            format!("a program has no member `{name}`{mend}"),
        ));
    }
    match root.get("signature") {
        Some(saved) => differences(saved, signature, &mut faults),
        None => faults.push(ProgramFault::new("/signature", "is missing")),
    }
    let mut reading = ProgramReader {
        root,
        version,
        faults,
    };
    if let Some(goal) = reading.text("goal") {
        plan.signature.goal = goal.to_owned();
    }
    if let Some(form) = reading.text("form") {
        match FORMS.iter().find(|(name, _)| *name == form) {
            Some((_, form)) => plan.signature.form = *form,
            None => reading.fault(
                "/form",
                format!("there is no form {form:?}; write \"own\", \"chat\" or \"json\""),
            ),
        }
    }
    reading.fields(&mut plan);
    reading.settings(&mut plan);
    plan.demos = reading.demos();
    reading
        .faults
        .extend(check::demos("/demos", &plan.demos, signature, typed));
    plan.provenance = reading.provenance();
    if reading.faults.is_empty() {
        Ok(plan)
    } else {
        Err(ProgramError::of(reading.faults))
    }
}

/// The member that says where a program comes from.
fn provenance_member(version: u64) -> &'static str {
    match version {
        1 => "made",
        _ => "provenance",
    }
}

/// Nothing else is checked in a file of a newer version.
fn read_version(root: &Value) -> Result<u64, ProgramError> {
    match root.get("format").and_then(Value::as_str) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(ProgramError::file_error(format!(
                "not a {FORMAT}: its format is {other:?}"
            )));
        }
        None => {
            return Err(ProgramError::of(vec![ProgramFault::new(
                "/format",
                "is no text",
            )]));
        }
    }
    match root.get("version").and_then(Value::as_u64) {
        Some(version @ 1..=VERSION) => Ok(version),
        Some(newer @ 3..) => Err(ProgramError::file_error(format!(
            "{FORMAT} version {newer} is newer than version {VERSION}, the newest supported by this version; use a newer one"
        ))),
        _ => Err(ProgramError::of(vec![ProgramFault::new(
            "/version",
            "is no version; versions count from 1",
        )])),
    }
}

struct ProgramReader<'a> {
    root: &'a Value,
    version: u64,
    faults: Vec<ProgramFault>,
}

impl<'a> ProgramReader<'a> {
    fn fault(&mut self, at: &str, message: impl Into<String>) {
        self.faults.push(ProgramFault::new(at, message));
    }

    fn text(&mut self, name: &str) -> Option<&'a str> {
        let value = self.root.get(name)?;
        if value.as_str().is_none() {
            self.fault(&member("", name), "is no text");
        }
        value.as_str()
    }

    fn object(&mut self, name: &str) -> Option<&'a Map<String, Value>> {
        let value = self.root.get(name)?;
        if value.as_object().is_none() {
            self.fault(&member("", name), "is no object");
        }
        value.as_object()
    }

    fn fields(&mut self, plan: &mut Plan) {
        for (name, description) in self.object("fields").into_iter().flatten() {
            let at = member("/fields", name);
            match description.as_str() {
                _ if plan.signature.fields().all(|field| field.name != *name) => {
                    self.faults
                        .push(unknown_field("/fields", name, &plan.signature));
                }
                Some(description) => plan.describe(name, description.to_owned()),
                None => self.fault(&at, "is no text"),
            }
        }
    }

    fn settings(&mut self, plan: &mut Plan) {
        for (name, value) in self.object("settings").into_iter().flatten() {
            let at = member("/settings", name);
            match name.as_str() {
                "temperature" => match value.as_f64().filter(|figure| *figure >= 0.0) {
                    Some(figure) => plan.temperature = Some(figure),
                    None => self.fault(&at, "is no number from 0"),
                },
                "max_tokens" => match value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0) {
                    Some(count) => plan.max_tokens = Some(count),
                    None => self.fault(&at, "is no whole number from 1"),
                },
                _ => self.fault(&at, "a program sets `temperature` and `max_tokens` alone; the model and where it is asked are the program's that runs it"),
            }
        }
    }

    fn demos(&mut self) -> Vec<Demo> {
        let Some(all) = self.root.get("demos") else {
            return Vec::new();
        };
        let Some(all) = all.as_array() else {
            self.fault("/demos", "is not a list");
            return Vec::new();
        };
        let mut demos = Vec::new();
        for (index, demo) in all.iter().enumerate() {
            match demo.as_object() {
                Some(values) => demos.push(Demo::from_values(values.clone())),
                None => self.fault(&format!("/demos/{index}"), "is no object"),
            }
        }
        demos
    }

    fn provenance(&mut self) -> Option<Provenance> {
        let member = provenance_member(self.version);
        let provenance = self.root.get(member)?;
        match serde_json::from_value(provenance.clone()) {
            Ok(provenance) => Some(provenance),
            Err(error) => {
                self.fault(&format!("/{member}"), error.to_string());
                None
            }
        }
    }
}

/// What differs between the signature that a program was made for and that of the node, which would make its examples wrong.
fn differences(saved: &Value, signature: &Signature, faults: &mut Vec<ProgramFault>) {
    let thinks = saved
        .get("think")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    if thinks != signature.thinks {
        let message = if thinks {
            "the node has no `think`; add it"
        } else {
            "the node has `think`, and the file was made without; drop it"
        };
        faults.push(ProgramFault::new("/signature/think", message));
    }
    for (part, fields) in [
        ("inputs", &signature.inputs),
        ("outputs", &signature.outputs),
    ] {
        let at = format!("/signature/{part}");
        let Some(saved) = saved.get(part).and_then(Value::as_object) else {
            faults.push(ProgramFault::new(at, "is no object of fields"));
            continue;
        };
        let found = faults.len();
        // With another `think`, the field of the thoughts differs in any case, and one fault says so.
        let ignored = if part == "outputs" && thinks != signature.thinks {
            Some(crate::signature::REASONING)
        } else {
            None
        };
        changed_types(saved, fields, ignored, &at, signature, faults);
        missing_fields(saved, fields, ignored, &at, faults);
        if faults.len() == found && thinks == signature.thinks {
            changed_order(saved, fields, &at, faults);
        }
    }
}

fn changed_types(
    saved: &Map<String, Value>,
    fields: &[Field],
    ignored: Option<&str>,
    at: &str,
    signature: &Signature,
    faults: &mut Vec<ProgramFault>,
) {
    for (name, schema) in saved {
        if ignored == Some(name) {
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == *name) else {
            faults.push(unknown_field(at, name, signature));
            continue;
        };
        let was = without_annotations(schema);
        let is = without_annotations(&field.schema);
        if was != is {
            faults.push(ProgramFault::new(
                member(at, name),
                format!("its type was {was}, and in the node it is {is}"),
            ));
        }
    }
}

fn missing_fields(
    saved: &Map<String, Value>,
    fields: &[Field],
    ignored: Option<&str>,
    at: &str,
    faults: &mut Vec<ProgramFault>,
) {
    for field in fields {
        let is_ignored = ignored == Some(field.name.as_str());
        if !is_ignored && !saved.contains_key(&field.name) {
            faults.push(ProgramFault::new(
                at,
                format!("the field `{}` of the node is missing", field.name),
            ));
        }
    }
}

/// The order of fields is that of the prompt.
fn changed_order(
    saved: &Map<String, Value>,
    fields: &[Field],
    at: &str,
    faults: &mut Vec<ProgramFault>,
) {
    let was: Vec<&str> = saved.keys().map(String::as_str).collect();
    let is: Vec<&str> = fields.iter().map(Field::name).collect();
    if was != is {
        faults.push(ProgramFault::new(
            at,
            format!(
                "the order is {}, and in the node it is {}",
                listed(&was),
                listed(&is)
            ),
        ));
    }
}
