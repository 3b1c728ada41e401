struct Rate {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Rate {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "rate";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Rate {
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
    > __llmnode::LlmNode<AnyRunState> for Rate {
        fn render(&self, _: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.topic)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            __llmnode::OutputSpec::checked_text(|__value, __to| {
                __llmnode::validate(__to, "is_short", __value.as_str(), is_short);
            })
        }
    }
};
