struct Ask {
    topic: String,
    #[cfg(feature = "deep")]
    depth: u8,
    other: u8,
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
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Ask {
        fn exec(
            &self,
            _: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl ::core::future::Future<
            Output = __llmnode::ExecResult<Self>,
        > + ::core::marker::Send {
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
    "`#[cfg]` inside an item is not evaluated when `#[llm_node]` sees it; write one item below `#[cfg(feature = \"deep\")]` and another below `#[cfg(not (feature = \"deep\"))]`"
}
