//! Nodes side by side: a tuple of nodes is a node, and a tuple of steps is a step.

use super::name::Name;
use super::node_step::{post, prep};
use super::outline::Outline;
use super::step::Step;
use crate::error::NodeError;
use crate::node::Node;
use crate::run::Cx;
use crate::run::Exec;

/// A tuple of nodes executes them all side by side and gives all outputs. Each is a call of its own, on one state that
/// all of them read; the first error cancels the others. A tuple of steps without actions is a step: their posts run one by
/// one in the order of the tuple, after the last of them has ended, and none runs if one of them failed.
macro_rules! side_by_side {
    ($($N:ident $n:tt),+) => {
        impl<$($N: Node),+> Called for ($($N,)+) {
            const CALLED: &'static Name = &Name::list("(", &[$($N::NAME),+], ")");
        }

        #[diagnostic::do_not_recommend]
        impl<$($N: Node),+> Node for ($($N,)+) {
            type Output = ($($N::Output,)+);
            const NAME: &'static str = <Self as Called>::CALLED.as_str();
            const IDEMPOTENT: bool = true $(&& $N::IDEMPOTENT)+;
        }

        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, $($N: Exec<S>),+> Exec<S> for ($($N,)+) {
            async fn exec(&self, cx: &Cx<'_, S>) -> Result<Self::Output, NodeError> {
                tokio::try_join!($(cx.call(&self.$n).settings(cx.handed_on())),+)
            }
        }

        impl<S: Sync, $($N: Beside<S> + Send),+> Step<S> for ($($N,)+) {
            type Action = ();

            async fn prep(state: &S) -> Result<Self, NodeError> {
                tokio::try_join!($(prep::<S, $N>(state)),+)
            }

            fn post(self, outputs: Self::Output, state: &mut S) -> Result<(), NodeError> {
                $(post::<S, $N>(self.$n, outputs.$n, state)?;)+
                Ok(())
            }

            fn step_outline() -> Outline {
                Outline::Parallel(vec![$($N::step_outline()),+])
            }
        }
    };
}

/// A step that can stand beside others: it decides nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside other steps of flows over `{S}`",
    label = "side by side stand nodes without actions",
    note = "several actions could not route one flow, and flows side by side would write to one state; let it stand before the \
            others or behind them, or run flows side by side with `run.fork(..)`, each on a state of its own"
)]
pub trait Beside<S>: Step<S, Action = ()> {}

#[diagnostic::do_not_recommend]
impl<S, N: Step<S, Action = ()>> Beside<S> for N {}

/// A constant that the impl of a foreign trait cannot hold.
trait Called {
    const CALLED: &'static Name;
}

side_by_side!(A 0, B 1);
side_by_side!(A 0, B 1, C 2);
side_by_side!(A 0, B 1, C 2, D 3);
side_by_side!(A 0, B 1, C 2, D 3, E 4);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
