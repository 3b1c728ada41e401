flow! {
    /// Searches as long as it has to.
    pub Research(World):
    Decide => match { Decision::Search => Search, Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}
