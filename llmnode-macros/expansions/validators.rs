impl Choice {
    fn item_is_available(&self, state: &World) -> Result<(), Invalid> {
        todo!()
    }
    async fn in_stock(
        &self,
        attempt: &AttemptInfo,
        state: &World,
    ) -> Result<(), Invalid> {
        todo!()
    }
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::AllValidatorsInOneBlock for Choice
    where
        Choice: __llmnode::ValidatedFields,
    {
        type Block = __Block;
    }
    pub enum __Block {}
    #[automatically_derived]
    impl __llmnode::AllValidatorsInOneBlock<World, __Block, ()> for Choice {
        type Block = ();
        fn checks<'checked>(
            &'checked self,
            __to: &mut __llmnode::Checks<'checked, World>,
        ) {
            use __llmnode::probes::*;
            (&&__llmnode::Traverse(self)).__walk::<World>(__to);
            __to.sync(
                "item_is_available",
                move |__state, _| Self::item_is_available(self, __state),
            );
            __to.future(
                "in_stock",
                move |__state, __attempt| Self::in_stock(self, __attempt, __state),
            );
        }
    }
};
