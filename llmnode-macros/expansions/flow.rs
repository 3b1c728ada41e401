/// Searches as long as it has to.
pub struct Research;
const _: () = {
    use ::llmnode::__private as __llmnode;
    use __llmnode::Decides as _;
    type State = World;
    type Action = ();
    #[automatically_derived]
    impl __llmnode::FlowType<State> for Research {
        type Action = Action;
        const NAME: &'static ::core::primitive::str = "research";
        const STOPS: &'static [__llmnode::Stop] = &[
            __llmnode::Stop::new(
                "Decide",
                &[__llmnode::Edge::to("Search", 1), __llmnode::Edge::to("Answer", 2)],
            ),
            __llmnode::Stop::new("Search", &[__llmnode::Edge::to("", 0)]),
            __llmnode::Stop::new("Answer", &[__llmnode::Edge::end("")]),
        ];
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
                            Decision::Search => __llmnode::Arm::to(0),
                            Decision::Answer => __llmnode::Arm::to(1),
                        })
                }
                1 => {
                    __visitor
                        .step::<
                            Search,
                        >(|__action| __llmnode::onward(__action, __llmnode::Arm::to(0)))
                }
                2 => {
                    __visitor
                        .step::<
                            Answer,
                        >(|__action| __llmnode::onward(
                            __action,
                            __llmnode::Arm::end(0, ()),
                        ))
                }
                _ => __visitor.none(),
            }
        }
    }
    #[automatically_derived]
    impl __llmnode::Place<State> for Research {
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
    impl __llmnode::Starts<State> for Research {}
    #[automatically_derived]
    impl<'r> __llmnode::RunFlow<'r, State> for Research {
        type Action = Action;
        fn runner(self) -> __llmnode::Runner<'r, State, Action> {
            __llmnode::runner(self)
        }
    }
};
