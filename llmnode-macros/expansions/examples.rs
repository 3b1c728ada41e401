struct ChooseItem {
    goal: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for ChooseItem {
        type Output = Choice;
        const NAME: &'static ::core::primitive::str = "choose_item";
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for ChooseItem {
        fn exec(
            &self,
            cx: &__llmnode::Cx<'_, AnyState>,
        ) -> impl ::core::future::Future<
            Output = __llmnode::Executed<Self>,
        > + ::core::marker::Send {
            __llmnode::exec(self, cx)
        }
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyState> for ChooseItem {
        fn render(&self, state: &AnyState, to: &mut __llmnode::Prompt) {
            to.examples(
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
            to.user(&[__llmnode::Segment::value(&self.goal)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |to| (&&&&__llmnode::Reached::<Choice>::new()).reach(to),
                |value, to| (&&&__llmnode::Dive(value)).dive::<AnyState>(to),
            )
        }
    }
};
