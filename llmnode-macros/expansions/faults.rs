struct Ask<T> {
    topic: T,
    other: u8,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<T> __llmnode::Node for Ask<T>
    where
        Self: ::core::marker::Sync,
    {
        type Output = u8;
        const NAME: &'static __llmnode::str = "Ask";
    }
    #[automatically_derived]
    impl<
        T,
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Ask<T>
    where
        Self: ::core::marker::Sync,
    {
        fn exec(
            &self,
            _: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            ::core::future::pending()
        }
    }
    #[automatically_derived]
    impl<
        T,
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for Ask<T>
    where
        Self: ::core::marker::Sync,
    {
        fn render(&self, _: &AnyRunState, _: &mut __llmnode::Prompt) {}
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            ::core::unreachable!()
        }
    }
};
::core::compile_error! {
    "unknown argument `retrys`; did you mean `retries`?"
}
::core::compile_error! {
    "`{}` is not a variable; prompt variables are the names of the node's fields (at 1:1)\n  |\n1 | {}\n  | ^^"
}
