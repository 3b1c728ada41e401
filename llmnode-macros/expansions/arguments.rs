struct ChooseItem {
    n: u32,
    list: Vec<u8>,
    photo: Image,
    other: u8,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for ChooseItem {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "other";
        const SETTINGS: &'static __llmnode::Settings = &__llmnode::Settings::new()
            .retries(0)
            .transport_retries(1)
            .backoff(
                __llmnode::Backoff::growing(
                    ::core::time::Duration::from_millis(1000),
                    ::core::time::Duration::from_millis(60000),
                ),
            )
            .max_wait(::core::time::Duration::from_millis(120000))
            .stated_model("small")
            .temperature(0.2)
            .max_tokens(64)
            .reasoning(__llmnode::Reasoning::Low);
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for ChooseItem {
        const ASKS: __llmnode::Asks<Self, AnyRunState> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for ChooseItem {
        fn render(&self, _: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __to.system(&[__llmnode::Segment::text("You are careful.")]);
            __to.user(
                &[
                    __llmnode::Segment::format(&::core::format_args!("{:>3}", & self.n)),
                    __llmnode::Segment::text(" "),
                    __llmnode::Segment::json(&self.list),
                    __llmnode::Segment::text("{}"),
                    __llmnode::Segment::attach(&self.photo),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            __llmnode::OutputSpec::text()
        }
    }
};
