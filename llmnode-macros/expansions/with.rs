struct Ask {
    topic: String,
    offset: u8,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "ask";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for Ask {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for Ask {
        fn render(&self, state: &World, __to: &mut __llmnode::Prompt) {
            match (&state.files.len(), &(self.offset + 1)) {
                (__llmnode_count, __llmnode_next) => {
                    __to.system(
                        &[
                            __llmnode::Segment::text("There are "),
                            __llmnode::Segment::value(&*__llmnode_count),
                            __llmnode::Segment::text(" files."),
                        ],
                    );
                    __to.user(
                        &[
                            __llmnode::Segment::value(&self.topic),
                            __llmnode::Segment::text(" "),
                            __llmnode::Segment::format(
                                &::core::format_args!("{:>3}", & * __llmnode_count),
                            ),
                            __llmnode::Segment::text(" "),
                            __llmnode::Segment::value(&*__llmnode_next),
                        ],
                    );
                }
            }
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            __llmnode::OutputSpec::text()
        }
    }
    __llmnode::impl_arc_state!(Ask, World, [] []);
};
