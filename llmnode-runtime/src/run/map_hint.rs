//! The compiler's message for `for result in run.map(nodes)` without `.await`.

use super::map::Map;
use crate::error::NodeError;

/// No type implements this, so a map is never an iterator.
#[diagnostic::on_unimplemented(
    message = "a map has no results before it is awaited",
    label = "write `.await` behind this map",
    note = "`run.map(nodes).stream()` gives one result after the other, in constant memory"
)]
pub trait Awaited {}

/// Takes the map's place in the bound. With a bound on the map itself, rustc would only report that it is not an iterator.
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
