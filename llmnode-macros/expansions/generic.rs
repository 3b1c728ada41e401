struct Ask<'a, T: Clone, const N: usize> {
    a: &'a T,
    b: [u8; N],
}
const _: () = {
    use crate::other::__private as __llmnode;
    #[automatically_derived]
    impl<'a, T: Clone, const N: usize> __llmnode::Node for Ask<'a, T, N>
    where
        Self: ::core::marker::Sync,
        &'a T: __llmnode::PromptValue,
        Vec<T>: __llmnode::LlmOutput,
    {
        type Output = Vec<T>;
        const NAME: &'static __llmnode::str = "ask";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl<'state, 'a, T: Clone, const N: usize> __llmnode::Exec<Borrowed<'state>>
    for Ask<'a, T, N>
    where
        Self: ::core::marker::Sync,
        &'a T: __llmnode::PromptValue,
        Vec<T>: __llmnode::LlmOutput,
        Vec<T>: __llmnode::ValidateAll<Borrowed<'state>> + __llmnode::ValidatedFields,
    {
        const ASKS: __llmnode::Asks<Self, Borrowed<'state>> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, Borrowed<'state>>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<'state, 'a, T: Clone, const N: usize> __llmnode::LlmNode<Borrowed<'state>>
    for Ask<'a, T, N>
    where
        Self: ::core::marker::Sync,
        &'a T: __llmnode::PromptValue,
        Vec<T>: __llmnode::LlmOutput,
        Vec<T>: __llmnode::ValidateAll<Borrowed<'state>> + __llmnode::ValidatedFields,
    {
        fn render(&self, _: &Borrowed<'state>, __to: &mut __llmnode::Prompt) {
            __to.user(
                &[
                    __llmnode::Segment::value(&self.a),
                    __llmnode::Segment::text(" "),
                    __llmnode::Segment::format(&::core::format_args!("{:?}", & self.b)),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, Borrowed<'state>> {
            __llmnode::OutputSpec::json(
                |__to| __to.validated::<Vec<T>>(),
                |__value, __to| <Vec<
                    T,
                > as __llmnode::ValidateAll<Borrowed<'state>>>::all(__value, __to),
            )
        }
    }
    __llmnode::impl_arc_state!(
        Ask < 'a, T, N >, Borrowed < 'state >, ['state, 'a, T : Clone, const N : usize,]
        [Self : ::core::marker::Sync, & 'a T : __llmnode::PromptValue, Vec < T > :
        __llmnode::LlmOutput, Vec < T > : __llmnode::ValidateAll < Borrowed < 'state > >
        + __llmnode::ValidatedFields,]
    );
};
