use ctx_pipeline::{Blackboard, ProcessorError};
use ctx_types::phrase;

use crate::run::case::{Step, check};

#[derive(Clone, Debug, PartialEq)]
struct Mood(u8);

#[test]
fn passes_values_between_processors() {
    let leaves = Step::new("leaves", |cx| {
        cx.blackboard.insert(Mood(1));
        Ok(())
    });
    let changes = Step::new("changes", |cx| {
        let mood = cx.blackboard.get::<Mood>().ok_or_else(|| ProcessorError::failed("no mood"))?.0;
        cx.blackboard.insert(Mood(mood + 1));
        Ok(())
    });
    let finds = Step::new("finds", |cx| {
        let found = cx.blackboard.get::<Mood>().cloned();
        cx.log(phrase!("{found}", found = format!("{:?}", found)));
        Ok(())
    });
    check([leaves, changes, finds], "u1", &["u1", "finds: Some(Mood(2))"]);
}

#[test]
fn returns_none_for_missing_values() {
    let mut blackboard = Blackboard::default();
    assert_eq!(blackboard.get::<Mood>(), None);
    blackboard.insert(Mood(1));
    blackboard.insert(Mood(2));
    assert_eq!(blackboard.get::<Mood>(), Some(&Mood(2)));
}
