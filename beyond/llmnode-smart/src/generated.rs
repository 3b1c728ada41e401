//! What generated code calls. Not part of the public interface: it may change in any release.

use llmnode_runtime::private::{Checks, Coverage, OutputSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::form::{ReasoningSlot, SmartAnswerForm};

pub use crate::__row as row;
pub use crate::node::{exec, render};
pub use crate::signature::{
    FieldFaults, Form, InputReader, InputWriter, SignatureBuilder, Smart, SmartInput, SmartOutput,
    TypedSignature,
};
/// For the macro below.
pub use serde;
pub use serde_json::{Map, Value};

/// The values of inputs, or those that cannot be written.
pub type WrittenValues = Result<Map<String, Value>, FieldFaults>;

/// A node, or the mistakes in its inputs.
pub type ReadResult<N> = Result<N, FieldFaults>;

/// Writes the inputs of a node as the row of a file.
///
/// # Errors
/// An input cannot be written.
pub fn write_row<N: Smart, S: Serializer>(node: &N, to: S) -> Result<S::Ok, S::Error> {
    node.values()
        .map_err(serde::ser::Error::custom)?
        .serialize(to)
}

/// Reads a node from the row of a file.
///
/// # Errors
/// Every input that is missing or of another type, in one text.
pub fn read_row<'de, N: Smart, D: Deserializer<'de>>(from: D) -> Result<N, D::Error> {
    let row = Map::deserialize(from)?;
    N::read(&row).map_err(serde::de::Error::custom)
}

/// Returns how a node's answers are read. The type of the output is required only where the signature is declared.
pub fn answers<N: Smart, S: ?Sized>(
    coverage: fn(&mut Coverage),
    collect: for<'a> fn(&'a N::Output, &mut Checks<'a, S>),
) -> OutputSpec<N::Output, S> {
    let form = SmartAnswerForm::new::<N>(N::signature(), &ReasoningSlot::default());
    OutputSpec::of_form(Box::new(form), coverage, collect)
}

/// The traits of serde for a node with a goal, which is written as the row of a file, and read from one.
#[doc(hidden)]
#[macro_export]
macro_rules! __row {
    (@Serialize $node:ident) => {
        #[automatically_derived]
        impl $crate::generated::serde::Serialize for $node {
            fn serialize<S: $crate::generated::serde::Serializer>(
                &self,
                to: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::generated::write_row(self, to)
            }
        }
    };
    (@Deserialize $node:ident) => {
        #[automatically_derived]
        impl<'de> $crate::generated::serde::Deserialize<'de> for $node {
            fn deserialize<D: $crate::generated::serde::Deserializer<'de>>(
                from: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::generated::read_row(from)
            }
        }
    };
    ($node:ident: $($missing:ident)*) => {
        $($crate::__row!(@$missing $node);)*
    };
}
