struct Ask {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "ask";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Ask {
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
    > __llmnode::LlmNode<AnyRunState> for Ask {
        fn render(&self, _: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.system(&[__llmnode::Segment::text("Be brief.")]);
            __to.user(
                &[
                    __llmnode::Segment::text("About "),
                    __llmnode::Segment::value(&self.topic),
                    __llmnode::Segment::text(",\nin 10 words."),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            __llmnode::OutputSpec::text()
        }
    }
    const _: &[::core::primitive::u8] = ::core::include_bytes!("tests/internals/ask.md");
};
