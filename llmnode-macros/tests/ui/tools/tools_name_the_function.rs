// Cause: The list of tools names the function `find_room`, but it takes the struct that `#[tool]` makes of it.
// Mend: write `tools = [FindRoom]`.
// Token: find_room
// Token: tools = [find_room]
// Token: [find_room]
use llmnode::{Reply, prelude::*};
use serde_json::json;

struct Hotel {
    rooms: Vec<(u16, u8)>,
}

/// Finds a room with enough beds.
#[tool]
fn find_room(
    /// How many people sleep in it.
    guests: u8,
    hotel: &Hotel,
) -> Result<u16, String> {
    let room = hotel.rooms.iter().find(|(_, beds)| *beds >= guests);
    room.map(|(number, _)| *number).ok_or_else(|| format!("no room has {guests} beds"))
}

#[llm_node(
    system = "You are a hotel's receptionist.",
    prompt = "{request}",
    state = Hotel,
    tools = [find_room],
    turns = 4,
)]
struct Receive {
    request: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let call = Reply::text("").call("find_room", json!({"guests": 2}));
    let run = Run::new(ScriptedModel::new().reply(call).reply("Room 12.")).with_state(Hotel { rooms: vec![(12, 2)] });
    let answer = run.call(&Receive { request: "A room for two, please.".into() }).await?;
    assert_eq!(answer, "Room 12.");
    Ok(())
}
