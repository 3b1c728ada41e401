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
        __AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<__AnyState> for Greet {
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, __AnyState>,
        ) -> impl ::core::future::Future<
            Output = __llmnode::Executed<Self>,
        > + ::core::marker::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<
        __AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<__AnyState> for Greet {
        fn render(&self, _: &__AnyState, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::text("Say hello.")]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, __AnyState> {
            __llmnode::OutputSpec::text()
        }
    }
};
