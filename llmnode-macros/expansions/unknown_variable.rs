struct Ask {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static ::core::primitive::str = "Ask";
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyState> for Ask {
        fn exec(
            &self,
            _: &__llmnode::Cx<'_, AnyState>,
        ) -> impl ::core::future::Future<
            Output = __llmnode::Executed<Self>,
        > + ::core::marker::Send {
            ::core::future::pending()
        }
    }
    #[automatically_derived]
    impl<
        AnyState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyState> for Ask {
        fn render(&self, _: &AnyState, _: &mut __llmnode::Prompt) {}
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyState> {
            ::core::unreachable!()
        }
    }
};
::core::compile_error! {
    "unknown prompt variable `topik` at 1:8; did you mean `topic`?\n  |\n1 | About {topik}\n  |       ^^^^^^^\nthe field of `Ask` is `topic`"
}
