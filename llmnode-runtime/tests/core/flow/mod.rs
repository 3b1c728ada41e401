//! Flows, with the expansions of the macros written out.

/// What `flow!` expands to, for flows whose steps are given by number.
macro_rules! typed_flow {
    ($flow:ident over $state:ty => $action:ty: $(
        $step:literal $label:literal $node:ty, [$(($edge:literal, $to:expr)),*], $then:expr;
    )*) => {
        impl llmnode_runtime::private::FlowType<$state> for $flow {
            type Action = $action;
            const NAME: &'static str = stringify!($flow);
            const STOPS: &'static [llmnode_runtime::private::Stop] = &[$(llmnode_runtime::private::Stop {
                label: $label,
                edges: &[$(llmnode_runtime::private::Edge { action: $edge, to: $to }),*],
            }),*];

            fn visit<V: llmnode_runtime::private::Visitor<$state, $action>>(step: usize, visitor: V) -> V::Seen {
                match step {
                    $($step => visitor.step::<$node>($then),)*
                    _ => visitor.none(),
                }
            }
        }

        impl llmnode_runtime::flow::Place<$state> for $flow {
            type Action = $action;

            fn advance<'f>(
                flow: llmnode_runtime::private::Flowing<'f, $state>,
                prepared: Option<Self>,
            ) -> llmnode_runtime::BoxFuture<
                'f,
                Result<llmnode_runtime::private::Progress<$action>, llmnode_runtime::NodeError>,
            > {
                llmnode_runtime::private::advance(flow, prepared)
            }

            fn outline_within(around: llmnode_runtime::private::Around<'_>) -> llmnode_runtime::flow::Outline {
                llmnode_runtime::private::outline::<Self, $state>(around)
            }
        }

        impl llmnode_runtime::flow::Starts<$state> for $flow {}

        impl<'r> llmnode_runtime::flow::RunFlow<'r, $state> for $flow {
            type Action = $action;

            fn runner(self) -> llmnode_runtime::private::Runner<'r, $state, $action> {
                llmnode_runtime::private::runner(self)
            }
        }
    };
}

mod built;
mod by_hand;
mod flows;
mod pocketflow;
mod record;
mod side_by_side;
mod walks;
mod watched;
