struct Rate {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Rate {
        type Output = u8;
        const NAME: &'static __llmnode::str = "rate";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for Rate {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for Rate {
        fn render(&self, _: &World, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.topic)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |__to| (&&&&__llmnode::CoverageProbe::<u8>::new()).__coverage(__to),
                |__value, __to| {
                    (&&&__llmnode::Traverse(__value)).__walk::<World>(__to);
                    __llmnode::validate_with_state(__to, "is_small", __value, is_small);
                    __llmnode::validate_with_state(
                        __to,
                        "is_even",
                        __value,
                        other::is_even,
                    );
                },
            )
        }
    }
    __llmnode::impl_arc_state!(Rate, World, [] []);
};
