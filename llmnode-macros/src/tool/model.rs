//! A tool after all checks.

use syn::{Ident, ItemFn, Path, Type};

use super::args::ToolArgs;
use super::parameter::Parameter;

/// `ident`: of the struct, in camel case. `name`: what the model reads.
pub(super) struct ToolModel<'a> {
    pub(super) function: &'a ItemFn,
    pub(super) ident: Ident,
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) args: &'a ToolArgs,
    pub(super) krate: Path,
}

impl ToolModel<'_> {
    /// The state, if any parameter names one.
    pub(super) fn state(&self) -> Option<&Type> {
        self.parameters.iter().find_map(Parameter::state)
    }
}
