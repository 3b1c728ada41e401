//! The kinds of mistakes.

use std::fmt;

use serde::Serialize;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal,)*) => {
        /// The kind of mistake. Messages may change in any release; the kinds do not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// Returns the kind in snake_case, as in JSON: `unknown_member`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The file cannot be read, or is not JSON.
    Syntax "syntax",
    /// A file larger, longer or deeper than allowed.
    Cap "cap",
    /// A file of another format.
    Format "format",
    /// A version that this llmnode does not read, or no version.
    Version "version",
    /// An unknown member or setting.
    UnknownMember "unknown_member",
    /// A member that occurs twice in one object.
    DuplicateMember "duplicate_member",
    /// A required member is missing.
    Missing "missing",
    /// A value of the wrong type.
    WrongKind "wrong_kind",
    /// A number, text or list beyond its bounds.
    OutOfRange "out_of_range",
    /// A node type that is not registered.
    UnknownType "unknown_type",
    /// An edge from or to a node that does not exist.
    UnknownNode "unknown_node",
    /// An edge from a handle that its node does not have.
    UnknownHandle "unknown_handle",
    /// An unknown name of a tool, profile, store, program, condition or reducer, or another unknown word.
    UnknownName "unknown_name",
    /// An invalid name: reserved, empty, or with characters that are not allowed.
    BadName "bad_name",
    /// An id or a name that is used twice.
    Duplicate "duplicate",
    /// A handle that needs an edge and has none.
    MissingEdge "missing_edge",
    /// A template that is not closed, or names nothing.
    Template "template",
    /// A pattern that does not compile.
    Regex "regex",
    /// A setting that its node type refuses.
    Setting "setting",
    /// No start, or several.
    Start "start",
    /// Nodes that no path reaches from the start.
    Unreachable "unreachable",
    /// Nodes from which no path leads to the end.
    Endless "endless",
    /// A branch of a fork that leads back before the fork.
    ForkBack "fork_back",
    /// A node that two branches of a fork reach, but not on all their paths.
    ForkShared "fork_shared",
    /// An edge into a branch of a fork from outside.
    ForkEntered "fork_entered",
    /// An edge from a fork directly to the node where its branches meet.
    ForkToJoin "fork_to_join",
    /// A node within a branch of a fork that waits for an approval.
    ForkApproval "fork_approval",
    /// A value that is read before it is written, on some path or on all.
    Data "data",
    /// A key that two branches of a fork write, without a reducer.
    Conflict "conflict",
    /// A system prompt that reads what a model, a tool or a search wrote.
    Untrusted "untrusted",
    /// A subgraph that contains itself, or is nested too deep.
    Nesting "nesting",
    /// A node type or setting that needs a feature of the crate which is off.
    Feature "feature",
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
