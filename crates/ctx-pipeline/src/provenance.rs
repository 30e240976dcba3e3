use ctx_types::internal::is_partition;
use ctx_types::{Message, Segment, Source, SourceKind};

/// Processors may set a text without its segments: replaces them by one segment of the processor. Returns the
/// number of repaired messages. O(segments).
pub(crate) fn repair(id: &str, messages: &mut [Message]) -> usize {
    let is_stale = |message: &&mut Message| {
        !message.written.is_empty() && !is_partition(&message.written, message.content.len())
    };
    let mut count = 0;
    for message in messages.iter_mut().filter(is_stale) {
        count += 1;
        message.written.clear();
        let len = message.content.len();
        if len > 0 {
            let source = Source::new(SourceKind::Plugin, message.source.trust).with_id(id);
            let via = vec![message.source.clone()];
            message.written.push(Segment { via, ..Segment::full(len, source) });
        }
    }
    count
}
