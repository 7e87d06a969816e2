//! The encoding of a text: by a byte order mark, the declaration of the record, UTF-8 if it is valid, else Shift_JIS or
//! EUC-JP as guessed from a few kilobytes.

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};

/// Bytes of a text that the guess is based on.
const LOOK: usize = 4096;

/// The encoding named in the first lines of a file: `'CSA encoding=SHIFT_JIS` (CSA V3), `'encoding=Shift_JIS`
/// (ShogiGUI), `#KIF version=2.0 encoding=UTF-8`.
pub fn declared(head: &[u8]) -> Option<&'static Encoding> {
    if head.starts_with(b"\xEF\xBB\xBF") {
        return Some(UTF_8);
    }
    for line in head[..head.len().min(LOOK)].split(|&b| b == b'\n').take(3) {
        if let Some(at) = memchr::memmem::find(line, b"encoding=") {
            let label = &line[at + 9..];
            let end = label.iter().position(|b| b.is_ascii_whitespace() || *b == b',').unwrap_or(label.len());
            return Encoding::for_label(&label[..end]);
        }
    }
    None
}

/// The encoding of `sample` if none is declared.
pub fn guess(sample: &[u8]) -> &'static Encoding {
    let look = &sample[..sample.len().min(LOOK)];
    match std::str::from_utf8(look) {
        Ok(_) => return UTF_8,
        // cut inside the last character
        Err(e) if e.error_len().is_none() && e.valid_up_to() + 4 > look.len() => return UTF_8,
        Err(_) => {}
    }
    if detected(look, Some(b"jp")) == EUC_JP { EUC_JP } else { SHIFT_JIS }
}

/// The encoding of the tags of a PGN text that are not UTF-8: Shift_JIS, EUC-JP, or the Latin script that the standard
/// of 1994 requires. All of them count, because a single short name can be text in each.
pub(crate) fn guess_of_tags(text: &[u8]) -> &'static Encoding {
    let lines = text.split_inclusive(|b| *b == b'\n');
    let tags = lines.filter(|line| line.starts_with(b"[") && std::str::from_utf8(line).is_err());
    let look: Vec<u8> = tags.flatten().copied().take(LOOK).collect();
    // without a hint no Western name has characters of two bytes, and those of EUC-JP can be taken for another such
    // encoding
    if detected(&look, None).is_single_byte() { WINDOWS_1252 } else { guess(&look) }
}

fn detected(text: &[u8], domain: Option<&[u8]>) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    // a text of that length can be cut inside a character
    detector.feed(text, text.len() < LOOK);
    detector.guess(domain, chardetng::Utf8Detection::Allow)
}

/// Appends `bytes` to `out` as UTF-8. `context` (the text around it) decides the encoding if none is declared.
pub(crate) fn decode_into(bytes: &[u8], encoding: Option<&'static Encoding>, context: &[u8], out: &mut String) {
    decode_with(bytes, encoding, || guess(context), out);
}

/// As [`decode_into`]. The caller makes the guess, which reads 4 KiB and is slow, so that it can keep it.
pub(crate) fn decode_with(
    bytes: &[u8],
    encoding: Option<&'static Encoding>,
    guess: impl FnOnce() -> &'static Encoding,
    out: &mut String,
) {
    if bytes.is_ascii() {
        out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
        return;
    }
    // a declaration counts unless the bytes contradict it: shogi programs copy each other's headers
    let encoding = match encoding {
        Some(e) if e == UTF_8 && std::str::from_utf8(bytes).is_err() => guess(),
        Some(e) => e,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => guess(),
    };
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    out.push_str(&text);
}

/// The text of a whole file as UTF-8, without a byte order mark. Lines that are not UTF-8 are Shift_JIS or EUC-JP, as
/// guessed from the first of them on. UTF-16 needs its byte order mark, as Excel writes it ("Unicode text").
pub fn whole_text(bytes: Vec<u8>) -> String {
    if is_utf_16(&bytes) {
        // as the mark says
        return UTF_8.decode(&bytes).0.into_owned();
    }
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let line = memchr::memrchr(b'\n', &bytes[..valid]).map_or(0, |end| end + 1);
            let encoding = guess(&bytes[line..]);
            let mut text = String::with_capacity(bytes.len());
            bytes.split_inclusive(|b| *b == b'\n').for_each(|line| decode_with(line, None, || encoding, &mut text));
            text
        }
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// Whether a file begins with a byte order mark of UTF-16.
pub fn is_utf_16(head: &[u8]) -> bool {
    head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF")
}

/// `bytes` as UTF-8.
pub fn decode(bytes: &[u8], encoding: Option<&'static Encoding>, context: &[u8]) -> String {
    let mut out = String::new();
    decode_into(bytes, encoding, context, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_in_four_encodings() {
        let name = "技巧（斎藤慎太郎五段）";
        let (sjis, _, _) = SHIFT_JIS.encode(name);
        let (euc, _, _) = EUC_JP.encode(name);
        for bytes in [name.as_bytes(), &sjis, &euc] {
            assert_eq!(decode(bytes, None, bytes), name);
        }
        assert_eq!(decode(&sjis, Some(SHIFT_JIS), &sjis), name);
        // a header that declares UTF-8 for Shift_JIS text is ignored
        assert_eq!(decode(&sjis, Some(UTF_8), &sjis), name);
    }

    #[test]
    fn tags_in_japanese_and_in_western_languages() {
        let tags = |names: &[&str]| names.iter().map(|name| format!("[White \"{name}\"]\n")).collect::<String>();
        let guessed = |text: &str, encoding: &'static Encoding| {
            let bytes = [b"[Event \"x\"]\n1. e4 \x83\n", &*encoding.encode(text).0].concat();
            guess_of_tags(&bytes)
        };
        for names in [&["エンジン甲", "能登"][..], &["技巧"], &["やねうら王", "浮かむ瀬", "Ponanza改"], &["羽生善治"]]
        {
            for encoding in [SHIFT_JIS, EUC_JP] {
                for text in [tags(names), tags(names).repeat(400)] {
                    assert_eq!(guessed(&text, encoding), encoding, "{names:?}");
                }
            }
        }
        let western: Vec<&str> =
            "Möller Šmíd Hübner Žák Kožul João Müßig Guðmundur André Garção Åke Øst d’Artagnan Áé".split(' ').collect();
        for name in &western {
            for other in &western {
                assert_eq!(guessed(&tags(&[name, other]), WINDOWS_1252), WINDOWS_1252, "{name}, {other}");
            }
        }
        // what is UTF-8 says nothing about the rest
        let joined = [tags(&["Šmíd", "羽生善治"]).as_bytes(), &*WINDOWS_1252.encode(&tags(&["Möller"])).0].concat();
        assert_eq!(guess_of_tags(&joined), WINDOWS_1252);
    }

    #[test]
    fn whole_files_in_five_encodings() {
        let text = "player,opponent\r\nA,B\r\n技巧,浮かむ瀬\r\n激指,ｶﾀｶﾅ\r\n";
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(bytes).collect::<Vec<u8>>()
        };
        for (name, bytes) in [
            ("UTF-8", text.as_bytes().to_vec()),
            ("UTF-8 with a mark", format!("\u{feff}{text}").into_bytes()),
            ("Shift_JIS", SHIFT_JIS.encode(text).0.into_owned()),
            ("EUC-JP", EUC_JP.encode(text).0.into_owned()),
            ("UTF-16, little endian", utf_16(u16::to_le_bytes)),
            ("UTF-16, big endian", utf_16(u16::to_be_bytes)),
        ] {
            assert_eq!(whole_text(bytes), text, "{name}");
        }
        // a file joined from two, and one with a damaged byte: the other lines stay
        let joined = [text.as_bytes(), &SHIFT_JIS.encode(text).0].concat();
        assert_eq!(whole_text(joined), text.repeat(2));
        let damaged = [text.as_bytes(), b"x\xFFy\n", text.as_bytes()].concat();
        let read = whole_text(damaged);
        assert!(read.starts_with(text) && read.ends_with(text));
        assert_eq!(whole_text(b"\xE6\x8A".to_vec()), "\u{fffd}");
    }

    #[test]
    fn declarations_are_found() {
        assert_eq!(declared(b"'CSA encoding=UTF-8\nV3.0\n"), Some(UTF_8));
        assert_eq!(declared(b"'CSA encoding=SHIFT_JIS\r\nV3.0\r\n"), Some(SHIFT_JIS));
        assert_eq!(declared(b"\xEF\xBB\xBFV2.2\n"), Some(UTF_8));
        assert_eq!(declared(b"V2.2\nN+x\n"), None);
    }
}
