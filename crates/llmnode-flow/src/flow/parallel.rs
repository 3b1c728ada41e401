//! Steps side by side: a tuple of steps is a step.

use llmnode_runtime::{BoxError, Node};

use super::node_step::{post, prep};
use super::outline::Outline;
use super::step::Step;

/// After the last node has ended, the posts run in the order of the tuple, or none
/// if a node failed.
macro_rules! side_by_side {
    ($($N:ident $n:tt),+) => {
        impl<S: Sync, $($N: ParallelStep<S> + Send),+> Step<S> for ($($N,)+) {
            type Output = <Self as Node>::Output;
            type Action = ();

            async fn prep(state: &S) -> Result<Self, BoxError> {
                Ok(tokio::try_join!($(prep::<S, $N>(state)),+)?)
            }

            fn post(self, outputs: <Self as Node>::Output, state: &mut S) -> Result<(), BoxError> {
                $(post::<S, $N>(self.$n, outputs.$n, state)?;)+
                Ok(())
            }

            fn step_outline() -> Outline {
                Outline::Parallel(vec![$($N::step_outline()),+])
            }
        }
    };
}

/// A step that can run beside others: it decides nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside other steps of flows over `{S}`",
    label = "only nodes without actions run side by side",
    note = "several actions could not route one flow, and flows side by side would write to one \
            state; put it before or after the others, or run flows side by side with \
            `run.fork(..)`, each on a state of its own"
)]
pub trait ParallelStep<S>: Step<S, Action = ()> {}

#[diagnostic::do_not_recommend]
impl<S, N: Step<S, Action = ()>> ParallelStep<S> for N {}

side_by_side!(A 0, B 1);
side_by_side!(A 0, B 1, C 2);
side_by_side!(A 0, B 1, C 2, D 3);
side_by_side!(A 0, B 1, C 2, D 3, E 4);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
