struct Ask {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static ::core::primitive::str = "ask";
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for Ask {
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
    > __llmnode::LlmNode<AnyState> for Ask {
        fn render(&self, _: &AnyState, to: &mut __llmnode::Prompt) {
            to.system(&[__llmnode::Segment::text("Be brief.")]);
            to.user(
                &[
                    __llmnode::Segment::text("About "),
                    __llmnode::Segment::value(&self.topic),
                    __llmnode::Segment::text(",\nin 10 words."),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            __llmnode::OutputSpec::text()
        }
    }
    const _: &[::core::primitive::u8] = ::core::include_bytes!("expansions/ask.md");
};
