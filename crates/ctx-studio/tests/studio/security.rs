//! Who may ask: over the table of routes, so that none can be forgotten.

use ctx_studio::{RouteInfo, routes};
use serde_json::{Value, json};

use crate::client::{Answer, Running, folder, project, start, start_with};

/// Asks a route with these headers in the place of those that the page sends; an empty value sends none.
fn asked(server: &Running, route: &RouteInfo, other: &[(&str, &str)]) -> Answer {
    let path = route.path.replace("{f}", "00").replace("{p}", "00");
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let mut headers = vec![("host", host.as_str()), ("authorization", token.as_str())];
    headers.extend(route.content_type.map(|own| ("content-type", own)));
    for (name, value) in other {
        headers.retain(|(own, _)| own != name);
        headers.extend(Some((*name, *value)).filter(|(_, value)| !value.is_empty()));
    }
    let body: &[u8] = if route.content_type.is_some() { b"{}" } else { b"" };
    server.send(route.method, &path, &headers, body)
}

fn is_socket(route: &RouteInfo) -> bool {
    route.path == "/api/events"
}

#[test]
fn every_route_asks_for_the_host_first() {
    let place = folder();
    let server = start(&place);
    let evil = format!("evil.example:{}", server.port);
    for route in routes() {
        for host in ["evil.example", evil.as_str(), "127.0.0.1", "0.0.0.0", ""] {
            let answer = asked(&server, &route, &[("host", host), ("authorization", "")]);
            assert!(matches!(answer.status, 400 | 403), "{route:?} {host}");
            assert!(!String::from_utf8_lossy(&answer.body).contains("token"), "{route:?}");
        }
        let localhost = format!("localhost:{}", server.port);
        let answer = asked(&server, &route, &[("host", &localhost)]);
        assert!(is_socket(&route) || answer.status != 403, "{route:?}");
    }
}

#[test]
fn every_route_refuses_other_origins() {
    let place = folder();
    let server = start(&place);
    let own = format!("http://{}", server.host());
    for route in routes() {
        for origin in ["null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1", "file://"] {
            assert_eq!(
                asked(&server, &route, &[("origin", origin)]).refused(403),
                "CTX1004",
                "{route:?} {origin}"
            );
        }
        let answer = asked(&server, &route, &[("origin", &own)]);
        assert_ne!(answer.status, 403, "{route:?}");
        let is_api = route.path.starts_with("/api");
        for site in ["cross-site", "same-site", "none"] {
            let answer = asked(&server, &route, &[("sec-fetch-site", site)]);
            assert_eq!(answer.status == 403, is_api, "{route:?} {site}");
        }
    }
}

#[test]
fn every_route_of_the_api_wants_the_token() {
    let place = folder();
    let server = start(&place);
    let other = format!("Bearer {}x", server.token);
    let basic = format!("Basic {}", server.token);
    for route in routes().filter(|route| route.needs_token && !is_socket(route)) {
        for token in ["", "Bearer ", "Bearer x", other.as_str(), basic.as_str(), server.token.as_str()] {
            assert_eq!(
                asked(&server, &route, &[("authorization", token)]).refused(401),
                "CTX1001",
                "{route:?}"
            );
        }
        assert_ne!(asked(&server, &route, &[]).status, 401, "{route:?}");
    }
    let open: Vec<&str> = routes().filter(|route| !route.needs_token).map(|route| route.path).collect();
    let expected =
        ["/", "/studio.js", "/editor.js", "/studio.css", "/icons.svg", "/LICENSES.txt", "/api/login"];
    assert_eq!(open, expected);
}

#[test]
fn every_body_has_its_type_and_its_limit() {
    let place = folder();
    let server = start(&place);
    for route in routes() {
        let Some(own) = route.content_type else { continue };
        for kind in ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            assert_eq!(
                asked(&server, &route, &[("content-type", kind)]).refused(415),
                "CTX1011",
                "{route:?}"
            );
        }
        let charset = format!("{own}; charset=utf-8");
        assert_ne!(asked(&server, &route, &[("content-type", &charset)]).status, 415, "{route:?}");
    }
    let long = vec![b' '; (2 << 20) + 1];
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers = [("host", host.as_str()), ("authorization", &token), ("content-type", "application/json")];
    assert_eq!(server.send("POST", "/api/preview", &headers, &long).refused(413), "CTX1010");
    let headers = [("host", host.as_str()), ("content-type", "application/json")];
    assert_eq!(server.send("POST", "/api/login", &headers, &long[..2_000]).refused(413), "CTX1010");
    let header = "x".repeat(20 << 10);
    let headers = [("host", host.as_str()), ("x-long", &header)];
    assert_eq!(server.send("GET", "/", &headers, b"").refused(431), "CTX1010");
}

#[test]
fn other_methods_and_paths_are_refused_and_protected() {
    let place = folder();
    let server = start(&place);
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers = [("host", host.as_str()), ("authorization", token.as_str())];
    for route in routes() {
        let path = route.path.replace("{f}", "00").replace("{p}", "00");
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            assert_eq!(server.send(method, &path, &headers, b"").refused(405), "CTX1000", "{method} {path}");
        }
    }
    for path in
        ["/favicon.ico", "/api", "/api/nothing", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "/index.html"]
    {
        let answer = server.send("GET", path, &headers, b"");
        assert_eq!(answer.status, 404, "{path}");
        assert_protected(&answer);
    }
    // Nobody is told of resources by a request of another page.
    let answer = server.send("OPTIONS", "/api/project", &[("host", "evil.example")], b"");
    assert_eq!(answer.status, 403);
}

#[test]
fn every_answer_is_protected_and_only_the_page_may_run_scripts() {
    let place = folder();
    let server = start(&place);
    for route in routes().filter(|route| !is_socket(route)) {
        let answer = asked(&server, &route, &[]);
        assert_protected(&answer);
        let policy = answer.header("content-security-policy").unwrap();
        assert_eq!(policy.contains("script-src 'self'"), route.path == "/", "{route:?}");
    }
    assert_protected(&asked(&server, &routes().next().unwrap(), &[("host", "evil.example")]));
    let nonce = |answer: &Answer| {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("require-trusted-types-for 'script'; trusted-types 'none'"), "{policy}");
        policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned()
    };
    let (first, second) = (server.get("/"), server.get("/"));
    assert_ne!(nonce(&first), nonce(&second));
    let text = String::from_utf8_lossy(&first.body).into_owned();
    assert!(text.contains(&nonce(&first)) && !text.contains("{{nonce}}"));
}

#[track_caller]
fn assert_protected(answer: &Answer) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{}", answer.head);
    }
    assert!(
        answer.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    assert!(answer.header("access-control-allow-origin").is_none() && answer.header("set-cookie").is_none());
}

#[test]
fn a_link_counts_once() {
    let place = folder();
    let server = start(&place);
    for code in [server.code.as_str(), "", "x", server.token.as_str()] {
        let answer = server.ask("POST", "/api/login", &json!({ "code": code }));
        assert_eq!(answer.refused(401), "CTX1002");
    }
    for body in [json!({}), json!([]), json!({ "code": 1 })] {
        assert_eq!(server.ask("POST", "/api/login", &body).refused(400), "CTX1000");
    }
}

/// Opens more slow logins than the limit of connections.
#[test]
fn slow_logins_hold_up_no_other_request() {
    use std::io::Write as _;
    let place = folder();
    let server = start(&place);
    let head = format!(
        "POST /api/login HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{",
        server.host()
    );
    let slow: Vec<std::net::TcpStream> = (0..300)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    // The client itself would wait for longer than the logins may take; the answer must be there before.
    let code = json!({ "code": "x" });
    assert_eq!(server.ask("POST", "/api/login", &code).refused(401), "CTX1002");
    server.get("/api/project").good();
    // The newest logins are still open. The oldest were closed to admit them.
    for stream in slow.iter().rev().take(20) {
        stream.set_nonblocking(true).unwrap();
        let waiting = stream.peek(&mut [0]).unwrap_err();
        assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn a_folder_of_the_store_that_is_not_there_is_told_and_not_made() {
    let place = folder();
    let studio = ctx_studio::Studio::new(ctx_engine::Engine::new()).unwrap().project(project(&place));
    let told = studio.store(place.path().join("mistyped/a.db")).check().unwrap_err().to_string();
    assert!(told.contains("mistyped") && told.contains("does not exist"), "{told}");
    assert!(!place.path().join("mistyped").exists());
}

#[test]
fn ids_are_no_paths() {
    let place = folder();
    std::fs::write(place.path().join("secret.json"), "{\"canary\": 1}").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path().join("secret.json"), project(&place).join("link.json")).unwrap();
    let server = start(&place);
    let listed = server.get("/api/project").good().to_string();
    assert!(!listed.contains("secret.json") && !listed.contains("link.json"));
    let odd = [
        "..",
        "../secret.json",
        "..%2fsecret.json",
        "%2e%2e%2fsecret.json",
        "%2e%2e/secret.json",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "agent.yaml",
        "./agent.yaml",
        "link.json",
        "C:%5Csecret.json",
        "..%5csecret.json",
        "..%252fsecret.json",
        "%00",
        "agent.yaml%00.json",
        "project%2fagent.yaml",
        "~",
        "~%2fsecret.json",
        "file:%2f%2f%2fetc%2fpasswd",
        ".",
        "%e2%80%ae",
        "con",
        "agent.yaml::$DATA",
        "*",
        "00000000000000000000",
    ];
    for id in odd {
        let answer = server.get(&format!("/api/files/{id}"));
        assert!(matches!(answer.status, 400 | 404), "{id} {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains("canary"), "{id}");
        let answer = server.save(id, "x", &json!({ "overwrite": true }));
        assert!(matches!(answer.status, 400 | 404 | 405), "{id} {}", answer.status);
        for (verb, body) in [("rename", json!({ "name": "x" })), ("delete", json!({}))] {
            let answer = server.ask("POST", &format!("/api/files/{id}/{verb}"), &body);
            assert!(matches!(answer.status, 400 | 404 | 405), "{id} {verb} {}", answer.status);
        }
    }
}

#[test]
fn a_file_that_became_a_link_is_neither_read_nor_written() {
    let place = folder();
    let secret = place.path().join("secret.yaml");
    std::fs::write(&secret, "canary: 1\n").unwrap();
    let server = start(&place);
    let id = server.id("agent.yaml");
    let hash = server.view(&id)["hash"].as_str().unwrap().to_owned();
    server.edit(&id, &json!([{ "op": "set", "pointer": "/name", "value": "Eve" }])).good();
    std::fs::remove_file(project(&place).join("agent.yaml")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, project(&place).join("agent.yaml")).unwrap();
    let answer = server.save(&id, &hash, &json!({ "overwrite": true }));
    assert!(answer.status >= 400, "{}", answer.status);
    assert!(!String::from_utf8_lossy(&answer.body).contains("canary"));
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "canary: 1\n");
}

#[test]
fn what_the_page_may_not_set_is_refused_and_secrets_are_nowhere() {
    let place = folder();
    let config = "model = \"gpt-4o\"\n[endpoint]\nbase-url = \"https://a.example/v1\"\n";
    std::fs::write(project(&place).join("ctx.toml"), config).unwrap();
    let server = start(&place);
    let id = server.id("ctx.toml");
    let edit = |text: String| {
        let base = server.view(&id)["revision"].clone();
        let body = json!({ "base": base, "id": text, "text": text });
        server.ask("POST", &format!("/api/files/{id}/edits"), &body)
    };
    assert_eq!(edit(config.replace("a.example", "b.example")).refused(403), "CTX1006");
    assert_eq!(edit(format!("store = \"x\"\n{config}")).refused(403), "CTX1006");
    edit(config.replace("gpt-4o", "gpt-5")).good();
    let project = server.get("/api/project").good().to_string();
    assert!(!project.contains("canary"), "{project}");
    let set = |pointer: &str| json!([{ "op": "set", "pointer": pointer, "value": "x" }]);
    for pointer in ["/store", "/endpoint", "/endpoint/base-url", "/tools"] {
        assert_eq!(server.edit(&id, &set(pointer)).refused(403), "CTX1006", "{pointer}");
    }
    let edited = server.edit(&id, &set("/model")).good();
    assert_eq!(edited["text"].as_str().unwrap(), config.replace("gpt-4o", "x"));
}

#[test]
fn a_file_with_a_secret_is_covered_and_read_only() {
    for config in [
        "[endpoint]\nbase-url = \"https://user:canary@a.example/v1\"\n",
        "[endpoint]\nheaders = [\n  \"canary\",\n]\n",
        "[\"end\\u0070oint\"]\nkey = \"canary\"\n",
        "[endpoint]\nkey = canary\n",
        "api-key = \"canary\"\n[secretz]\ntoken = \"canary\"\n[compression]\napi-key = \"canary\"\n",
    ] {
        let place = folder();
        std::fs::write(project(&place).join("ctx.toml"), config).unwrap();
        let server = start(&place);
        let view = server.view(&server.id("ctx.toml"));
        assert_eq!(view["isReadOnly"], true, "{config}");
        assert!(!view.to_string().contains("canary"), "{view}");
        assert!(!server.get("/api/project").good().to_string().contains("canary"), "{config}");
    }
}

#[test]
fn a_run_that_only_shows_changes_nothing() {
    let place = folder();
    let server =
        start_with(&project(&place), &place.path().join("store/a.db"), ctx_studio::Studio::read_only);
    let id = server.id("agent.yaml");
    let view = server.view(&id);
    assert_eq!(view["isReadOnly"], true);
    let edit = json!([{ "op": "set", "pointer": "/name", "value": "Eve" }]);
    assert_eq!(server.edit(&id, &edit).refused(403), "CTX1005");
    assert_eq!(server.save(&id, view["hash"].as_str().unwrap(), &json!({})).refused(403), "CTX1005");
    assert_eq!(server.ask("POST", "/api/start", &json!({})).refused(403), "CTX1005");
    let write = json!({ "batch": "b", "folder": "x" });
    assert_eq!(server.ask("POST", "/api/import/write", &write).refused(403), "CTX1005");
    assert_eq!(std::fs::read_dir(place.path().join("store")).unwrap().count(), 0);
}

#[test]
fn only_this_machine_is_served() {
    let place = folder();
    let studio = ctx_studio::Studio::new(ctx_engine::Engine::new()).unwrap().project(project(&place));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let refused = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        studio.serve(listener).await
    });
    assert!(refused.unwrap_err().to_string().contains("other machines"));
}

#[test]
fn failures_are_told_in_the_language_of_the_request() {
    let place = folder();
    let server = start(&place);
    let answer =
        server.ask_with("GET", "/api/files/00", &Value::Null, &[("accept-language", "zh-CN,zh;q=0.9")]);
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(!message.is_ascii(), "{message}");
}
