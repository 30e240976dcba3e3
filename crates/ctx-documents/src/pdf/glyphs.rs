//! Glyph names.

/// Returns the text of `uni4E2D`, `u1F600`, or a Latin name from the Adobe glyph list; ignores a suffix after
/// a dot.
pub(super) fn letters(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if let Some((_, letters)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*letters).to_owned());
    }
    let code = match (name.strip_prefix("uni"), name.strip_prefix('u')) {
        (Some(digits), _) if digits.len() >= 4 => u32::from_str_radix(digits.get(..4)?, 16).ok(),
        (_, Some(digits)) if (4..=6).contains(&digits.len()) => u32::from_str_radix(digits, 16).ok(),
        _ => None,
    };
    if let Some(letter) = code.and_then(char::from_u32) {
        return Some(letter.to_string());
    }
    let mut letters = name.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then(|| letter.to_string()).or_else(|| accented_letter(name))
}

/// Returns the character of a name that repeats its code, such as `a65`.
///
/// `TeX` names glyphs of bitmap fonts like this; nearly all of them use ASCII codes.
pub(super) fn letters_from_code(name: &[u8], code: u8) -> Option<String> {
    let digits = std::str::from_utf8(name).ok()?.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_named = code.is_ascii_graphic() && digits.parse() == Ok(code);
    is_named.then(|| char::from(code).to_string())
}

/// Composes names such as `eacute`.
fn accented_letter(name: &str) -> Option<String> {
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let accent = name.get(1..)?;
    let (_, forms) = ACCENTS.iter().find(|(known, _)| *known == accent)?;
    let mut pairs = forms.split(' ');
    let composed = pairs.find_map(|pair| pair.strip_prefix(letter));
    composed.map(str::to_owned)
}

/// Letter pairs by accent: base, composed.
const ACCENTS: &[(&str, &str)] = &[
    ("acute", "aá eé ií oó uú yý AÁ EÉ IÍ OÓ UÚ YÝ cć nń sś zź CĆ NŃ SŚ ZŹ rŕ lĺ"),
    ("grave", "aà eè iì oò uù AÀ EÈ IÌ OÒ UÙ"),
    ("circumflex", "aâ eê iî oô uû AÂ EÊ IÎ OÔ UÛ cĉ gĝ sŝ"),
    ("dieresis", "aä eë iï oö uü yÿ AÄ EË IÏ OÖ UÜ YŸ"),
    ("tilde", "aã nñ oõ AÃ NÑ OÕ"),
    ("ring", "aå AÅ uů UŮ"),
    ("cedilla", "cç CÇ sş SŞ"),
    ("caron", "sš zž cč rř eě dď tť nň SŠ ZŽ CČ RŘ EĚ DĎ TŤ NŇ"),
    ("ogonek", "aą eę AĄ EĘ iį uų"),
    ("macron", "aā eē iī oō uū AĀ EĒ IĪ OŌ UŪ"),
    ("breve", "aă gğ AĂ GĞ"),
    ("slash", "oø OØ lł LŁ"),
    ("dotaccent", "zż ZŻ eė gġ Iİ"),
    ("hungarumlaut", "oő uű OŐ UŰ"),
];

#[rustfmt::skip] // Several per line.
const NAMES: &[(&str, &str)] = &[
    ("space", " "), ("nbspace", " "), ("exclam", "!"), ("quotedbl", "\""), ("numbersign", "#"),
    ("dollar", "$"), ("percent", "%"), ("ampersand", "&"), ("quotesingle", "'"), ("quoteright", "’"),
    ("quoteleft", "‘"), ("parenleft", "("), ("parenright", ")"), ("asterisk", "*"), ("plus", "+"),
    ("comma", ","), ("hyphen", "-"), ("minus", "−"), ("period", "."), ("slash", "/"), ("zero", "0"),
    ("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"),
    ("eight", "8"), ("nine", "9"), ("colon", ":"), ("semicolon", ";"), ("less", "<"), ("equal", "="),
    ("greater", ">"), ("question", "?"), ("at", "@"), ("bracketleft", "["), ("backslash", "\\"),
    ("bracketright", "]"), ("asciicircum", "^"), ("underscore", "_"), ("grave", "`"), ("braceleft", "{"),
    ("bar", "|"), ("braceright", "}"), ("asciitilde", "~"), ("exclamdown", "¡"), ("cent", "¢"),
    ("sterling", "£"), ("currency", "¤"), ("yen", "¥"), ("section", "§"), ("copyright", "©"),
    ("registered", "®"), ("trademark", "™"), ("degree", "°"), ("plusminus", "±"), ("mu", "µ"),
    ("paragraph", "¶"), ("periodcentered", "·"), ("guillemotleft", "«"), ("guillemotright", "»"),
    ("guilsinglleft", "‹"), ("guilsinglright", "›"), ("questiondown", "¿"), ("multiply", "×"),
    ("divide", "÷"), ("germandbls", "ß"), ("ae", "æ"), ("AE", "Æ"), ("oe", "œ"), ("OE", "Œ"), ("eth", "ð"),
    ("Eth", "Ð"), ("thorn", "þ"), ("Thorn", "Þ"), ("dotlessi", "ı"), ("endash", "–"), ("emdash", "—"),
    ("bullet", "•"), ("ellipsis", "…"), ("quotedblleft", "“"), ("quotedblright", "”"),
    ("quotesinglbase", "‚"), ("quotedblbase", "„"), ("dagger", "†"), ("daggerdbl", "‡"), ("perthousand", "‰"),
    ("Euro", "€"), ("florin", "ƒ"), ("fraction", "⁄"), ("onehalf", "½"), ("onequarter", "¼"),
    ("threequarters", "¾"), ("onesuperior", "¹"), ("twosuperior", "²"), ("threesuperior", "³"), ("ff", "ff"),
    ("fi", "fi"), ("fl", "fl"), ("ffi", "ffi"), ("ffl", "ffl"), ("infinity", "∞"), ("notequal", "≠"),
    ("lessequal", "≤"), ("greaterequal", "≥"), ("approxequal", "≈"), ("summation", "∑"), ("integral", "∫"),
    ("radical", "√"), ("partialdiff", "∂"), ("Delta", "∆"), ("Omega", "Ω"), ("pi", "π"), ("alpha", "α"),
    ("beta", "β"), ("gamma", "γ"), ("delta", "δ"), ("lambda", "λ"), ("sigma", "σ"), ("theta", "θ"),
    ("arrowright", "→"), ("arrowleft", "←"), ("acute", "´"), ("circumflex", "ˆ"), ("tilde", "˜"),
    ("dieresis", "¨"), ("cedilla", "¸"), ("macron", "¯"), ("ordfeminine", "ª"), ("ordmasculine", "º"),
    ("logicalnot", "¬"), ("brokenbar", "¦"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(letters(name.as_bytes()).as_deref(), expected, "{name}");
    }

    #[test]
    fn maps_glyph_names_to_characters() {
        check("A", Some("A"));
        check("space", Some(" "));
        check("eacute", Some("é"));
        check("uni4E2D", Some("中"));
        check("u1F600", Some("😀"));
        check("a.swash", Some("a"));
        check("ffi", Some("ffi"));
        check("g12", None);
        check(".notdef", None);
        check("中", None);
    }

    #[test]
    fn reads_glyph_name_that_repeats_code() {
        assert_eq!(letters_from_code(b"a65", 65).as_deref(), Some("A"));
        assert_eq!(letters_from_code(b"a66", 65), None);
        assert_eq!(letters_from_code(b"a7", 7), None);
        assert_eq!(letters_from_code(b".notdef", 65), None);
        assert_eq!(letters_from_code(b"a999", 65), None);
    }
}
