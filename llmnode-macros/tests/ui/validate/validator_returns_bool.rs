// Cause: The validator `dates_are_in_order` returns a `bool`, which says nothing that the model could read.
// Mend: return `Result<(), Invalid>`, with `Err(Invalid::at("until", "..."))` if the dates are not in order.
// Token: bool
// Token: -> bool
// Token: fn dates_are_in_order(&self) -> bool
// Token: dates_are_in_order
use llmnode::prelude::*;

#[llm_output]
struct Booking {
    guest: String,
    /// The first night, as a day of the year.
    #[schemars(range(min = 1, max = 366))]
    from: u16,
    /// The day of departure.
    #[schemars(range(min = 1, max = 366))]
    until: u16,
}

#[validate]
impl Booking {
    fn dates_are_in_order(&self) -> bool {
        self.from < self.until
    }

    fn guest_is_named(&self) -> Result<(), Invalid> {
        if self.guest.trim().is_empty() { Err(Invalid::at("guest", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Which booking does this letter ask for?\n{letter:fence}", output = Booking, retries = 2)]
struct ReadBooking {
    letter: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"guest": "Ada", "from": 40, "until": 43}"#));
    let booking = run.call(&ReadBooking { letter: "From 9 to 12 February, please. Ada".into() }).await?;
    assert_eq!((booking.from, booking.until), (40, 43));
    Ok(())
}
