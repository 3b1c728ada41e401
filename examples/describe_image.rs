//! A picture as a part of the prompt: a photo from disk, or a small drawing made here.
//!
//! ```text
//! cargo run --example describe_image                  # no key needed: starts a server on loopback itself
//! OPENAI_BASE_URL=… OPENAI_API_KEY=… OPENAI_MODEL=… cargo run --example describe_image -- docs/page.png
//! ```
//!
//! The model has to see images. One that does not is refused by its provider, most often as a `bad_request`.

use std::error::Error;

use llmnode::media::Detail;
use llmnode::stub_server::StubReply;
use llmnode::{Image, StubServer, prelude::*};

mod common;

#[llm_output]
struct Description {
    /// What is to be seen, in one sentence.
    sentence: String,
    /// The colours that stand out.
    colours: Vec<String>,
}

#[llm_node(prompt = "What is this?\n{picture:attach}\nAnswer in {language}.", output = Description, retries = 1)]
struct Describe {
    picture: Image,
    language: &'static str,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let picture = match common::Arguments::read("[FILE]").value(0) {
        Some(path) => Image::open(path)?,
        None => Image::bytes("image/png", red_square(8))?.detail(Detail::Low),
    };
    let answer = r#"{"sentence": "A plain red square.", "colours": ["red"]}"#;
    let (model, server) =
        common::model(StubServer::builder().script([StubReply::text(answer)])).await?;
    let run = Run::new(model);
    let Description { sentence, colours } = run
        .call(&Describe {
            picture,
            language: "English",
        })
        .await?;
    println!("{sentence} ({})", colours.join(", "));
    if let Some(server) = server {
        for part in server.requests()[0]
            .json()
            .and_then(|body| body["messages"][0]["content"].as_array())
            .into_iter()
            .flatten()
        {
            println!("part: {part}");
        }
    }
    Ok(())
}

/// A red square as a PNG: of its chunks the least, its pixels not compressed.
fn red_square(side: u8) -> Vec<u8> {
    const RED: [u8; 3] = [0xff, 0, 0];
    let row = [&[0][..], &RED.repeat(side.into())].concat();
    let pixels = row.repeat(side.into());
    let length = pixels.len() as u16;
    let stored = [
        &[0x78, 0x01, 1][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        &pixels,
    ];
    let compressed = [&stored.concat()[..], &adler32(&pixels).to_be_bytes()].concat();
    let header = [0, 0, 0, side, 0, 0, 0, side, 8, 2, 0, 0, 0];
    [
        b"\x89PNG\r\n\x1a\n",
        &chunk(b"IHDR", &header)[..],
        &chunk(b"IDAT", &compressed),
        &chunk(b"IEND", &[]),
    ]
    .concat()
}

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [name, data].concat();
    [
        &(data.len() as u32).to_be_bytes()[..],
        &named,
        &crc32(&named).to_be_bytes(),
    ]
    .concat()
}

fn crc32(data: &[u8]) -> u32 {
    let bit = |crc: u32| {
        if crc & 1 == 1 {
            (crc >> 1) ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    !data.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc))
    })
}

fn adler32(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}
