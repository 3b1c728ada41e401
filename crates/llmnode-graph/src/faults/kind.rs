//! The kinds of mistakes.

use std::fmt;

use serde::Serialize;

/// The kind of mistake. Messages may change in any release; the kinds do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The file cannot be read, or is not JSON.
    Syntax,
    /// A file larger, longer or deeper than allowed.
    Cap,
    /// A file of another format.
    Format,
    /// A version that this llmnode does not read, or no version.
    Version,
    /// An unknown member or setting.
    UnknownMember,
    /// A member that occurs twice in one object.
    DuplicateMember,
    /// A required member is missing.
    Missing,
    /// A value of the wrong type.
    WrongKind,
    /// A number, text or list beyond its bounds.
    OutOfRange,
    /// A node type that is not registered.
    UnknownType,
    /// An edge from or to a node that does not exist.
    UnknownNode,
    /// An edge from a handle that its node does not have.
    UnknownHandle,
    /// An unknown name of a tool, profile, store, program, condition or reducer, or another unknown word.
    UnknownName,
    /// An invalid name: reserved, empty, or with characters that are not allowed.
    BadName,
    /// An id or a name that is used twice.
    Duplicate,
    /// A handle that needs an edge and has none.
    MissingEdge,
    /// A template that is not closed, or names nothing.
    Template,
    /// A pattern that does not compile.
    Regex,
    /// A setting that its node type refuses.
    Setting,
    /// No start, or several.
    Start,
    /// Nodes that no path reaches from the start.
    Unreachable,
    /// Nodes from which no path leads to the end.
    Endless,
    /// A branch of a fork that leads back before the fork.
    ForkBack,
    /// A node that two branches of a fork reach, but not on all their paths.
    ForkShared,
    /// An edge into a branch of a fork from outside.
    ForkEntered,
    /// An edge from a fork directly to the node where its branches meet.
    ForkToJoin,
    /// A node within a branch of a fork that waits for an approval.
    ForkApproval,
    /// A value that is read before it is written, on some path or on all.
    Data,
    /// A key that two branches of a fork write, without a reducer.
    Conflict,
    /// A system prompt that reads what a model, a tool or a search wrote.
    Untrusted,
    /// A subgraph that contains itself, or is nested too deep.
    Nesting,
    /// A node type or setting that needs a feature of the crate which is off.
    Feature,
}

impl FaultKind {
    /// Returns the kind in snake_case, as in JSON: `unknown_member`.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Syntax => "syntax",
            FaultKind::Cap => "cap",
            FaultKind::Format => "format",
            FaultKind::Version => "version",
            FaultKind::UnknownMember => "unknown_member",
            FaultKind::DuplicateMember => "duplicate_member",
            FaultKind::Missing => "missing",
            FaultKind::WrongKind => "wrong_kind",
            FaultKind::OutOfRange => "out_of_range",
            FaultKind::UnknownType => "unknown_type",
            FaultKind::UnknownNode => "unknown_node",
            FaultKind::UnknownHandle => "unknown_handle",
            FaultKind::UnknownName => "unknown_name",
            FaultKind::BadName => "bad_name",
            FaultKind::Duplicate => "duplicate",
            FaultKind::MissingEdge => "missing_edge",
            FaultKind::Template => "template",
            FaultKind::Regex => "regex",
            FaultKind::Setting => "setting",
            FaultKind::Start => "start",
            FaultKind::Unreachable => "unreachable",
            FaultKind::Endless => "endless",
            FaultKind::ForkBack => "fork_back",
            FaultKind::ForkShared => "fork_shared",
            FaultKind::ForkEntered => "fork_entered",
            FaultKind::ForkToJoin => "fork_to_join",
            FaultKind::ForkApproval => "fork_approval",
            FaultKind::Data => "data",
            FaultKind::Conflict => "conflict",
            FaultKind::Untrusted => "untrusted",
            FaultKind::Nesting => "nesting",
            FaultKind::Feature => "feature",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
