//! What is known about words: none of it comes from the conversations by which the report is measured.

mod english;

/// Returns whether an English word in lower case is no name, however it is written.
pub(super) fn is_common(word: &str) -> bool {
    english::COMMON.binary_search(&word).is_ok()
}

/// Returns whether an English word in lower case does not say what a sentence is about.
pub(super) fn is_stop(word: &str) -> bool {
    english::STOP.binary_search(&word).is_ok()
}

/// Returns whether a word joins parts of a name: `Bank of England`, `Ludwig van Beethoven`.
pub(super) fn is_particle(word: &str) -> bool {
    const WORDS: [&str; 18] = [
        "al", "bin", "da", "de", "del", "den", "der", "di", "do", "dos", "du", "ibn", "la", "le", "of",
        "van", "von", "y",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Returns whether a word stands before names and is no part of them.
pub(super) fn is_honorific(word: &str) -> bool {
    const WORDS: [&str; 21] = [
        "aunt",
        "captain",
        "colonel",
        "doctor",
        "dr",
        "general",
        "king",
        "lady",
        "lord",
        "madam",
        "major",
        "miss",
        "mister",
        "mr",
        "mrs",
        "ms",
        "prof",
        "professor",
        "queen",
        "sir",
        "uncle",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Returns whether a full stop after a word ends no sentence.
pub(super) fn is_abbreviation(word: &str) -> bool {
    const WORDS: [&str; 15] = [
        "approx", "ca", "co", "corp", "dr", "etc", "inc", "jr", "ltd", "mr", "mrs", "ms", "prof", "st", "vs",
    ];
    word.len() == 1 || WORDS.binary_search(&word).is_ok()
}

/// Returns whether a verb says what people do, so that a word at the beginning of a sentence before it is a name.
pub(super) fn is_of_people(verb: &str) -> bool {
    const VERBS: [&str; 60] = [
        "agreed",
        "agrees",
        "arrived",
        "arrives",
        "asked",
        "asks",
        "booked",
        "bought",
        "brought",
        "called",
        "calls",
        "came",
        "comes",
        "decided",
        "found",
        "gave",
        "got",
        "hates",
        "hears",
        "invited",
        "joined",
        "knew",
        "knows",
        "lent",
        "likes",
        "lived",
        "lives",
        "loves",
        "made",
        "married",
        "met",
        "moved",
        "offered",
        "ordered",
        "owes",
        "owns",
        "paid",
        "plays",
        "prefers",
        "promised",
        "recommended",
        "recommends",
        "said",
        "says",
        "sent",
        "speaks",
        "studied",
        "studies",
        "suggested",
        "suggests",
        "thinks",
        "thought",
        "told",
        "took",
        "wants",
        "went",
        "works",
        "worked",
        "writes",
        "wrote",
    ];
    VERBS.contains(&verb)
}

/// Returns whether capitals are an abbreviation that names nothing in particular.
pub(super) fn is_common_abbreviation(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 58] = [
        "AI", "AM", "API", "ASAP", "ASCII", "BTW", "CEO", "CI", "CLI", "CPU", "CSS", "CSV", "DB", "DIY", "DNS",
        "ETA", "FAQ", "FYI", "GPU", "GUI", "HTML", "HTTP", "HTTPS", "ID", "IMO", "IP", "JSON", "LLM", "LOL",
        "MVP", "NOT", "OK", "OMG", "ORM", "OS", "PDF", "PIN", "PM", "PR", "PS", "QA", "RAM", "REST", "SDK",
        "SQL", "SSH", "TBA", "TBD", "TLS", "TODO", "TV", "UI", "URL", "UTC", "UTF", "UX", "XML", "YAML",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Returns whether something after the last dot of a word makes it the name of a file.
pub(super) fn is_extension(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 96] = [
        "7z", "avi", "bak", "bash", "bat", "bin", "bmp", "c", "cc", "cfg", "class", "conf", "cpp", "cs", "css",
        "csv", "dart", "db", "diff", "dll", "doc", "docx", "ejs", "env", "erl", "ex", "exe", "gif", "go",
        "gradle", "gz", "h", "hpp", "hs", "htm", "html", "ico", "ini", "ipynb", "jar", "java", "jpeg", "jpg",
        "js", "json", "jsonl", "jsx", "kt", "less", "lock", "log", "lua", "md", "mdx", "mjs", "mov", "mp3",
        "mp4", "odt", "parquet", "patch", "pdf", "php", "pl", "png", "ppt", "pptx", "proto", "ps1", "py", "rb",
        "rs", "rst", "scala", "scss", "sh", "sql", "sqlite", "svg", "swift", "tar", "tf", "tgz", "toml", "ts",
        "tsv", "tsx", "txt", "vue", "wasm", "wav", "xls", "xlsx", "xml", "yaml", "yml",
    ];
    WORDS.binary_search(&word).is_ok() || word == "zip"
}

/// Returns whether something after the last dot of a word makes it the name of a host.
pub(super) fn is_top_domain(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 32] = [
        "ai", "app", "au", "be", "br", "ca", "ch", "cn", "co", "com", "de", "dev", "edu", "es", "eu", "fr",
        "gov", "in", "info", "io", "jp", "kr", "local", "net", "nl", "org", "ru", "se", "tv", "uk", "us", "xyz",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Returns one word for several that say nearly the same, so that a rule told in other words is found again.
pub(super) fn representative(word: &str) -> Option<&'static str> {
    const GROUPS: [&[&str]; 24] = [
        &["call", "phone", "ring", "telephone", "dial"],
        &["buy", "purchase", "bought"],
        &["cost", "price", "pay", "paid", "charge", "fee"],
        &["begin", "start", "began", "begun", "commence"],
        &["end", "finish", "stop", "complete"],
        &["change", "modify", "alter", "edit", "touch", "update"],
        &["delete", "remove", "erase", "drop"],
        &["send", "sent", "mail", "email"],
        &["show", "display", "present"],
        &["use", "uses", "used", "using", "employ", "utilise", "utilize"],
        &["eat", "ate", "eaten", "consume"],
        &["big", "large", "huge"],
        &["small", "little", "tiny"],
        &["child", "children", "kid", "kids"],
        &["doctor", "physician"],
        &["house", "home"],
        &["reply", "answer", "respond", "response"],
        &["fix", "repair", "mend"],
        &["error", "fault", "failure", "fail", "bug"],
        &["run", "execute", "ran"],
        &["build", "compile", "built"],
        &["leave", "depart", "left"],
        &["come", "arrive", "came", "coming"],
        &["speak", "talk", "spoke"],
    ];
    let group = GROUPS.iter().find(|group| group.contains(&word));
    group.and_then(|group| group.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        assert!(english::COMMON.is_sorted() && english::STOP.is_sorted());
        for word in ["al", "y", "of"] {
            assert!(is_particle(word));
        }
        assert!(is_honorific("aunt") && is_honorific("uncle") && is_honorific("mr"));
        assert!(is_abbreviation("approx") && is_abbreviation("vs") && is_abbreviation("etc"));
        assert!(
            is_common_abbreviation("AI") && is_common_abbreviation("YAML") && is_common_abbreviation("SQL")
        );
        assert!(is_extension("7z") && is_extension("yml") && is_extension("rs") && is_extension("md"));
        assert!(is_top_domain("ai") && is_top_domain("xyz") && is_top_domain("org"));
    }

    #[test]
    fn words_of_one_meaning_have_one_representative() {
        assert_eq!(representative("ring"), Some("call"));
        assert_eq!(representative("violin"), None);
    }
}
