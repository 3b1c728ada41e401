struct Ask {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "Ask";
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Ask {
        fn exec(
            &self,
            _: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            ::core::future::pending()
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for Ask {
        fn render(&self, _: &AnyRunState, _: &mut __llmnode::Prompt) {}
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            ::core::unreachable!()
        }
    }
};
::core::compile_error! {
    "unknown prompt variable `topik` at 1:8; did you mean `topic`?\n  |\n1 | About {topik}\n  |       ^^^^^^^\nthe field of `Ask` is `topic`"
}
