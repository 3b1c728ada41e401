//! The compiler's messages for `run.map(texts)`, and for `for result in
//! run.map(nodes)` without `.await`.

use super::map::Map;
use super::node::Exec;
use crate::error::NodeError;

/// No type implements this, so a map is never an iterator.
#[diagnostic::on_unimplemented(
    message = "a map has no results before it is awaited",
    label = "write `.await` behind this map",
    note = "`run.map(nodes).stream()` gives one result after the other, in constant memory"
)]
pub trait Awaited {}

/// Takes the map's place in the bound. With a bound on the map itself, rustc would
/// only report that it is not an iterator.
pub struct Unawaited<T>(T);

#[doc(hidden)]
impl<T> Iterator for Map<'_, T>
where
    Unawaited<T>: Awaited,
{
    type Item = Result<T, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}

/// What `run.map` calls. One trait with the output as its parameter: two bounds
/// would be two errors for what is no node.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node that runs with the state `{S}`",
    label = "these are not nodes of this state",
    note = "`run.map` calls nodes, one for each item: `run.map(texts.into_iter().map(|text| Summarize {{ text }}))`",
    note = "the state of the run, `Run::new(model).with_state(state)`, must be of the type that the nodes name, `state = T`"
)]
pub trait Mapped<S: ?Sized, T>: Exec<S, Output = T> + Send {}

#[diagnostic::do_not_recommend]
impl<N: Exec<S> + Send, S: ?Sized> Mapped<S, N::Output> for N {}
