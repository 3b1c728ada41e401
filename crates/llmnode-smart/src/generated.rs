//! What generated code calls. Not part of the public interface: it may change in any release.

use llmnode_runtime::private::{Checks, Coverage, OutputSpec};

use crate::form::{ReasoningSlot, SmartAnswerForm};

pub use crate::node::{exec, render};
pub use crate::signature::{
    FieldFaults, Form, InputReader, InputWriter, SignatureBuilder, Smart, SmartInput, SmartOutput,
    TypedSignature,
};
pub use serde_json::{Map, Value};

/// The values of inputs, or those that cannot be written.
pub type WrittenValues = Result<Map<String, Value>, FieldFaults>;

/// A node, or the mistakes in its inputs.
pub type ReadResult<N> = Result<N, FieldFaults>;

/// Returns how a node's answers are read. The type of the output is required only where the signature is declared.
pub fn answers<N: Smart, S: ?Sized>(
    coverage: fn(&mut Coverage),
    collect: for<'a> fn(&'a N::Output, &mut Checks<'a, S>),
) -> OutputSpec<N::Output, S> {
    let form = SmartAnswerForm::new::<N>(N::signature(), &ReasoningSlot::default());
    OutputSpec::of_form(Box::new(form), coverage, collect)
}
