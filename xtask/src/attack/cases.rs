//! The attempts, each with the result that it must have. In-process tests make many more, as far as they need neither
//! the memory of a process nor a terminal.

use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::Outcome;
use super::place::{Place, TIMEOUT};
use crate::load::client;
use crate::load::gateway::Gateway;

type Attempt = fn(&Place) -> Result<Outcome>;

/// A text that no command may print.
const CANARY: &str = "canary-7f3a";

pub(super) const CASES: &[(&str, Attempt)] = &[
    ("secrets: spellings of a key", spelled_secrets),
    ("trust: more than 40 outside items", many_items),
    ("trust: ctx.toml of another user above", foreign_owner),
    ("keys: file that came with the folder", foreign_keys),
    ("gateway: 60 MB of small numbers", large_body),
    ("gateway: 15 MiB of small numbers, 4 at once", small_values),
    ("gateway: 15 MiB of text, 4 at once", long_text),
    ("gateway: 25,000 messages, 4 at once", many_messages),
    ("gateway: 100 open streams", open_streams),
    ("terminal: names in errors and results", terminal_names),
    ("terminal: hidden text in an argument", hidden_text),
    ("terminal: all items in the trust question", dispensable_items),
    ("terminal: folder name in the trust question", terminal_question),
];

/// Writes secrets in several notations of TOML.
fn spelled_secrets(place: &Place) -> Result<Outcome> {
    let mut printed = String::new();
    let url = format!("http:u:{CANARY}@h/v1?key={CANARY}");
    for text in [
        format!(
            "[endpoint]\nbase-url = \"{url}\"\n[[fallbacks]]\nbase-url = \"https://u:{CANARY}@h/?token={CANARY}\"\n\
             headers = {{ x = \"{CANARY}\" }}\nkey = \"{CANARY}\"\n"
        ),
        format!("\u{feff}[endpoint]\nkey = \"{CANARY}\"\nheaders = {{ x = '{CANARY}' }}\n"),
        format!("endpoint = {{ base-url = '{url}', key = \"\"\"\n{CANARY}\"\"\" }}\n"),
        format!("profile = \"\"\"\n[endpoint]\n\"\"\"\n[endpoint]\n\"key\" = '{CANARY}'\n"),
        format!("endpoint.base-url = \"https://u:a '`<{CANARY}> b@h/\"\nendpoint.\"key\" = '{CANARY}'\n"),
        format!("[[fallbacks]]\nbase-url = \"https:\\u002f/u:{CANARY}@h/\"\nkey = \"{CANARY}\"\n"),
    ] {
        // The second file cannot be read, and its error quotes lines.
        for text in [text.clone(), format!("{text}x = \"{CANARY}\n")] {
            place.write("ctx.toml", text)?;
            for arguments in [
                &["check", "."][..],
                &["check", ".", "--json"],
                &["serve", "--port", "0"],
                &["chat", "agent.yaml", "--once", "x"],
                &["trust", "."],
            ] {
                printed += &place.ctx(arguments)?.1;
            }
        }
    }
    let leaks: Vec<&str> = printed.lines().filter(|line| line.contains(CANARY)).collect();
    let is_held = leaks.is_empty() && printed.len() > 1_000;
    Ok(Outcome::new(format!("secrets in 60 outputs: {leaks:?}"), is_held))
}

fn many_items(place: &Place) -> Result<Outcome> {
    let one = |n| format!("[[fallbacks]]\nbase-url = \"https://h{n}.example\"\n");
    place.write("ctx.toml", (0..60).map(one).collect::<String>())?;
    let (code, _) = place.ctx(&["trust", "."])?;
    Ok(Outcome::new(format!("exit code {code}"), code == 2))
}

/// Asks about a file whose items a run can do without, because the user has an endpoint.
fn dispensable_items(place: &Place) -> Result<Outcome> {
    let home = place.folder.join("home");
    fs::create_dir(&home)?;
    fs::write(home.join("ctx.toml"), "[endpoint]\nbase-url = \"http://127.0.0.1:9\"\nmodel = \"m\"\n")?;
    let items = ["http://evil.example", "/evil-assets", "http://evil-ears.example", "EVIL_VARIABLE"];
    let [url, assets, ears, variable] = items;
    place.write(
        "ctx.toml",
        format!(
            "agent = \"agent.yaml\"\nassets = \"{assets}\"\nstore = \"/evil.db\"\n[endpoint]\nbase-url = \"{url}\"\n\
             key-env = \"{variable}\"\n[transcription]\nbase-url = \"{ears}\"\n"
        ),
    )?;
    let asked = place.dialog("timeout --foreground 3 $CTX serve . --port 0", "y\n")?;
    let is_shown = items.iter().all(|item| asked.contains(item));
    let is_trusted = home.join("trusted.json").exists();
    Ok(Outcome::new(format!("all items shown: {is_shown}, trusted: {is_trusted}"), is_shown && is_trusted))
}

/// Gives a file in a parent folder to another user.
fn foreign_owner(place: &Place) -> Result<Outcome> {
    fs::create_dir(place.work().join("below"))?;
    place.write("ctx.toml", format!("model = \"{CANARY}\"\n"))?;
    let chown = Command::new("chown").arg("12345").arg(place.work().join("ctx.toml")).output();
    if !chown.is_ok_and(|output| output.status.success()) {
        return Ok(Outcome::Skipped("needs root"));
    }
    let mut command = place.command(&["assemble", "../agent.yaml", "--input", "x", "--json"]);
    let output = command.current_dir(place.work().join("below")).output()?;
    let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let is_held = printed.contains("another user") && !printed.contains(CANARY);
    Ok(Outcome::new(if is_held { "not read" } else { &printed }, is_held))
}

/// The key file of the folder needs trust, and does not replace a missing file that is named.
fn foreign_keys(place: &Place) -> Result<Outcome> {
    place.write("serve-keys.json", r#"{"keys":[]}"#)?;
    let is_refused = |arguments: &[&str], reason: &str| {
        place.gateway(arguments).is_err_and(|error| format!("{error:#}").contains(reason))
    };
    let is_held = is_refused(&[], "ctx trust") && is_refused(&["--keys", "missing.json"], "missing.json");
    Ok(Outcome::new("did not start", is_held))
}

/// A body with a list of zeros, of about this size.
fn zeros(bytes: usize) -> Vec<u8> {
    let list = "0,".repeat(bytes / 2);
    format!(r#"{{"model":"agent","messages":[{{"role":"user","content":"x"}}],"a":[{list}0]}}"#).into_bytes()
}

/// Sends a chat completion without waiting for the response.
fn open(gateway: &Gateway, body: &[u8]) -> Result<TcpStream> {
    Ok(client::send(gateway.address, client::CHAT, &[("content-type", "application/json")], body)?)
}

/// Sends a chat completion and returns the status; 0 if there is none.
fn chat(gateway: &Gateway, body: &[u8]) -> Result<u16> {
    let mut response = Vec::new();
    drop(open(gateway, body)?.read_to_end(&mut response));
    let response = String::from_utf8_lossy(&response);
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(status.unwrap_or(0))
}

/// The largest memory that it had, in MiB; 0 where the system does not tell.
fn peak(gateway: &Gateway) -> u64 {
    gateway.memory("VmHWM").unwrap_or(0) >> 10
}

/// Sends a body several times at once; returns the statuses, the peak memory in MiB before and after.
fn at_once(place: &Place, body: &[u8], count: usize) -> Result<(Vec<u16>, u64, u64)> {
    let server = place.gateway(&[])?;
    chat(&server, br#"{"model":"agent","messages":[{"role":"user","content":"x"}]}"#)?;
    let before = peak(&server);
    let statuses = thread::scope(|scope| {
        let requests: Vec<_> = (0..count).map(|_| scope.spawn(|| chat(&server, body))).collect();
        let statuses =
            requests.into_iter().map(|request| request.join().map_err(|_| anyhow!("a client panicked"))?);
        statuses.collect::<Result<Vec<u16>>>()
    })?;
    Ok((statuses, before, peak(&server)))
}

/// Whether large requests are answered, or refused while others use the memory of the gateway.
fn is_answered(statuses: &[u16]) -> bool {
    statuses.contains(&200) && statuses.iter().all(|status| [200, 503].contains(status))
}

fn large_body(place: &Place) -> Result<Outcome> {
    let (statuses, before, peak) = at_once(place, &zeros(60_000_000), 1)?;
    // A closed connection may hide the response.
    let is_refused = statuses.iter().all(|status| [0, 413].contains(status));
    Ok(Outcome::new(format!("{statuses:?}, memory {before} → {peak} MiB"), is_refused && peak < before + 64))
}

/// Sends a body once, then 4 times at once; judges the statuses, and the MiB that the first one took.
fn four_at_once(place: &Place, body: &[u8], judge: fn(&[u16], &[u16], u64) -> bool) -> Result<Outcome> {
    let (one, first, peak) = at_once(place, body, 1)?;
    let (four, before, most) = at_once(place, body, 4)?;
    Ok(Outcome::new(
        format!("{one:?} {four:?}, memory {first} → {peak} MiB, 4: {before} → {most} MiB"),
        judge(&one, &four, peak - first) && most < 1_000,
    ))
}

fn small_values(place: &Place) -> Result<Outcome> {
    let judge = |_: &[u16], four: &[u16], grown| four.iter().all(|status| *status == 413) && grown <= 8 * 16;
    four_at_once(place, &zeros(15 << 20), judge)
}

fn long_text(place: &Place) -> Result<Outcome> {
    let text = "Some words of a long message. ".repeat((15 << 20) / 30);
    let body = format!(r#"{{"model":"agent","messages":[{{"role":"user","content":"{text}"}}]}}"#);
    four_at_once(place, body.as_bytes(), |one, four, _| one == [200] && is_answered(four))
}

fn many_messages(place: &Place) -> Result<Outcome> {
    let short = "{\"role\":\"user\",\"content\":\"a\"},".repeat(25_000);
    let text = "Some words of a long message. ".repeat((13 << 20) / 30);
    let body = format!(r#"{{"model":"agent","messages":[{short}{{"role":"user","content":"{text}"}}]}}"#);
    four_at_once(place, body.as_bytes(), |one, four, _| one == [200] && is_answered(four))
}

/// Opens streams of many short messages that the provider does not end.
fn open_streams(place: &Place) -> Result<Outcome> {
    let server = place.gateway(&[])?;
    let messages = vec![r#"{"role":"user","content":"a"}"#; 5_500].join(",");
    let body = format!(r#"{{"model":"agent","stream":true,"messages":[{messages}]}}"#);
    let streams: Vec<TcpStream> = (0..100).map(|_| open(&server, body.as_bytes())).collect::<Result<_>>()?;
    let (mut count, mut end) = (0, Instant::now() + TIMEOUT);
    for mut stream in streams {
        let rest = end.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(rest.max(Duration::from_millis(50))))?;
        let mut start = [0; 12];
        // The others wait for memory, and get 503 after some time.
        if stream.read_exact(&mut start).is_ok() && start.ends_with(b"200") {
            count += 1;
            end = end.min(Instant::now() + Duration::from_secs(10));
        }
    }
    let peak = peak(&server);
    Ok(Outcome::new(format!("{count} began, memory {peak} MiB"), count > 0 && peak < 1_000))
}

/// Whether a terminal would obey something in a text other than colors.
fn is_obeyed(text: &str) -> bool {
    let mut parts = text.split('\u{1b}');
    let is_bad = |part: &str| part.chars().any(|c| c.is_control() && !"\n\r\t".contains(c));
    let is_color = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';' && c != '[');
        part.starts_with('[') && end.is_some_and(|end| part[end..].starts_with(['m', 'K']))
    };
    is_bad(parts.next().unwrap_or_default()) || parts.any(|part| !is_color(part) || is_bad(part))
}

/// Runs shell lines in a terminal, and judges what reached it.
fn in_terminal(place: &Place, lines: &[&str], is_harmless: fn(&str) -> bool) -> Result<Outcome> {
    let seen = lines.iter().map(|line| place.dialog(line, "")).collect::<Result<String>>()?;
    let is_held = seen.len() > 100 && is_harmless(&seen);
    Ok(Outcome::new(if is_held { "shown as text".to_owned() } else { format!("{seen:?}") }, is_held))
}

fn terminal_names(place: &Place) -> Result<Outcome> {
    place.write("--\u{1b}]52;c;eA==\u{7}\u{1b}[2J.json", "{")?;
    let lines = [
        "$CTX check *",
        "$CTX check ./*",
        "CTX_LANG=zh $CTX check *",
        "$CTX export agent.yaml --to aio --out ./$(printf 'a\\033[2Jb').json",
        "$CTX migrate ./*.json",
    ];
    in_terminal(place, &lines, |seen| !is_obeyed(seen))
}

fn hidden_text(place: &Place) -> Result<Outcome> {
    let lines = [
        r#"$CTX "$(printf 'a\033[8mb')""#,
        r#"$CTX assemble --format "$(printf 'a\033[8mb')""#,
        r#"$CTX assemble "--$(printf 'a\033[8mb')""#,
        r#"CTX_LANG=zh $CTX serve --port "$(printf 'a\033[8mb')""#,
        r#"$CTX check "$(printf 'a\033[8mb')""#,
    ];
    in_terminal(place, &lines, |seen| !seen.contains("\u{1b}[8m"))
}

fn terminal_question(place: &Place) -> Result<Outcome> {
    let folder = place.work().join("a\u{1b}[1A\u{1b}[2Kb");
    fs::create_dir(&folder)?;
    fs::copy(place.work().join("agent.yaml"), folder.join("agent.yaml"))?;
    fs::write(folder.join("ctx.toml"), "[endpoint]\nbase-url = \"http://evil.example\"\n")?;
    let lines = ["echo n | $CTX serve *b --port 0; timeout --foreground 3 $CTX serve *b --port 0"];
    in_terminal(place, &lines, |seen| seen.contains("evil.example") && !is_obeyed(seen))
}
