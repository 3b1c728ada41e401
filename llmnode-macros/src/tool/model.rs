//! A tool after all checks.

use syn::{Ident, ItemFn, Path, Type};

use super::args::ToolArgs;
use super::parameter::Parameter;

pub(super) struct ToolModel<'a> {
    pub(super) function: &'a ItemFn,
    pub(super) ident: Ident,
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) args: &'a ToolArgs,
    pub(super) krate: Path,
}

impl ToolModel<'_> {
    pub(super) fn state(&self) -> Option<&Type> {
        self.parameters.iter().find_map(Parameter::state)
    }
}
