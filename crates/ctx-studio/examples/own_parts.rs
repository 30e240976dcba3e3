//! A page with parts of one's own: an anchor and a processor, which stand among the built-in ones.
//!
//! `cargo run -p ctx-studio --example own_parts` asks the page what it has; with a folder, as in
//! `cargo run -p ctx-studio --example own_parts -- demo 4321`, it serves that folder (and this port) until it is stopped.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;

use ctx_engine::prelude::*;
use ctx_studio::Studio;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Puts a mark at messages. Its settings have all kinds of fields, of which the page makes a form.
#[derive(Debug)]
struct Signed;

#[async_trait]
impl ContextProcessor for Signed {
    fn descriptor(&self) -> Descriptor {
        let fields = vec![
            ConfigField::text("mark", "Mark", "~"),
            ConfigField::integer("times", "How often", 1).between(1.0, 5.0),
            ConfigField::boolean("loud", "In capitals", false),
            ConfigField::select("side", "Side", &[("end", "at the end"), ("front", "in front")]),
            ConfigField::list("roles", "Roles, where not the user's"),
        ];
        Descriptor::new("signed", "Sign messages", "Puts a mark at messages, those of the user by default.")
            .with(|own| own.config_fields = fields)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let mark = cx.config.text("mark").repeat(cx.config.count("times"));
        let (is_loud, is_in_front) = (cx.config.is_on("loud"), cx.config.text("side") == "front");
        let roles = cx.config.get("roles").and_then(Value::as_array).cloned().unwrap_or_default();
        let is_meant = |role: Role| {
            if roles.is_empty() {
                role == Role::User
            } else {
                roles.iter().any(|wanted| *wanted == role.as_str())
            }
        };
        for message in cx.draft.messages_mut() {
            if !is_meant(message.role) {
                continue;
            }
            let text = if is_loud { message.text().to_uppercase() } else { message.text().into_owned() };
            let text = if is_in_front { format!("{mark}{text}") } else { format!("{text}{mark}") };
            message.content = Content::Text(text.into());
        }
        Ok(())
    }
}

fn engine() -> Result<Engine, Box<dyn Error>> {
    let mut engine = Engine::new();
    engine.anchors.register(AnchorDefinition {
        id: "weather".into(),
        name: "Weather".into(),
        description: "what the sky looks like".into(),
        is_system: false,
        has_template: true,
        default_template: Some("It is sunny.".into()),
    })?;
    engine.register(Arc::new(Signed))?;
    Ok(engine)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1);
    let port: u16 = std::env::args().nth(2).map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let port = listener.local_addr()?.port();
    let studio = Studio::new(engine()?)?.project(folder.as_deref().unwrap_or("."));
    let link = studio.links().new_link(port)?;
    if folder.is_some() {
        println!("{link}");
        studio.serve(listener).await?;
        return Ok(());
    }
    let served = tokio::spawn(studio.read_only().serve(listener));
    let (_, code) = link.split_once("#code=").unwrap_or_default();
    let token = ask(port, "POST", "/api/login", "", &json!({ "code": code })).await?;
    let token = token["token"].as_str().unwrap_or_default();
    let registry = ask(port, "GET", "/api/registry", token, &Value::Null).await?;
    for (list, id) in [("anchors", "weather"), ("processors", "signed")] {
        let found = registry[list].as_array().into_iter().flatten().find(|own| own["id"] == id);
        println!("{list}: {}", found.ok_or("it is not there")?["name"]);
    }
    served.abort();
    Ok(())
}

/// Asks the page, as a browser would.
async fn ask(
    port: u16,
    method: &str,
    path: &str,
    token: &str,
    body: &Value,
) -> Result<Value, Box<dyn Error>> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all((head + &body).as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}
