//! Flows, with the expansions of the macros written out.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

/// What `flow!` expands to, for flows whose steps are given by number.
macro_rules! typed_flow {
    ($flow:ident over $state:ty => $action:ty: $(
        $label:literal $node:ty, [$(($edge:literal, $to:expr)),*], $then:expr;
    )*) => {
        impl llmnode_flow::private::FlowType<$state> for $flow {
            type Action = $action;

            fn table() -> &'static llmnode_flow::private::Table<$state, $action> {
                static TABLE: std::sync::OnceLock<llmnode_flow::private::Table<$state, $action>> =
                    std::sync::OnceLock::new();
                TABLE.get_or_init(|| {
                    llmnode_flow::private::Table::<$state, $action>::new(stringify!($flow), None)
                    $(.step::<$node>($label, [$(llmnode_flow::private::Edge::new($edge, $to)),*], $then))*
                })
            }
        }

        impl llmnode_flow::private::Runnable<$state> for $flow {
            type Action = $action;

            fn advance<'f>(
                flow: llmnode_flow::private::FlowCursor<'f, $state>,
                prepared: Option<Self>,
            ) -> impl Future<Output = Result<llmnode_flow::private::Progress<$action>, llmnode_runtime::NodeError>> + Send {
                llmnode_flow::private::advance(flow, prepared)
            }

            fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> llmnode_flow::flow::Outline {
                llmnode_flow::private::outline::<Self, $state>(around)
            }
        }

        impl llmnode_flow::private::Startable<$state> for $flow {}

        impl<'r> llmnode_flow::flow::RunFlow<'r, $state> for $flow {
            type Action = $action;

            fn runner(self) -> llmnode_flow::private::Runner<'r, $state, $action> {
                llmnode_flow::private::runner(self)
            }
        }
    };
}

mod built;
mod by_hand;
mod flows;
mod made;
mod nesting;
mod pocketflow;
mod record;
#[path = "../../../../llmnode-runtime/tests/core/recorder.rs"]
#[expect(dead_code, reason = "shared with the tests of the core")]
mod recorder;
mod side_by_side;
mod support;
mod walks;
mod watched;
