//! A call that waits, as it is shown to a person.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The call of a tool that waits for an [`Approval`](crate::Approval), or for the result of a tool without a body.
///
/// Its texts come from a model: escape them before they are shown in a page. Its `Debug` form does not show the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingCall {
    /// The id of the call, for [`Paused::decide`](crate::Paused::decide). For a tool of an agent that is a tool itself, the
    /// ids from the outside in, with `/` between them; `~` and `/` in an id are written `~0` and `~1`.
    pub id: String,
    /// The name of the node whose model made the call.
    pub node: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text. Those of a tool that needs an approval were read and validated.
    pub arguments: String,
    /// It waits for a result ([`Paused::answer`](crate::Paused::answer)), not for an approval.
    pub wants_result: bool,
}

impl fmt::Debug for WaitingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingCall { id, node, name, arguments, wants_result } = self;
        f.debug_struct("WaitingCall")
            .field("id", id)
            .field("node", node)
            .field("name", name)
            .field("arguments", &format_args!("{} bytes", arguments.len()))
            .field("wants_result", wants_result)
            .finish()
    }
}

/// Escaped as in JSON pointers, since providers choose the ids.
pub(crate) fn segment(id: &str) -> String {
    id.replace('~', "~0").replace('/', "~1")
}
