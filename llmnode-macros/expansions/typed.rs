/// Decides which item to use next.
struct ChooseItem {
    goal: String,
    hint: Option<String>,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for ChooseItem {
        type Output = Choice;
        const NAME: &'static __llmnode::str = "choose_item";
        const SETTINGS: &'static __llmnode::Settings = &__llmnode::Settings::new()
            .retries(2);
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL
            .description("Decides which item to use next.");
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for ChooseItem {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for ChooseItem {
        fn render(&self, state: &World, __to: &mut __llmnode::Prompt) {
            __to.user(
                &[
                    __llmnode::Segment::text("Goal: "),
                    __llmnode::Segment::value(&self.goal),
                    __llmnode::Segment::text("\n"),
                    __llmnode::Segment::list(
                        &__llmnode::prompt_at::<2, 8, _>(state).inventory,
                    ),
                    __llmnode::Segment::text("\n"),
                    __llmnode::Segment::or(&self.hint, "none"),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |__to| (&&&&__llmnode::CoverageProbe::<Choice>::new()).__coverage(__to),
                |__value, __to| (&&&__llmnode::Traverse(__value)).__walk::<World>(__to),
            )
        }
    }
    __llmnode::impl_arc_state!(ChooseItem, World, [] []);
};
