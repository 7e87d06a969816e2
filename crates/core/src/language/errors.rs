//! Japanese for the errors that libraries word in English: found by their text, which `errors.ja.json` lists as
//! templates. `{name}` stands for any text; a value is translated in the same way, and so is what follows `PATH: `.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The templates and their Japanese.
static ERRORS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| serde_json::from_str(include_str!("errors.ja.json")).unwrap_or_default());

/// The Japanese of an error; `None` if no template gives its text.
pub(super) fn japanese(english: &str) -> Option<String> {
    let found = ERRORS.iter().filter_map(|(template, japanese)| Some((template, japanese, values(template, english)?)));
    // of several, the one that leaves least to its values
    let best = found.max_by_key(|(.., values)| std::cmp::Reverse(values.iter().map(|(_, v)| v.len()).sum::<usize>()));
    if let Some((_, japanese, values)) = best {
        let translated = |text: String, (name, value): &(&str, &str)| {
            text.replace(&format!("{{{name}}}"), &self::japanese(value).unwrap_or_else(|| (*value).to_owned()))
        };
        return Some(values.iter().fold(japanese.clone(), translated));
    }
    english.match_indices(": ").find_map(|(at, colon)| {
        let (before, rest) = english.split_at(at + colon.len());
        Some(before.to_owned() + &japanese(rest)?)
    })
}

/// The values of a template in a text: names in braces, and what stands in their place.
fn values<'a>(template: &'a str, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let mut parts = template.split('{').peekable();
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    while let Some((name, literal)) = parts.next().and_then(|part| part.split_once('}')) {
        let value = match parts.peek() {
            Some(_) => &rest[..rest.find(literal)?],
            None => rest.strip_suffix(literal)?,
        };
        values.push((name, value));
        rest = &rest[value.len() + literal.len()..];
    }
    rest.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_by_their_text() {
        for (english, expected) in [
            ("no answer within 50 ms after stop", Some("stop から 50 ミリ秒以内に応答がありません")),
            (
                "engine 'a' cannot start 'b': gone; check the command; try it in a terminal, and correct its command",
                Some(
                    "エンジン 'a': 'b' を起動できません: gone。コマンドを確認してください。端末で動かしてみて、コマンドを直してください",
                ),
            ),
            (
                "t:3: unknown field 'pears', expected one of 'pairs', 'x'; did you mean 'pairs'? (in the line x)",
                Some("t:3: 'pears' という項目はありません。使えるのは 'pairs', 'x'。もしかして: 'pairs'(行: x)"),
            ),
            ("an error of another kind", None),
        ] {
            assert_eq!(japanese(english).as_deref(), expected, "{english}");
        }
    }

    #[test]
    fn a_translation_has_the_values_of_its_template() {
        assert!(ERRORS.len() > 50);
        let names = |text: &str| {
            let mut all: Vec<String> =
                text.split('{').skip(1).filter_map(|p| Some(p.split_once('}')?.0.to_owned())).collect();
            all.sort();
            all.dedup();
            all
        };
        for (english, japanese) in &*ERRORS {
            assert_eq!(names(english), names(japanese), "{english}");
        }
    }
}
