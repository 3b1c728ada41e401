struct Research;
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[allow(dead_code)]
    fn named(
        _: ::core::marker::PhantomData<World>,
        _: ::core::marker::PhantomData<Decide>,
        _: ::core::marker::PhantomData<Search>,
    ) {}
    type Action = ();
    #[automatically_derived]
    impl<S> __llmnode::Runnable<S> for Research {
        type Action = Action;
        fn advance<'f>(
            _: __llmnode::FlowCursor<'f, S>,
            _: ::core::option::Option<Self>,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Advanced<Action>,
        > + __llmnode::Send {
            ::core::future::pending()
        }
        fn outline_within(_: __llmnode::OuterFlows<'_>) -> __llmnode::Outline {
            ::core::unreachable!()
        }
    }
    #[automatically_derived]
    impl<S> __llmnode::Startable<S> for Research {}
    #[automatically_derived]
    impl<'r, S> __llmnode::RunFlow<'r, S> for Research {
        type Action = Action;
        fn runner(self) -> __llmnode::Runner<'r, S, Action> {
            ::core::unreachable!()
        }
    }
};
::core::compile_error! {
    "expected the next step: write `Search => end`, or the label of the step that follows"
}
