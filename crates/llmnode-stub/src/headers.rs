use std::fmt;

use llmnode_model::ext::is_credential;

/// In the order sent. `Debug` redacts credentials.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct LoggedHeaders(Vec<(String, String)>);

impl LoggedHeaders {
    pub(super) fn push(&mut self, name: String, value: String) {
        self.0.push((name, value));
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for LoggedHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, value)| {
                (
                    name,
                    if is_credential(name) {
                        "[redacted]"
                    } else {
                        value
                    },
                )
            }))
            .finish()
    }
}
