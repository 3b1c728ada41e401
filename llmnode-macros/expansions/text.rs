struct Greet;
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Greet {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "greet";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Greet {
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
    > __llmnode::LlmNode<AnyRunState> for Greet {
        fn render(&self, _: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::text("Say hello.")]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            __llmnode::OutputSpec::text()
        }
    }
};
