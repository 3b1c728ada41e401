//! What is wrong with an answer.
//!
//! A violation is read by a model and by people, and is data for a program. So the
//! list of what is allowed is a field, and so is what the model is asked to do.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Display};

use serde::Serialize;

use crate::text::{one_line, one_line_shortened};

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The path in the JSON's own names, such as `steps[2].item`. Empty for the whole answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The allowed values, if there is a list of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Whether the answer is accepted anyway.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
    #[serde(skip)]
    /// There are more allowed values than are listed.
    pub(crate) more: bool,
    /// For the model; empty if obvious.
    #[serde(skip)]
    pub(crate) remedy: Cow<'static, str>,
    /// The values that a correction's schema allows, at the violation's path unless
    /// the list names another.
    #[serde(skip)]
    pub(crate) closed: Option<Box<ChoiceList>>,
}

/// Which values a place of an answer may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceList {
    /// The place in Rust's names: `steps[].tool`; a variant is `Action::Use`, the
    /// whole answer `self`.
    pub path: Cow<'static, str>,
    /// Where the values come from, as the program writes it.
    pub source: Cow<'static, str>,
    /// Each once, in order.
    pub values: BTreeSet<String>,
}

/// How many allowed values are listed.
const MAX_LISTED: usize = 100;

impl Violation {
    /// Creates a violation at a path. An empty path is the whole answer.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let path = path.into();
        let message = message.into();
        Violation {
            path,
            message,
            allowed: Vec::new(),
            warning: false,
            more: false,
            remedy: Cow::Borrowed(""),
            closed: None,
        }
    }

    /// Lists the first of the allowed values. A list that was closed before is
    /// another one, and goes.
    pub(crate) fn list_allowed(&mut self, values: impl IntoIterator<Item = String>) {
        let mut values = values.into_iter();
        self.allowed = values.by_ref().take(MAX_LISTED).collect();
        self.more = values.next().is_some();
        self.closed = None;
    }

    /// Closes the list: the schema of a correction may have it. Not where it is not all of it.
    pub(crate) fn allow_only(&mut self) {
        if self.more || self.allowed.is_empty() {
            return;
        }
        let list = ChoiceList {
            path: "".into(),
            source: "".into(),
            values: self.allowed.iter().cloned().collect(),
        };
        self.closed = Some(Box::new(list));
    }

    /// About a kilobyte, on one line, with a share for the allowed values: a long
    /// quotation must not push them out.
    pub(crate) fn shortened(mut self) -> Self {
        let mut room = 400_usize;
        let mut fitting = 0;
        for value in &self.allowed {
            let Some(left) = room.checked_sub(value.len()) else {
                break;
            };
            room = left;
            fitting += 1;
        }
        if fitting < self.allowed.len() {
            self.more = true;
            self.allowed.truncate(fitting);
            self.allowed.shrink_to_fit();
        }
        self.path = one_line(self.path, 200);
        self.message = one_line_shortened(self.message, 600);
        self
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        for (index, value) in self.allowed.iter().enumerate() {
            let before = if index == 0 { "; allowed: " } else { ", " };
            write!(f, "{before}{value:?}")?;
        }
        if self.more && !self.allowed.is_empty() {
            f.write_str(", …")?;
        }
        Ok(())
    }
}
