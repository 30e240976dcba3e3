//! Cards in pictures.

use serde_json::{Value, json};

use crate::container::png;

/// Puts a card into a PNG, in both chunks that applications read: `chara`, and `ccv3` with the label of version 3.
///
/// A card without `data`, as versions before 2 have it, stands in `chara` alone: with that label nothing of it would be
/// found. Without a picture it is a single grey point. None if the picture is no whole PNG.
///
/// ```
/// use ctx_preset_import::{Importer, SourceFile, export_card_picture};
///
/// let card = serde_json::json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
/// let picture = export_card_picture(&card, None).unwrap();
/// let made = Importer::default().import(&[SourceFile { name: "ada.png", bytes: &picture }]);
/// assert_eq!(made.agent.unwrap().name.as_deref(), Some("Ada"));
/// ```
pub fn export_card_picture(card: &Value, picture: Option<&[u8]>) -> Option<Vec<u8>> {
    let plain = card.to_string();
    let labelled =
        card.as_object().filter(|card| card.get("data").is_some_and(Value::is_object)).map(|card| {
            let mut card = card.clone();
            card.insert("spec".to_owned(), json!("chara_card_v3"));
            card.insert("spec_version".to_owned(), json!("3.0"));
            Value::Object(card).to_string()
        });
    let labelled = labelled.as_deref().map(str::as_bytes);
    let texts = [("chara", Some(plain.as_bytes())), ("ccv3", labelled)];
    png::with_texts(picture.unwrap_or(png::BLANK), &texts)
}
