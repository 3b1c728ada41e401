struct Greet;
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Greet {
        type Output = ::std::string::String;
        const NAME: &'static ::core::primitive::str = "greet";
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for Greet {
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
    > __llmnode::LlmNode<AnyState> for Greet {
        fn render(&self, _: &AnyState, to: &mut __llmnode::Prompt) {
            to.user(&[__llmnode::Segment::text("Say hello.")]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            __llmnode::OutputSpec::text()
        }
    }
};
