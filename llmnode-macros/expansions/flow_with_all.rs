#[derive(Clone)]
pub(crate) struct Translate {
    pub(crate) file: PathBuf,
    /// Into which.
    pub language: Language,
}
const _: () = {
    use crate::llm::__private as __llmnode;
    use __llmnode::Decides as _;
    type State = Shared<'static>;
    type Action = Outcome;
    #[automatically_derived]
    impl __llmnode::FlowType<State> for Translate {
        type Action = Action;
        const NAME: &'static ::core::primitive::str = "other";
        const STOPS: &'static [__llmnode::Stop] = &[
            __llmnode::Stop::new(
                "Decide",
                &[
                    __llmnode::Edge::end("Answer"),
                    __llmnode::Edge::to("x | y", 1),
                    __llmnode::Edge::todo("_"),
                ],
            ),
            __llmnode::Stop::new("First", &[__llmnode::Edge::to("", 2)]),
            __llmnode::Stop::new("Again", &[__llmnode::Edge::to("", 3)]),
            __llmnode::Stop::new("Part", &[__llmnode::Edge::to("", 4)]),
            __llmnode::Stop::new("Gather", &[__llmnode::Edge::end("")]),
        ];
        const MAX_STEPS: ::core::option::Option<::core::primitive::u64> = ::core::option::Option::Some(
            50,
        );
        fn enter(self, state: &mut State) {
            __llmnode::write(self.file, &mut state.part.current);
            __llmnode::write(self.language, &mut state.language);
        }
        fn visit<V: __llmnode::Visitor<State, Action>>(
            __step: ::core::primitive::usize,
            __visitor: V,
        ) -> V::Seen {
            match __step {
                0 => {
                    __visitor
                        .step::<
                            Decide,
                        >(|__action| match __llmnode::Decided(__action).action() {
                            Answer { .. } => __llmnode::Arm::end(0, Outcome::Done),
                            "x" | "y" => __llmnode::Arm::to(1),
                            _ => __llmnode::Arm::to(2),
                        })
                }
                1 => {
                    __visitor
                        .step_made::<
                            _,
                            _,
                        >(
                            |state| Inner { text: state.text.clone() },
                            |state| &mut state.part,
                            |__action| __llmnode::onward(__action, __llmnode::Arm::to(0)),
                        )
                }
                2 => {
                    __visitor
                        .step_made::<
                            _,
                            State,
                        >(
                            |state| nodes::Ask::<u8> { n: 1 },
                            |state| state,
                            |__action| __llmnode::onward(__action, __llmnode::Arm::to(0)),
                        )
                }
                3 => {
                    __visitor
                        .step_in::<
                            Part,
                            _,
                        >(
                            |state| &mut state.0,
                            |__action| __llmnode::onward(__action, __llmnode::Arm::to(0)),
                        )
                }
                4 => {
                    __visitor
                        .step::<
                            (Weather, News),
                        >(|__action| __llmnode::onward(
                            __action,
                            __llmnode::Arm::end(0, Outcome::Late),
                        ))
                }
                _ => __visitor.none(),
            }
        }
    }
    #[automatically_derived]
    impl __llmnode::Place<State> for Translate {
        type Action = Action;
        fn advance<'f>(
            __flow: __llmnode::Flowing<'f, State>,
            __prepared: ::core::option::Option<Self>,
        ) -> __llmnode::Advanced<'f, Action> {
            __llmnode::advance(__flow, __prepared)
        }
        fn outline_within(__around: __llmnode::Around<'_>) -> __llmnode::Outline {
            __llmnode::outline::<Self, State>(__around)
        }
    }
    #[automatically_derived]
    impl<'r> __llmnode::RunFlow<'r, State> for Translate {
        type Action = Action;
        fn runner(self) -> __llmnode::Runner<'r, State, Action> {
            __llmnode::runner(self)
        }
    }
};
