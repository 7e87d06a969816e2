//! File names from engine names, valid on Windows and Unix.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use evalcurve_words::text::is_unsafe;

/// Longest stem in bytes of UTF-8. With a hash and an extension it stays below the 255 bytes of common file systems.
const MAX_BYTES: usize = 120;
/// Hexadecimal digits of the hash, by the number of collisions so far.
const HASH_DIGITS: [usize; 4] = [0, 8, 16, 64];

/// The engine's name as the stem of a file name (no extension, no directory), never empty.
///
/// Characters that Windows or Unix forbids or hides become `_`, dots and spaces at the end are removed, device names
/// such as `NUL` get a `_`, and a long name is cut between characters; letters of any script remain. Different names
/// can have the same stem; [`file_stems`] makes them distinct.
///
/// ```
/// assert_eq!(evalcurve_fit::calibration::file_stem("技巧 2/3"), "技巧 2_3");
/// ```
pub fn file_stem(name: &str) -> String {
    let mut stem: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    cut(&mut stem, MAX_BYTES);
    if stem.starts_with('.') {
        stem.replace_range(..1, "_");
    }
    if stem.is_empty() {
        stem.push_str("engine");
    }
    if reserved(&stem) {
        // the device name ends at the first dot
        stem.insert(stem.find('.').unwrap_or(stem.len()), '_');
    }
    stem
}

/// The stems of several engines' files, in the order of the names, distinct even if case is ignored.
///
/// A stem is made by [`file_stem`]. A hash of the name is added if the name is a device name, ends in a dot or space,
/// is too long or not in the normal form NFC of Unicode, and if stems differ only by case or not at all. The result
/// depends on the set of names, not on their order; equal names get the same stem.
pub fn file_stems<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut levels: BTreeMap<&str, usize> =
        names.iter().map(|n| (n.as_ref(), usize::from(needs_hash(n.as_ref())))).collect();
    loop {
        let mut holders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (&name, &level) in &levels {
            holders.entry(fold(&hashed(name, level))).or_default().push(name);
        }
        // all names that collide get a longer hash, so that their order has no effect
        let mut moved = false;
        for name in holders.values().filter(|same| same.len() > 1).flatten() {
            if let Some(level) = levels.get_mut(name).filter(|level| **level + 1 < HASH_DIGITS.len()) {
                *level += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    names.iter().map(|n| hashed(n.as_ref(), levels.get(n.as_ref()).copied().unwrap_or(0))).collect()
}

fn hashed(name: &str, level: usize) -> String {
    let mut stem = file_stem(name);
    let digits = HASH_DIGITS[level.min(HASH_DIGITS.len() - 1)];
    if digits > 0 {
        cut(&mut stem, MAX_BYTES - 1 - digits);
        stem.push('-');
        let hex: String = Sha256::digest(name.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        stem.extend(hex.chars().take(digits));
    }
    stem
}

fn needs_hash(name: &str) -> bool {
    name.is_empty()
        || name.ends_with(['.', ' '])
        || name.len() > MAX_BYTES
        || reserved(name)
        // some file systems compose characters, others do not
        || name.chars().any(|c| matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}'))
        || !is_nfc(name)
}

/// Equal for names that a file system may consider equal that ignores case or composes characters.
fn fold(stem: &str) -> String {
    stem.to_lowercase().to_uppercase().to_lowercase().nfc().collect()
}

fn allowed(c: char) -> bool {
    !is_unsafe(c) && !matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*')
}

/// Cuts at the end of a character, then removes trailing dots and spaces, which Windows would drop.
fn cut(stem: &mut String, bytes: usize) {
    if stem.len() > bytes {
        stem.truncate(stem.floor_char_boundary(bytes));
    }
    stem.truncate(stem.trim_end_matches(['.', ' ']).len());
}

/// Whether Windows treats the name as a device, whatever follows the first dot.
fn reserved(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    match base.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        port => {
            let number = port.strip_prefix("COM").or_else(|| port.strip_prefix("LPT"));
            number.is_some_and(|n| matches!(n, "¹" | "²" | "³") || (n.len() == 1 && n.as_bytes()[0].is_ascii_digit()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forbidden_characters_are_replaced() {
        for (name, stem) in [
            ("nozomi", "nozomi"),
            ("技巧", "技巧"),
            ("やねうら王 7.50", "やねうら王 7.50"),
            ("a/b\\c:d*e?f\"g<h>i|j", "a_b_c_d_e_f_g_h_i_j"),
            ("x\ny\u{202e}", "x_y_"),
            ("..", "engine"),
            ("", "engine"),
            (".hidden", "_hidden"),
            ("ends. . ", "ends"),
            ("nul", "nul_"),
            ("CON.txt", "CON_.txt"),
            ("com¹", "com¹_"),
            ("COM10", "COM10"),
            ("Aux .v2", "Aux _.v2"),
        ] {
            assert_eq!(file_stem(name), stem, "{name:?}");
        }
        assert_eq!(file_stem(&"将棋".repeat(50)).len(), 120);
        assert_eq!(file_stem(&format!("x{}", "将".repeat(50))), format!("x{}", "将".repeat(39)));
    }

    #[test]
    fn stems_that_collide_get_a_hash() {
        let stems = file_stems(&["Apery", "apery", "nozomi", "a/b", "a:b", "NUL", "elmo."]);
        assert_eq!(stems[2], "nozomi");
        for (stem, start) in stems.iter().zip(["Apery-", "apery-", "nozomi", "a_b-", "a_b-", "NUL_-", "elmo-"]) {
            assert!(stem.starts_with(start), "{stem}");
        }
        assert_eq!(stems[0].len(), "Apery-".len() + 8);
        // a literal name that looks like the hashed stem of another name changes as well
        let sly = file_stems(&["Apery", "apery", &stems[0]]);
        assert_eq!(sly.iter().map(|s| s.to_lowercase()).collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(file_stems(&["Apery", "Apery"]), ["Apery", "Apery"]);
    }

    #[test]
    fn both_forms_of_a_character_are_distinct() {
        // precomposed and decomposed: Hangul, an accent, a kana, and a letter that composes to another
        for (composed, other) in
            [("각", "\u{1100}\u{1161}\u{11a8}"), ("é", "e\u{301}"), ("が", "か\u{3099}"), ("Å", "\u{212b}")]
        {
            let stems = file_stems(&[composed, other]);
            assert_eq!(stems[0], composed);
            assert!(stems[1].len() > other.len() + 8, "{stems:?}");
            assert_ne!(stems[0].nfc().collect::<String>(), stems[1].nfc().collect::<String>());
        }
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[aAbB./ :]{0,4}",
            "(?i)(con|nul|com[0-9¹]|lpt1)[. a]{0,2}",
            "[ßẞİıIſKk]{1,3}",
            any::<String>(),
            "[将棋a]{30,60}",
        ]
    }

    proptest! {
        #[test]
        fn stems_are_different_safe_and_free_of_order(names in proptest::collection::btree_set(name(), 0..20)) {
            let names: Vec<String> = names.into_iter().collect();
            let stems = file_stems(&names);
            prop_assert_eq!(stems.iter().map(|s| s.to_lowercase()).collect::<BTreeSet<_>>().len(), names.len());
            prop_assert_eq!(stems.iter().map(|s| s.to_uppercase()).collect::<BTreeSet<_>>().len(), names.len());
            let reversed: Vec<String> = names.iter().rev().cloned().collect();
            let mut back = file_stems(&reversed);
            back.reverse();
            prop_assert_eq!(&stems, &back);
            for stem in stems.iter().cloned().chain(names.iter().map(|n| file_stem(n))) {
                prop_assert!(!stem.is_empty() && stem.len() <= MAX_BYTES + 1);
                prop_assert!(stem.chars().all(allowed) && !stem.ends_with(['.', ' ']) && !stem.starts_with('.'));
                prop_assert!(!reserved(&stem));
            }
        }
    }
}
