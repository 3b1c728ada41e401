//! Calls as a text has them, before anybody has decided whether they are executed.

/// What a text is that consists of calls.
#[derive(Debug, PartialEq)]
pub enum InText {
    /// Calls that were read.
    Calls {
        /// In the order of the text; at least one.
        calls: Vec<WrittenCall>,
        /// Marks of calls surround them, so that it is no answer in JSON.
        marked: bool,
    },
    /// Calls in a notation that is not read.
    Unread {
        /// The listed tool that it names.
        tool: Option<String>,
    },
}

/// A call as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenCall {
    /// The name of the tool.
    pub name: String,
    /// An object, as compact JSON in which numbers keep their digits.
    pub arguments: String,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// All of it, as compact JSON.
    pub written: String,
}
