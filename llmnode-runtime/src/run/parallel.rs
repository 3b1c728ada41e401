//! Nodes side by side: a tuple of nodes is a node.

use llmnode_model::BoxError;

use super::cx::Cx;
use super::name::ConstName;
use super::node::Exec;
use crate::node::Node;

/// Executes the nodes of a tuple concurrently, as separate calls on one state. The first error cancels the others.
macro_rules! side_by_side {
    ($($N:ident $n:tt),+) => {
        #[diagnostic::do_not_recommend]
        impl<$($N: Node),+> Node for ($($N,)+) {
            type Output = ($($N::Output,)+);
            const NAME: &'static str = const { &ConstName::list("(", &[$($N::NAME),+], ")") }.as_str();
            const IDEMPOTENT: bool = true $(&& $N::IDEMPOTENT)+;
        }

        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, $($N: Exec<S>),+> Exec<S> for ($($N,)+) {
            const TRIES_ITSELF: bool = true;

            async fn exec(&self, cx: &Cx<'_, S>) -> Result<Self::Output, BoxError> {
                cx.with_call_deadline(async { tokio::try_join!($(cx.call(&self.$n).settings(cx.forwarded_settings())),+) }).await
            }
        }
    };
}

side_by_side!(A 0, B 1);
side_by_side!(A 0, B 1, C 2);
side_by_side!(A 0, B 1, C 2, D 3);
side_by_side!(A 0, B 1, C 2, D 3, E 4);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
