//! A stored summary of AIO Hub.

use ctx_compress::mask::{MaskDetails, switch_summary};
use ctx_tokens::Counter;
use ctx_types::session::Session;
use ctx_types::{Persist as _, Reader};
use serde_json::{Value, json};

use crate::{bytes, ids, visible};

/// Five messages, the summary of them, and an answer that is still to come.
fn file() -> Value {
    let node = |id: &str, role: &str, parent: &str, child: &str, content: &str| json!({ "id": id, "parentId": parent, "childrenIds": [child], "role": role, "content": content });
    let mut nodes = json!({ "root": { "id": "root", "parentId": null, "childrenIds": ["msg1"], "role": "system", "content": "" } });
    for number in 1..=5 {
        let role = if number % 2 == 1 { "user" } else { "assistant" };
        let parent = if number == 1 { "root".to_owned() } else { format!("msg{}", number - 1) };
        let child = if number == 5 { "compression_abc123".to_owned() } else { format!("msg{}", number + 1) };
        nodes[format!("msg{number}")] =
            node(&format!("msg{number}"), role, &parent, &child, "量子纠缠是什么？");
    }
    nodes["compression_abc123"] = json!({
        "id": "compression_abc123",
        "parentId": "msg5",
        "childrenIds": ["msg6"],
        "role": "system",
        "content": "【前文摘要】用户询问了量子纠缠的概念……",
        "isEnabled": true,
        "metadata": {
            "isCompressionNode": true,
            "compressedNodeIds": ["msg1", "msg2", "msg3", "msg4", "msg5"],
            "compressionTimestamp": 1_733_712_000_000_i64,
            "originalTokenCount": 12500,
            "originalMessageCount": 5,
            "compressionConfig": {
                "triggerMode": "token",
                "thresholds": { "tokenThreshold": 80000 },
                "summaryRole": "system"
            }
        }
    });
    nodes["msg6"] = json!({ "id": "msg6", "parentId": "compression_abc123", "childrenIds": [], "role": "user", "content": "继续" });
    json!({ "id": "s", "nodes": nodes, "rootNodeId": "root", "activeLeafId": "msg6" })
}

#[test]
fn it_hides_its_five_messages_and_shows_them_when_switched_off() {
    let mut reader = Reader::new();
    let mut session = Session::read(file(), &mut reader);
    assert_eq!(reader.finish(), []);
    assert_eq!(ids(&visible(&session)), "compression_abc123 msg6");
    let undo = session.apply(&switch_summary(&session, "compression_abc123", false).unwrap()).unwrap();
    assert_eq!(ids(&visible(&session)), "msg1 msg2 msg3 msg4 msg5 msg6");
    session.apply(&undo).unwrap();
    assert_eq!(bytes(&session), file().to_string());
}

#[test]
fn its_details_are_those_that_it_notes() {
    let session = Session::read(file(), &mut Reader::new());
    let details = MaskDetails::of(&session, "compression_abc123", &Counter::estimate()).unwrap();
    assert_eq!((details.messages, details.original_tokens), (5, 12500));
    assert_eq!(details.at_millis, Some(1_733_712_000_000));
    assert_eq!(details.config.unwrap()["thresholds"]["tokenThreshold"], 80000);
}
