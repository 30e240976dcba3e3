//! An assistant that looks things up and changes them with tools.

use serde_json::{Value, json};

use super::draws::Draws;
use super::story::Story;
use super::values::{Kind, Stated, draw};
use super::words;

pub(super) fn orders(draws: &mut Draws) -> Story {
    tell(draws, false)
}

pub(super) fn chinese(draws: &mut Draws) -> Story {
    tell(draws, true)
}

fn tell(draws: &mut Draws, is_chinese: bool) -> Story {
    let (system, first) = if is_chinese {
        (
            "你是仓库客服。修改任何订单之前必须先征得用户同意。",
            "请帮我逐个核对仓库里的订单，确认收件人和金额，需要时修改地址，最后给我一份清单。",
        )
    } else {
        (
            "You are the clerk of a warehouse. You must ask before you change an order.",
            "Go through the orders of the warehouse with me: check recipient and amount, change addresses where needed, and list everything at the end.",
        )
    };
    let mut story = Story::new(Some(system), is_chinese);
    story.say("user", first);
    for _ in 0..24 {
        lookup(&mut story, draws);
        if draws.chance(60) {
            change(&mut story, draws);
        }
    }
    story
}

/// Looks an order up; most of the answer matters to nobody.
fn lookup(story: &mut Story, draws: &mut Draws) {
    let is_chinese = story.is_chinese;
    let order = draw(Kind::Identifier, is_chinese, draws).remove(0);
    let name = draw(Kind::Name, is_chinese, draws).remove(0);
    let date =
        format!("{}-{:02}-{:02}", draws.between(2024, 2027), draws.between(1, 12), draws.between(1, 28));
    let record = json!({
        "order_id": order, "recipient": name, "ship_date": date, "status": "open", "warehouse": "W3",
        "priority": null, "gift": false, "lines": lines(draws), "currency": "EUR", "channel": "web",
    });
    story.call("get_order", &json!({ "order_id": order }), &record.to_string());
    let sentence = if is_chinese {
        format!("订单 {order} 的收件人是{{v}}。")
    } else {
        format!("Order {order} goes to {{v}}.")
    };
    let shipped = if is_chinese {
        format!("订单 {order} 的发货日期是{{v}}。")
    } else {
        format!("Order {order} ships on {{v}}.")
    };
    story.label(vec![stated(Kind::Name, name, &order, sentence), stated(Kind::Date, date, &order, shipped)]);
    let text = if is_chinese {
        "已经查到，看起来没有问题。"
    } else {
        "Found it, everything looks in order."
    };
    story.say("assistant", text);
    story.say("user", if is_chinese { "好的，继续下一个。" } else { "Good, go on with the next one." });
}

fn lines(draws: &mut Draws) -> Vec<Value> {
    let count = draws.between(2, 5);
    (0..count)
        .map(|_| json!({ "item": draws.pick(words::THINGS), "count": draws.between(1, 9), "backordered": draws.chance(10) }))
        .collect()
}

/// Changes an address, which somebody will ask about.
fn change(story: &mut Story, draws: &mut Draws) {
    let order = draw(Kind::Identifier, story.is_chinese, draws).remove(0);
    let street = format!("{} {} Road", draws.between(11, 998), draws.pick(words::LAST_NAMES));
    let code = format!("Z{}", draws.between(10_000, 99_999));
    let arguments = json!({ "order_id": order, "street": street, "postal_code": code });
    story.call("update_address", &arguments, r#"{"ok":true}"#);
    let sentence = if story.is_chinese {
        format!("订单 {order} 的新邮编是 {{v}}。")
    } else {
        format!("Order {order} has the new postal code {{v}}.")
    };
    // The call stands one message before its result.
    let first = story.label(vec![stated(Kind::Identifier, code, &order, sentence)]);
    let home = format!("m{}", story.len() - 1);
    story.facts[first].message = home;
    story.say("assistant", if story.is_chinese { "地址已更新。" } else { "The address is updated." });
    story.say("user", if story.is_chinese { "谢谢。" } else { "Thank you." });
}

fn stated(kind: Kind, form: String, order: &str, sentence: String) -> Stated {
    Stated { kind, forms: vec![form], cues: vec![order.to_owned()], sentence }
}
