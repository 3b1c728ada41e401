//! Profiles: the operator's file that says where models are. A graph names a profile, and nothing else of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use llmnode_http::{OpenAi, OpenAiBuilder};
use llmnode_runtime::{Category, Dialect, NodeError, Settings};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{FaultKind, Faults, escaped, shown};
use crate::file::{Fit, document, head, note_twice};

const FORMAT: &str = "llmnode/profiles";
const VERSION: u64 = 1;
/// The variable of OpenAI's key.
const OPENAI_KEY: &str = "OPENAI_API_KEY";
/// How the name of a variable has to end that holds a key.
const KEY_ENDING: &str = "_API_KEY";

/// Models by name, as an operator's file lists them (feature `openai`).
///
/// ```json
/// {"format": "llmnode/profiles", "version": 1, "profiles": {
///     "good":  {"model": "gpt-5.2", "settings": {"temperature": 0.2, "max_tokens": 2000}},
///     "local": {"base_url": "http://127.0.0.1:8080/v1", "model": "qwen3"},
///     "groq":  {"base_url": "https://api.groq.com/openai/v1", "model": "openai/gpt-oss-120b", "api_key_env": "GROQ_API_KEY"}}}
/// ```
///
/// | member | default | |
/// |---|---|---|
/// | `model` | required | the provider's id of the model |
/// | `base_url` | OpenAI's | https, or a loopback server; no private or link-local address, unless it is [allowed](ProfileRules::allow_host) |
/// | `api_key_env` | `OPENAI_API_KEY` for OpenAI, else no key is sent | the name of the variable that holds the key; it ends with `_API_KEY`, or is [allowed](ProfileRules::allow_key_variable) |
/// | `settings` | none | `temperature`, `max_tokens`, `attempt_timeout_s`, `dialect`, and `extra`: further fields of requests |
///
/// A file holds no key. The addresses are judged again where a connection is made, so that a name cannot lead into a network
/// of one's own.
#[derive(Clone)]
pub struct Profiles {
    models: Vec<(String, OpenAi, Settings)>,
}

/// What profiles may name beyond the rules.
///
/// ```
/// # mod llmnode { pub mod graph { pub use llmnode_graph::*; } }
/// use llmnode::graph::Profiles;
///
/// let file = r#"{"format": "llmnode/profiles", "version": 1,
///     "profiles": {"house": {"base_url": "http://10.0.0.5:8080/v1", "model": "qwen3"}}}"#;
/// assert!(Profiles::parse(file).unwrap_err().to_string().contains("/profiles/house/base_url"));
/// let profiles = Profiles::rules().allow_host("10.0.0.5").parse(file)?;
/// assert_eq!(profiles.names().collect::<Vec<_>>(), ["house"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "rules do nothing until `open` or `parse`"]
pub struct ProfileRules {
    hosts: Vec<String>,
    variables: Vec<String>,
}

impl Profiles {
    /// Reads a file of profiles.
    ///
    /// # Errors
    /// A `config_error` that lists everything that is wrong with it, keys whose variables are not set among it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NodeError> {
        Profiles::rules().open(path)
    }

    /// Reads profiles from their JSON.
    ///
    /// # Errors
    /// Those of [`open`](Profiles::open).
    pub fn parse(text: &str) -> Result<Self, NodeError> {
        Profiles::rules().parse(text)
    }

    /// Returns rules that allow nothing beyond the defaults.
    pub fn rules() -> ProfileRules {
        ProfileRules::default()
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|(name, ..)| name.as_str())
    }

    pub(crate) fn into_models(self) -> Vec<(String, OpenAi, Settings)> {
        self.models
    }
}

impl fmt::Debug for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl ProfileRules {
    /// Allows a host, by name or address, that is in a network of one's own, and plain http to it if no key is sent.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Allows a variable for keys whose name does not end with `_API_KEY`.
    pub fn allow_key_variable(mut self, name: impl Into<String>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// Reads a file of profiles.
    ///
    /// # Errors
    /// Those of [`Profiles::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Profiles, NodeError> {
        let path = path.as_ref();
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            NodeError::new(Category::ConfigError, format!("{shown} cannot be read: {error}"))
        })?;
        self.read(&text, &of_environment).map_err(|faults| refused(&shown.to_string(), faults))
    }

    /// Reads profiles from their JSON.
    ///
    /// # Errors
    /// Those of [`Profiles::open`].
    pub fn parse(&self, text: &str) -> Result<Profiles, NodeError> {
        self.read(text, &of_environment).map_err(|faults| refused("the text", faults))
    }

    /// Returns the names of the profiles of a file, whether or not its keys are set: for a check of graphs that asks no model.
    ///
    /// # Errors
    /// Those of [`Profiles::open`], but for keys and addresses.
    pub fn names(&self, text: &str) -> Result<Vec<String>, NodeError> {
        let mut faults = Faults::default();
        let listed = listed(text, &mut faults).unwrap_or_default();
        if faults.is_empty() {
            return Ok(listed.into_iter().map(|(name, _)| name).collect());
        }
        Err(refused("the text", faults))
    }

    fn read(&self, text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Profiles, Faults> {
        let mut faults = Faults::default();
        let listed = listed(text, &mut faults).unwrap_or_default();
        let mut models = Vec::new();
        for (name, profile) in listed {
            let at = format!("/profiles/{}", escaped(&name));
            let made = self.model(&profile, &at, variable, &mut faults);
            models.extend(made.map(|model| (name, model, profile.settings())));
        }
        if faults.is_empty() { Ok(Profiles { models }) } else { Err(faults) }
    }

    fn model(
        &self,
        profile: &ProfileText,
        at: &str,
        variable: &dyn Fn(&str) -> Option<String>,
        faults: &mut Faults,
    ) -> Option<OpenAi> {
        let before = faults.len();
        let mut builder = OpenAi::builder().model(&profile.model);
        if let Some(url) = &profile.base_url {
            builder = self.place(builder.base_url(url), url, at, faults);
        }
        let named = profile.api_key_env.as_deref();
        builder = match named.or(profile.base_url.is_none().then_some(OPENAI_KEY)) {
            None => builder.without_key(),
            Some(name) => match self.key(name, at, variable, faults) {
                Some(key) => builder.api_key(key),
                None => builder,
            },
        };
        if faults.len() > before {
            return None;
        }
        builder
            .build()
            .map_err(|error| {
                faults.fault(at, FaultKind::Setting, error.message());
            })
            .ok()
    }

    /// Checks where a profile leads: https, or this machine, or a host that is allowed.
    fn place(&self, builder: OpenAiBuilder, url: &str, at: &str, faults: &mut Faults) -> OpenAiBuilder {
        let at = format!("{at}/base_url");
        if let Err(error) = builder.clone().without_key().build() {
            faults.fault(at, FaultKind::Setting, error.message());
            return builder;
        }
        let host = host(url);
        let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            || host == "localhost"
            || host.ends_with(".localhost");
        if is_loopback || self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&host)) {
            return builder;
        }
        let builder = builder.public_only();
        if let Err(error) = builder.clone().without_key().build() {
            let message = format!("{}; the program can allow the host by `allow_host`", error.message());
            faults.fault(at, FaultKind::Setting, message);
        } else if !url.trim().to_lowercase().starts_with("https:") {
            let message = "is plain http on another machine: write https, or let the program allow the host by `allow_host`";
            faults.fault(at, FaultKind::Setting, message);
        }
        builder
    }

    fn key(
        &self,
        name: &str,
        at: &str,
        variable: &dyn Fn(&str) -> Option<String>,
        faults: &mut Faults,
    ) -> Option<String> {
        let at = format!("{at}/api_key_env");
        if !name.ends_with(KEY_ENDING) && !self.variables.iter().any(|allowed| allowed == name) {
            let message = format!(
                "{:?} is no name of a variable for keys: it has to end with {KEY_ENDING}, or the program allows it by `allow_key_variable`",
                shown(name)
            );
            faults.fault(at, FaultKind::BadName, message);
            return None;
        }
        let key = variable(name).filter(|key| !key.is_empty());
        if key.is_none() {
            faults.fault(at, FaultKind::Missing, format!("the variable {:?} is not set", shown(name)));
        }
        key
    }
}

/// The host of a URL, without the brackets of an address.
fn host(url: &str) -> String {
    let rest = url.trim().split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default().to_lowercase(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_lowercase(),
    }
}

/// The profiles of a file as far as each is right, in its order.
fn listed(text: &str, faults: &mut Faults) -> Option<Vec<(String, ProfileText)>> {
    let read = document(text, faults)?;
    let Value::Object(file) = read.value else {
        faults.fault("", FaultKind::WrongKind, "has to be an object");
        return None;
    };
    if !file.contains_key("format") {
        faults.fault("", FaultKind::Format, format!("\"format\" is missing: write \"format\": {FORMAT:?}"));
    }
    if !head(&file, FORMAT, VERSION, faults) {
        return None;
    }
    note_twice(read.twice, faults);
    let before = faults.len();
    let schema = schemars::schema_for!(FileText);
    let place = |pointer: &str| pointer.to_owned();
    let file = Value::Object(file);
    Fit::of_file(schema.as_value(), false, &place, faults).check(&file);
    if faults.len() > before {
        return None;
    }
    let profiles = file.get("profiles").and_then(Value::as_object).into_iter().flatten();
    let mut all = Vec::new();
    for (name, profile) in profiles {
        match ProfileText::deserialize(profile) {
            Ok(profile) => all.push((name.clone(), profile)),
            Err(error) => {
                faults.fault(format!("/profiles/{}", escaped(name)), FaultKind::WrongKind, error.to_string());
            }
        }
    }
    Some(all)
}

fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn refused(what: &str, faults: Faults) -> NodeError {
    let faults = faults.into_parts(None).faults;
    let listed: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let message = format!("the profiles of {what} cannot be used: {}", listed.join("; "));
    NodeError::new(Category::ConfigError, message)
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
struct ProfileText {
    base_url: Option<String>,
    #[schemars(length(min = 1))]
    model: String,
    api_key_env: Option<String>,
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
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 86_400))]
    attempt_timeout_s: Option<f64>,
    #[schemars(extend("enum" = ["strict", "schema", "json_object", "prompt", "tool", null], "x-what" = "dialect"), with = "Option<String>")]
    dialect: Option<Dialect>,
    #[serde(default)]
    extra: Map<String, Value>,
}

impl ProfileText {
    fn settings(&self) -> Settings {
        let text = &self.settings;
        let mut settings = Settings::new().model(self.model.clone());
        settings.temperature = text.temperature;
        settings.max_tokens = text.max_tokens;
        settings.attempt_timeout =
            text.attempt_timeout_s.and_then(|time| Duration::try_from_secs_f64(time).ok());
        settings.dialect = text.dialect;
        settings.extra.extend(text.extra.clone());
        settings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(profiles: &Value, rules: &ProfileRules) -> Result<Profiles, Vec<(String, &'static str)>> {
        let file = json!({"format": FORMAT, "version": 1, "profiles": profiles}).to_string();
        let variable = |name: &str| (name != "UNSET_API_KEY").then(|| "sk-verysecret".to_owned());
        rules.read(&file, &variable).map_err(|faults| {
            let faults = faults.into_parts(None).faults;
            assert!(!faults.iter().any(|fault| fault.to_string().contains("verysecret")), "{faults:?}");
            faults.into_iter().map(|fault| (fault.pointer.clone(), fault.kind.as_str())).collect()
        })
    }

    #[track_caller]
    fn refused(profiles: &Value, expected: &[(&str, &str)]) {
        let told = read(profiles, &Profiles::rules()).unwrap_err();
        let told: Vec<(&str, &str)> = told.iter().map(|(at, kind)| (at.as_str(), *kind)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn profiles_are_models_with_settings() {
        let profiles = read(
            &json!({
                "1": {"model": "gpt", "settings": {"temperature": 0.5, "max_tokens": 9, "attempt_timeout_s": 1.5,
                    "dialect": "json_object", "extra": {"seed": 1}}},
                "local": {"base_url": "http://127.0.0.1:1/v1", "model": "m"},
                "far": {"base_url": "https://models.example/v1", "model": "m", "api_key_env": "FAR_API_KEY"},
            }),
            &Profiles::rules(),
        )
        .unwrap();
        assert_eq!(format!("{profiles:?}"), r#"{"1", "local", "far"}"#);
        let (_, _, settings) = &profiles.into_models()[0];
        assert_eq!(settings.model.as_deref(), Some("gpt"));
        assert_eq!((settings.temperature, settings.max_tokens), (Some(0.5), Some(9)));
        assert_eq!(settings.attempt_timeout, Some(Duration::from_millis(1500)));
        assert_eq!((settings.dialect, settings.extra["seed"].as_u64()), (Some(Dialect::JsonObject), Some(1)));
    }

    #[test]
    fn every_fault_is_told_at_its_place() {
        refused(
            &json!({
                "a": {"base_url": "http://169.254.169.254", "model": "m"},
                "b": {"base_url": "http://[::ffff:10.0.0.1]/v1", "model": "m"},
                "c": {"base_url": "http://models.example/v1", "model": "m"},
                "d": {"base_url": "ftp://x", "model": "m"},
                "e": {"model": "m", "api_key_env": "UNSET_API_KEY"},
                "f": {"model": "m", "api_key_env": "HOME"},
                "g": {"base_url": "https://127.0.0.1.evil.example", "model": "m", "api_key_env": "PATH"},
                "h": {"base_url": "https://0x0a.1/", "model": "m"},
            }),
            &[
                ("/profiles/a/base_url", "setting"),
                ("/profiles/b/base_url", "setting"),
                ("/profiles/c/base_url", "setting"),
                ("/profiles/d/base_url", "setting"),
                ("/profiles/e/api_key_env", "missing"),
                ("/profiles/f/api_key_env", "bad_name"),
                ("/profiles/g/api_key_env", "bad_name"),
                ("/profiles/h/base_url", "setting"),
            ],
        );
        refused(
            &json!({
                "a": {"model": "m", "api_key": "sk-verysecret"},
                "b": {"modle": "m"},
                "c": {"model": "m", "settings": {"temperature": -1, "dialect": "strickt", "attempt_timeout_s": 0}},
                "d": 3,
            }),
            &[
                ("/profiles/a/api_key", "unknown_member"),
                ("/profiles/b/modle", "unknown_member"),
                ("/profiles/c/settings/attempt_timeout_s", "out_of_range"),
                ("/profiles/c/settings/dialect", "unknown_name"),
                ("/profiles/c/settings/temperature", "out_of_range"),
                ("/profiles/d", "wrong_kind"),
            ],
        );
    }

    #[test]
    fn what_the_program_allows_is_allowed() {
        let house = json!({"house": {"base_url": "http://10.0.0.5:8080/v1", "model": "m"},
            "safe": {"base_url": "https://[fd00::1]/", "model": "m", "api_key_env": "HOUSE_TOKEN"}});
        let rules =
            Profiles::rules().allow_host("10.0.0.5").allow_host("fd00::1").allow_key_variable("HOUSE_TOKEN");
        assert!(read(&house, &rules).is_ok());
        // A key goes over plain http nowhere.
        let clear =
            json!({"house": {"base_url": "http://10.0.0.5/v1", "model": "m", "api_key_env": "HOUSE_TOKEN"}});
        assert_eq!(read(&clear, &rules).unwrap_err(), [("/profiles/house".to_owned(), "setting")]);
    }

    #[test]
    fn files_of_other_formats_are_refused() {
        for (file, told) in [
            (r#"{"profiles": {}}"#, "\"format\" is missing"),
            (r#"{"format": "llmnode/graph", "version": 1}"#, "has to be \"llmnode/profiles\""),
            (r#"{"format": "llmnode/profiles", "version": 2}"#, "is newer than version 1"),
            ("[", "is no JSON"),
        ] {
            let error = Profiles::parse(file).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
            assert!(error.message().contains(told), "{error}");
        }
        assert!(
            Profiles::open("nowhere.json").unwrap_err().message().contains("nowhere.json cannot be read")
        );
    }
}
