//! The WebAssembly of the JavaScript package `ctx-engine`: JSON in, JSON out, over the operations of `ctx-operations`.
//!
//! A function takes what was put into the buffer of [`border`] and numbers of what is [`held`], and returns a number:
//! −1 where it failed. Nothing is unwound and no panic has a text, which would be a tenth of the whole: it traps, and the
//! package goes on with a new instance. `ts/` is what users see.

mod border;
mod held;
mod host;

use ctx_operations::{Agent, Conversation, Engine, Kept, OperationError, Stream};
use ctx_tokens::{Encoding, load_tables};
use serde_json::{Value, json};

use border::{answer, given, number, options, plain_messages, value};
use held::{unknown, with};
use host::Limit;

/// Carries out an operation: its name, of `length` bytes, and the text of its options are given.
#[unsafe(no_mangle)]
pub extern "C" fn call(length: usize) -> i32 {
    let given = given();
    let parts =
        given.split_at_checked(length).and_then(|(name, text)| Some((str::from_utf8(name).ok()?, text)));
    let Some((name, text)) = parts else { return number(Err(OperationError::usage("the name is not UTF-8"))) };
    answer(value(text).and_then(|input| ctx_operations::call(name, input)))
}

/// Takes the tables of a vocabulary: its name, of `length` bytes, and the file are given.
#[unsafe(no_mangle)]
pub extern "C" fn load_vocabulary(length: usize) -> i32 {
    let given = given();
    let parts = given.split_at_checked(length);
    let parts = parts.and_then(|(name, tables)| Some((Encoding::parse(str::from_utf8(name).ok()?)?, tables)));
    let Some((encoding, tables)) = parts else {
        return number(Err(OperationError::usage("there is no such vocabulary")));
    };
    number(load_tables(encoding, tables).map(|()| 0).map_err(OperationError::usage))
}

/// Compiles an agent of the options given; returns its number. `host` is the number of its functions in JavaScript, 0
/// where it has none; what they are is the option `host`.
#[unsafe(no_mangle)]
pub extern "C" fn agent_new(host: i32) -> i32 {
    number(with(|held| {
        let mut options = options()?;
        let engine = match options.shift_remove("host") {
            Some(parts) => ctx_operations::engine_with(parts, &host::asking(host))?,
            None => Engine::new(),
        };
        let agent = Agent::compile(engine, options)?;
        let number = held.number()?;
        held.agents.insert(number, agent);
        Ok(number)
    }))
}

/// Answers what an agent is.
#[unsafe(no_mangle)]
pub extern "C" fn agent_describe(agent: i32) -> i32 {
    answer(with(|held| held.agents.get(&agent).map(Agent::to_json).ok_or_else(unknown)))
}

/// Assembles a context with the options given.
#[unsafe(no_mangle)]
pub extern "C" fn agent_assemble(agent: i32, conversation: i32) -> i32 {
    answer(with(|held| {
        let conversation = held.conversations.get(&conversation).ok_or_else(unknown)?;
        held.agents.get(&agent).ok_or_else(unknown)?.assemble(conversation, options()?, Some(&Limit))
    }))
}

/// Explains a context with the options given.
#[unsafe(no_mangle)]
pub extern "C" fn agent_explain(agent: i32, conversation: i32) -> i32 {
    answer(with(|held| {
        let conversation = held.conversations.get(&conversation).ok_or_else(unknown)?;
        held.agents.get(&agent).ok_or_else(unknown)?.explain(conversation, options()?, Some(&Limit))
    }))
}

/// Makes an empty conversation; returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_new() -> i32 {
    number(with(|held| {
        let number = held.number()?;
        held.conversations.insert(number, Conversation::default());
        Ok(number)
    }))
}

/// Reads a conversation's document; returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_read() -> i32 {
    number(with(|held| {
        let conversation = Conversation::of_given(&value(&given())?)?;
        let number = held.number()?;
        held.conversations.insert(number, conversation);
        Ok(number)
    }))
}

/// Adds the list of messages given; returns how many there are now.
///
/// Where it is no JSON, it is so many texts with NUL between any two: the role and the text of each message. If NUL is
/// in one of them, none is added.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_extend(conversation: i32, texts: usize) -> i32 {
    number(with(|held| {
        let conversation = held.conversations.get_mut(&conversation).ok_or_else(unknown)?;
        let count = match texts {
            0 => conversation.extend(value(&given())?)?,
            _ => match plain_messages(&given(), texts)? {
                Some(messages) => conversation.extend_texts(messages)?,
                None => conversation.len(),
            },
        };
        i32::try_from(count).map_err(OperationError::usage)
    }))
}

/// Applies the effects given, of a turn whose request was sent; returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_apply(conversation: i32) -> i32 {
    number(with(|held| {
        let conversation = held.conversations.get_mut(&conversation).ok_or_else(unknown)?;
        conversation.apply(value(&given())?)?;
        Ok(0)
    }))
}

/// Fits a conversation with the options given: answers the number of each message that stays as it was, or another
/// message, and the tokens.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_fit(conversation: i32) -> i32 {
    answer(with(|held| {
        let conversation = held.conversations.get(&conversation).ok_or_else(unknown)?;
        let fitted = conversation.fit(options()?, Some(&Limit))?;
        let kept = fitted.kept.into_iter().map(|kept| match kept {
            Kept::Whole(number) => json!(number),
            Kept::Written(message) => *message,
        });
        Ok(json!({ "kept": kept.collect::<Vec<Value>>(), "tokens": fitted.tokens }))
    }))
}

/// Answers the conversation as its file holds it.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_describe(conversation: i32) -> i32 {
    answer(with(|held| held.conversations.get(&conversation).map(Conversation::to_json).ok_or_else(unknown)))
}

/// Tells how many messages a conversation has.
#[unsafe(no_mangle)]
pub extern "C" fn conversation_length(conversation: i32) -> i32 {
    number(with(|held| {
        let conversation = held.conversations.get(&conversation).ok_or_else(unknown)?;
        i32::try_from(conversation.len()).map_err(OperationError::usage)
    }))
}

/// Begins to read a streamed reply in the dialect given; returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn stream_new() -> i32 {
    number(with(|held| {
        let stream = Stream::new(&String::from_utf8_lossy(&given()))?;
        let number = held.number()?;
        held.streams.insert(number, stream);
        Ok(number)
    }))
}

/// Takes the data of an event, and answers what it brought.
#[unsafe(no_mangle)]
pub extern "C" fn stream_push(stream: i32) -> i32 {
    let data = given();
    answer(with(|held| {
        held.streams.get_mut(&stream).ok_or_else(unknown)?.push(&String::from_utf8_lossy(&data))
    }))
}

/// Answers what came of a reply so far.
#[unsafe(no_mangle)]
pub extern "C" fn stream_partial(stream: i32) -> i32 {
    answer(with(|held| held.streams.get(&stream).map(Stream::partial).ok_or_else(unknown)))
}

/// Answers the whole reply.
#[unsafe(no_mangle)]
pub extern "C" fn stream_finish(stream: i32) -> i32 {
    answer(with(|held| held.streams.get(&stream).ok_or_else(unknown)?.finish()))
}

/// Lets go of what has this number.
#[unsafe(no_mangle)]
pub extern "C" fn free(number: i32) -> i32 {
    self::number(with(|held| {
        held.agents.remove(&number);
        held.conversations.remove(&number);
        held.streams.remove(&number);
        Ok(0)
    }))
}

/// Fails as a fault of the engine would, so that tests see what becomes of it.
///
/// # Panics
///
/// Always.
#[unsafe(no_mangle)]
pub extern "C" fn fail() -> i32 {
    panic!("broken on purpose")
}
