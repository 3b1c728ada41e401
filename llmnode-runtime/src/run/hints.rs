//! The compiler's messages for methods that people look for where they are not. No
//! type implements these traits.

/// `run.call(&node).tools(set)`.
#[diagnostic::on_unimplemented(
    message = "tools belong to the node, not to its call",
    label = "the node has no field for these tools",
    note = "give the node the field `#[node(tools)] tools: Toolset`"
)]
pub trait ToolsOfACall {}

/// Takes the place of a type in a bound, which is then decided where the method is called.
pub struct Hinted<T: ?Sized>(std::marker::PhantomData<T>);
