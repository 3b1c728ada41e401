struct Rate {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Rate {
        type Output = ::std::string::String;
        const NAME: &'static ::core::primitive::str = "rate";
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for Rate {
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
    > __llmnode::LlmNode<AnyState> for Rate {
        fn render(&self, _: &AnyState, to: &mut __llmnode::Prompt) {
            to.user(&[__llmnode::Segment::value(&self.topic)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            __llmnode::OutputSpec::checked_text(|value, to| {
                __llmnode::validate(to, "is_short", value.as_str(), is_short);
            })
        }
    }
};
