#[derive(Clone)]
pub(crate) struct Translate {
    pub(crate) file: PathBuf,
    /// Into which.
    pub language: Language,
}
const _: () = {
    use crate::llm::__private as __llmnode;
    use __llmnode::MatchAction as _;
    type __State = Shared<'static>;
    type __Action = Outcome;
    #[automatically_derived]
    impl __llmnode::FlowType<__State> for Translate {
        type Action = __Action;
        fn table() -> &'static __llmnode::Table<__State, __Action> {
            static TABLE: __llmnode::OnceLock<__llmnode::Table<__State, __Action>> = __llmnode::OnceLock::new();
            ::std::sync::OnceLock::get_or_init(
                &TABLE,
                || {
                    __llmnode::Table::<
                        __State,
                        __Action,
                    >::new("other", ::core::option::Option::Some(50))
                        .step::<
                            Decide,
                        >(
                            "Decide",
                            [
                                __llmnode::Edge::new("Answer", __llmnode::Target::End),
                                __llmnode::Edge::new("x | y", __llmnode::Target::Step(1)),
                                __llmnode::Edge::new("_", __llmnode::Target::Todo),
                            ],
                            |__action| match __llmnode::MatchOn(__action).__action() {
                                Answer { .. } => __llmnode::Arm::end(0, Outcome::Done),
                                "x" | "y" => __llmnode::Arm::to(1),
                                _ => __llmnode::Arm::to(2),
                            },
                        )
                        .step_with::<
                            _,
                            _,
                        >(
                            "First",
                            [__llmnode::Edge::new("", __llmnode::Target::Step(2))],
                            |state| Inner { text: state.text.clone() },
                            |state| &mut state.part,
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::to(0),
                            ),
                        )
                        .step_with::<
                            _,
                            __State,
                        >(
                            "Again",
                            [__llmnode::Edge::new("", __llmnode::Target::Step(3))],
                            |state| nodes::Ask::<u8> { n: 1 },
                            |state| state,
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::to(0),
                            ),
                        )
                        .step_in::<
                            Part,
                            _,
                        >(
                            "Part",
                            [__llmnode::Edge::new("", __llmnode::Target::Step(4))],
                            |state| &mut state.0,
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::to(0),
                            ),
                        )
                        .step::<
                            (Weather, News),
                        >(
                            "Gather",
                            [__llmnode::Edge::new("", __llmnode::Target::End)],
                            |__action| __llmnode::plain_arrow(
                                __action,
                                __llmnode::Arm::end(0, Outcome::Late),
                            ),
                        )
                },
            )
        }
        fn enter(self, state: &mut __State) {
            __llmnode::write(self.file, &mut state.part.current);
            __llmnode::write(self.language, &mut state.language);
        }
    }
    #[automatically_derived]
    impl __llmnode::Runnable<__State> for Translate {
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
    impl<'r> __llmnode::RunFlow<'r, __State> for Translate {
        type Action = __Action;
        fn runner(self) -> __llmnode::Runner<'r, __State, __Action> {
            __llmnode::runner(self)
        }
    }
};
