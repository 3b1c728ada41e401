struct Rate {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Rate {
        type Output = u8;
        const NAME: &'static ::core::primitive::str = "rate";
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for Rate {
        fn exec(
            &self,
            cx: &__llmnode::Cx<'_, World>,
        ) -> impl ::core::future::Future<
            Output = __llmnode::Executed<Self>,
        > + ::core::marker::Send {
            __llmnode::exec(self, cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for Rate {
        fn render(&self, _: &World, to: &mut __llmnode::Prompt) {
            to.user(&[__llmnode::Segment::value(&self.topic)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |to| (&&&&__llmnode::Reached::<u8>::new()).reach(to),
                |value, to| {
                    (&&&__llmnode::Dive(value)).dive::<World>(to);
                    __llmnode::validate_with_state(to, "is_small", value, is_small);
                    __llmnode::validate_with_state(to, "is_even", value, other::is_even);
                },
            )
        }
    }
};
