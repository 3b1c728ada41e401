#[validate(crate = ::renamed)]
impl<T: Clone> Page<T> where T: Send {
    fn bound(&self, state: &impl Bounds) -> Result<(), Invalid> { Ok(()) }
    fn other<S: Bounds + Other>(&self, state: &S) -> Result<(), Invalid> { Ok(()) }
}
