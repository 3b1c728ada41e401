impl Choice {
    fn item_is_available(&self, state: &World) -> Result<(), Invalid> {
        todo!()
    }
    async fn in_stock(&self, attempt: &Attempt, state: &World) -> Result<(), Invalid> {
        todo!()
    }
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Validated for Choice
    where
        Choice: __llmnode::ValidatedFields,
    {}
    #[automatically_derived]
    impl __llmnode::Validate<World> for Choice {
        fn checks<'checked>(
            &'checked self,
            to: &mut __llmnode::Checks<'checked, World>,
        ) {
            use __llmnode::probes::*;
            (&&__llmnode::Dive(self)).dive::<World>(to);
            to.sync(
                "item_is_available",
                move |state, _| Self::item_is_available(self, state),
            );
            to.future(
                "in_stock",
                move |state, attempt| Self::in_stock(self, attempt, state),
            );
        }
    }
};
