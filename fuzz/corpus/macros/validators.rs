#[validate(state)]
impl Choice {
    fn available(&self, state: &World) -> Result<(), Invalid> { state.has(&self.item) }
    async fn in_stock(&self, attempt: &AttemptInfo, state: &World) -> Result<(), Invalid> { Ok(()) }
}
