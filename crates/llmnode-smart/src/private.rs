//! What generated code calls. Not part of the public interface: it may change in any release.

use llmnode_runtime::private::{Checks, OutputSpec, Reach};

pub use crate::node::{exec, render};
pub use crate::signature::{Declared, Declaring, FieldFaults, Form, Inputs, Smart, SmartInput, SmartOutput, Taken};
pub use serde_json::{Map, Value};

/// JSON of a node's output. The type itself is asked for where the node is declared, and only there.
pub fn json<N: Smart, S: ?Sized>(
    reach: fn(&mut Reach),
    collect: for<'a> fn(&'a N::Output, &mut Checks<'a, S>),
) -> OutputSpec<N::Output, S> {
    OutputSpec::json(reach, collect)
}
