//! What generated code calls. Not part of the public interface: it may change in any release.

use llmnode_runtime::private::{Checks, OutputSpec, Reach};

use crate::form::{Answers, Reasoned};

pub use crate::node::{exec, render};
pub use crate::signature::{
    Declared, Declaring, FieldFaults, Form, Inputs, Smart, SmartInput, SmartOutput, Taken,
};
pub use serde_json::{Map, Value};

/// The values of inputs, or those that cannot be written.
pub type Written = Result<Map<String, Value>, FieldFaults>;

/// A node, or what is wrong with its inputs.
pub type Read<N> = Result<N, FieldFaults>;

/// How a node's answers are read. Its output's type is asked for where the signature is declared, and only there.
pub fn answers<N: Smart, S: ?Sized>(
    reach: fn(&mut Reach),
    collect: for<'a> fn(&'a N::Output, &mut Checks<'a, S>),
) -> OutputSpec<N::Output, S> {
    let form = Answers::new::<N>(N::signature(), &Reasoned::default());
    OutputSpec::of_form(Box::new(form), reach, collect)
}
