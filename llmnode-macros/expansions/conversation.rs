struct Reply<'a, H> {
    messages: H,
    input: &'a str,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<'a, H> __llmnode::Node for Reply<'a, H>
    where
        Self: ::core::marker::Sync,
        H: __llmnode::PromptHistory,
    {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "reply";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        'a,
        H,
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Reply<'a, H>
    where
        Self: ::core::marker::Sync,
        H: __llmnode::PromptHistory,
    {
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
        'a,
        H,
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for Reply<'a, H>
    where
        Self: ::core::marker::Sync,
        H: __llmnode::PromptHistory,
    {
        fn render(&self, state: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.system(&[__llmnode::Segment::text("Be brief.")]);
            __to.examples(
                self,
                state,
                || [
                    __llmnode::Example::<Self> {
                        input: __llmnode::Example::<
                            Self,
                        >::asking(Self {
                            messages: H::default(),
                            input: "Hi.",
                        }),
                        output: __llmnode::ExampleText::into_text("Hello."),
                    },
                    __llmnode::Example::<Self> {
                        input: __llmnode::Example::<Self>::asking("Bye."),
                        output: __llmnode::ExampleText::into_text("Goodbye!"),
                    },
                ],
            );
            __to.history(&self.messages);
            __to.user(&[__llmnode::Segment::value(&self.input)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            __llmnode::OutputSpec::text()
        }
    }
};
