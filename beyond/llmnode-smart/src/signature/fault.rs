//! Mistakes in the values of fields.

use std::fmt;

/// All mistakes in the values of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFaults(Vec<(String, String)>);

impl FieldFaults {
    pub(crate) fn add(&mut self, name: &str, fault: impl Into<String>) {
        self.0.push((name.to_owned(), fault.into()));
    }

    pub(crate) fn with(mut self, more: FieldFaults) -> Self {
        self.0.extend(more.0);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_result<T>(self, value: T) -> Result<T, FieldFaults> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns each field's name and what is wrong with it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, fault)| (name.as_str(), fault.as_str()))
    }
}

impl fmt::Display for FieldFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, fault)) in self.0.iter().enumerate() {
            write!(f, "{}{name}: {fault}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldFaults {}
