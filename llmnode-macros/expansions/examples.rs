struct ChooseItem {
    goal: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for ChooseItem {
        type Output = Choice;
        const NAME: &'static __llmnode::str = "choose_item";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for ChooseItem {
        const ASKS: __llmnode::Asks<Self, AnyRunState> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for ChooseItem {
        fn render(&self, state: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.examples(
                self,
                state,
                || [
                    __llmnode::Example::<Self> {
                        input: __llmnode::Example::<
                            Self,
                        >::asking(Self { goal: "eat".into() }),
                        output: Choice { item: "fork".into() },
                    },
                ],
            );
            __to.user(&[__llmnode::Segment::value(&self.goal)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |__to| (&&&&__llmnode::CoverageProbe::<Choice>::new()).__coverage(__to),
                |__value, __to| {
                    (&&&__llmnode::Traverse(__value)).__walk::<AnyRunState>(__to)
                },
            )
        }
    }
};
