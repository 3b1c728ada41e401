//! Profiles: the operator's file of models. A graph has only the name of a profile.

#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use llmnode_http::{OpenAi, OpenAiBuilder};
use llmnode_runtime::{Category, NodeError, Settings};

use self::text::{ProfileText, listed};
use crate::faults::{FaultKind, Faults, escaped, shown};

const OPENAI_KEY: &str = "OPENAI_API_KEY";
const KEY_ENDING: &str = "_API_KEY";

type Keys<'k> = &'k dyn Fn(&str) -> Option<String>;

/// Models by name, as an operator's file lists them (feature `openai`).
///
/// ```json
/// {"format": "llmnode/profiles", "version": 1, "profiles": {
///     "good":  {"model": "gpt-6-luna", "settings": {"temperature": 0.2, "max_tokens": 2000}},
///     "local": {"base_url": "http://127.0.0.1:8080/v1", "model": "qwen3"},
///     "groq":  {"base_url": "https://api.groq.com/openai/v1", "model": "openai/gpt-oss-120b", "api_key_env": "GROQ_API_KEY"}}}
/// ```
///
/// | member | default | |
/// |---|---|---|
/// | `model` | required | the provider's id of the model |
/// | `base_url` | OpenAI's | https, or a loopback server; no private or link-local address, unless it is [allowed](ProfileRules::allow_host) |
/// | `api_key_env` | `OPENAI_API_KEY` for OpenAI, else no key is sent | the name of the variable that holds the key; it ends with `_API_KEY`, or is [allowed](ProfileRules::allow_key_variable) |
/// | `settings` | none | `temperature`, `max_tokens`, `reasoning` (`off` to `max`), `attempt_timeout_s`, `response_format`, and `extra`: further fields of requests |
///
/// A file holds no key. Addresses are checked again when a connection is made, so that a name cannot lead into a private
/// network.
#[derive(Clone)]
pub struct Profiles {
    models: Vec<(String, OpenAi, Settings)>,
}

/// Exceptions to the rules for profiles.
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
    /// A `config_error` that lists all mistakes in it, including keys whose variables are not set.
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
    /// Allows a host in a private network, by name or address, and plain http to it if no key is sent.
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
        let text = read_file(path).map_err(|error| {
            NodeError::new(
                Category::ConfigError,
                format!("{shown} cannot be read: {error}"),
            )
        })?;
        self.read(&text, &|name| std::env::var(name).ok())
            .map_err(|faults| refused(&shown.to_string(), faults))
    }

    /// Reads profiles from their JSON.
    ///
    /// # Errors
    /// Those of [`Profiles::open`].
    pub fn parse(&self, text: &str) -> Result<Profiles, NodeError> {
        self.read(text, &|name| std::env::var(name).ok())
            .map_err(|faults| refused("the text", faults))
    }

    /// Returns the names of the profiles of a file, whether or not its keys are set: for a check of graphs that asks no model.
    ///
    /// # Errors
    /// Those of [`Profiles::open`], except for keys and addresses.
    pub fn names(&self, text: &str) -> Result<Vec<String>, NodeError> {
        let mut faults = Faults::default();
        let listed = listed(text, &mut faults).unwrap_or_default();
        if faults.is_empty() {
            return Ok(listed.into_iter().map(|(name, _)| name).collect());
        }
        Err(refused("the text", faults))
    }

    fn read(&self, text: &str, keys: Keys<'_>) -> Result<Profiles, Faults> {
        let mut faults = Faults::default();
        let listed = listed(text, &mut faults).unwrap_or_default();
        let mut models = Vec::new();
        for (name, profile) in listed {
            let at = format!("/profiles/{}", escaped(&name));
            let model = self.model(&profile, &at, keys, &mut faults);
            models.extend(model.map(|model| (name, model, profile.settings())));
        }
        if faults.is_empty() {
            Ok(Profiles { models })
        } else {
            Err(faults)
        }
    }

    fn model(
        &self,
        profile: &ProfileText,
        at: &str,
        keys: Keys<'_>,
        faults: &mut Faults,
    ) -> Option<OpenAi> {
        let before = faults.noted();
        let mut builder = OpenAi::builder().model(&profile.model);
        if let Some(url) = &profile.base_url {
            builder = self.place(builder.base_url(url), url, at, faults);
        }
        let named = profile.api_key_env.as_deref();
        builder = match named.or(profile.base_url.is_none().then_some(OPENAI_KEY)) {
            None => builder.without_key(),
            Some(name) => match self.key(name, at, keys, faults) {
                Some(key) => builder.api_key(key),
                None => builder,
            },
        };
        if faults.noted() > before {
            return None;
        }
        builder
            .build()
            .map_err(|error| faults.fault(at, FaultKind::Setting, error.message))
            .ok()
    }

    /// Allows https, this machine, and hosts that the program allows.
    fn place(
        &self,
        builder: OpenAiBuilder,
        url: &str,
        at: &str,
        faults: &mut Faults,
    ) -> OpenAiBuilder {
        let mut fault = |why: &str| faults.fault(format!("{at}/base_url"), FaultKind::Setting, why);
        if let Err(error) = builder.clone().without_key().build() {
            fault(&error.message);
            return builder;
        }
        let scheme = url.trim().to_lowercase();
        // `http:name` is a URL too, but `host` would read it differently.
        if !scheme.starts_with("https://") && !scheme.starts_with("http://") {
            fault("must begin with `https://`, or with `http://` on this machine");
            return builder.public_only();
        }
        let host = host(url);
        let is_loopback = host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
            || host == "localhost"
            || host.ends_with(".localhost");
        if is_loopback
            || self
                .hosts
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(&host))
        {
            return builder;
        }
        let builder = builder.public_only();
        if let Err(error) = builder.clone().without_key().build() {
            fault(&format!(
                "{}; the program can allow the host with `allow_host`",
                error.message
            ));
        } else if !scheme.starts_with("https:") {
            fault(
                "is plain http to another machine: write https, or let the program allow the host with `allow_host`",
            );
        }
        builder
    }

    fn key(&self, name: &str, at: &str, keys: Keys<'_>, faults: &mut Faults) -> Option<String> {
        let at = format!("{at}/api_key_env");
        if !name.ends_with(KEY_ENDING) && !self.variables.iter().any(|allowed| allowed == name) {
            let message = format!(
                "{:?} is not allowed as a variable for keys: its name must end with {KEY_ENDING}, or the program must allow it with `allow_key_variable`",
                shown(name)
            );
            faults.fault(at, FaultKind::BadName, message);
            return None;
        }
        let key = keys(name).filter(|key| !key.is_empty());
        if key.is_none() {
            faults.fault(
                at,
                FaultKind::Missing,
                format!("the variable {:?} is not set", shown(name)),
            );
        }
        key
    }
}

fn host(url: &str) -> String {
    let rest = url.trim().split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default().to_lowercase(),
        None => authority
            .rsplit_once(':')
            .map_or(authority, |(host, _)| host)
            .to_lowercase(),
    }
}

fn refused(what: &str, faults: Faults) -> NodeError {
    let faults = faults.into_parts(None).faults;
    let listed: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let message = format!(
        "the profiles of {what} cannot be used: {}",
        listed.join("; ")
    );
    NodeError::new(Category::ConfigError, message)
}

/// A device may have no end.
fn read_file(path: &Path) -> io::Result<String> {
    const BYTES: u64 = 1 << 24;
    let mut text = String::new();
    let read = File::open(path)?
        .take(BYTES + 1)
        .read_to_string(&mut text)?;
    if read as u64 > BYTES {
        return Err(io::Error::other(format!("it has more than {BYTES} bytes")));
    }
    Ok(text)
}
