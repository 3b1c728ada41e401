pub struct Ask {
    pub topic: String,
    #[serde(default)]
    style: Vec<Option<u8>>,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = Choice;
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
    "unknown argument `ret`; `llm_node` takes `prompt`, `prompt_file`, `goal`, `form`, `system`, `system_file`, `examples`, `output`, `state`, `validate`, `retries`, `transport_retries`, `wait`, `max_wait`, `attempt_timeout`, `deadline`, `model`, `fallback_model`, `fallback`, `temperature`, `max_tokens`, `reasoning`, `cache`, `window`, `tools`, `turns`, `calls_in_text`, `thoughts_in_text`, `name`, `prep`, `store`, `action`, `route`, `post`, `batch`, `concurrency`, `idempotent`, `crate`, `exact`, `think`, `tool`, `choices`, `with`, `recover`, `limits` and `compact`"
}
