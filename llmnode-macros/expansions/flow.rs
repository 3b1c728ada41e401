/// Searches as long as it has to.
pub struct Research;
const _: () = {
    use ::llmnode::__private as __llmnode;
    use __llmnode::MatchAction as _;
    type __State = World;
    type __Action = ();
    #[automatically_derived]
    impl __llmnode::FlowType<__State> for Research {
        type Action = __Action;
        fn table() -> &'static __llmnode::Table<__State, __Action> {
            static TABLE: __llmnode::OnceLock<__llmnode::Table<__State, __Action>> = __llmnode::OnceLock::new();
            ::std::sync::OnceLock::get_or_init(
                &TABLE,
                || {
                    __llmnode::Table::<
                        __State,
                        __Action,
                    >::new("research", ::core::option::Option::None)
                        .step::<
                            Decide,
                        >(
                            "Decide",
                            [
                                __llmnode::Edge::new("Search", __llmnode::Target::Step(1)),
                                __llmnode::Edge::new("Answer", __llmnode::Target::Step(2)),
                            ],
                            |__action| match __llmnode::MatchOn(__action).__action() {
                                Decision::Search => __llmnode::Arm::to(0),
                                Decision::Answer => __llmnode::Arm::to(1),
                            },
                        )
                        .step::<
                            Search,
                        >(
                            "Search",
                            [__llmnode::Edge::new("", __llmnode::Target::Step(0))],
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::to(0),
                            ),
                        )
                        .step::<
                            Answer,
                        >(
                            "Answer",
                            [__llmnode::Edge::new("", __llmnode::Target::End)],
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::end(0, ()),
                            ),
                        )
                },
            )
        }
    }
    #[automatically_derived]
    impl __llmnode::Runnable<__State> for Research {
        type Action = __Action;
        fn advance<'f>(
            __flow: __llmnode::FlowCursor<'f, __State>,
            __prepared: ::core::option::Option<Self>,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Advanced<__Action>,
        > + __llmnode::Send {
            __llmnode::advance(__flow, __prepared)
        }
        fn outline_within(__around: __llmnode::OuterFlows<'_>) -> __llmnode::Outline {
            __llmnode::outline::<Self, __State>(__around)
        }
    }
    #[automatically_derived]
    impl __llmnode::Startable<__State> for Research {}
    #[automatically_derived]
    impl<'r> __llmnode::RunFlow<'r, __State> for Research {
        type Action = __Action;
        fn runner(self) -> __llmnode::Runner<'r, __State, __Action> {
            __llmnode::runner(self)
        }
    }
};
