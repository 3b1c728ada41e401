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
        const NAME: &'static ::core::primitive::str = "reply";
    }
    #[automatically_derived]
    impl<
        'a,
        H,
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for Reply<'a, H>
    where
        Self: ::core::marker::Sync,
        H: __llmnode::PromptHistory,
    {
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
        'a,
        H,
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyState> for Reply<'a, H>
    where
        Self: ::core::marker::Sync,
        H: __llmnode::PromptHistory,
    {
        fn render(&self, state: &AnyState, to: &mut __llmnode::Prompt) {
            to.system(&[__llmnode::Segment::text("Be brief.")]);
            to.examples(
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
            to.history(&self.messages);
            to.user(&[__llmnode::Segment::value(&self.input)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            __llmnode::OutputSpec::text()
        }
    }
};
