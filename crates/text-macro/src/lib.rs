//! The macro behind `evalcurve_words::text!`. It takes what `format!` takes, and makes a `Text`, which keeps the
//! template and the arguments apart so that the template can be translated when it is known who reads it.
//!
//! It has no dependencies: a call is a literal and expressions, which need no parser of Rust.

use proc_macro::{Delimiter, Group, Ident, Literal, Spacing, Span, TokenStream, TokenTree};

/// `text_of!(path of evalcurve_words; "template", arguments)`
#[proc_macro]
pub fn text_of(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(failed)
}

fn failed(message: String) -> TokenStream {
    code("::core::compile_error!(#0);", &[one(Literal::string(&message))])
}

/// Implements `ToText` for an error by its `#[error("…")]` of thiserror, so that the template that it displays is also
/// the one that is translated. Fields of the type `&'static str` are translated as words; `#[error(transparent)]` is
/// the text of the only field.
#[proc_macro_derive(ToText, attributes(error))]
pub fn to_text(input: TokenStream) -> TokenStream {
    derive(input).and_then(|out| out.parse().map_err(|_| out)).unwrap_or_else(failed)
}

fn derive(input: TokenStream) -> Result<String, String> {
    let (head, error) = without_attributes(input.into_iter().collect());
    let is_enum = head.iter().any(|token| token.to_string() == "enum");
    let [.., name, TokenTree::Group(body)] = &head[..] else { return Err("write an enum or a struct".to_owned()) };
    let root = match std::env::var("CARGO_CRATE_NAME").as_deref() {
        Ok("evalcurve_words") => "crate",
        _ => "::evalcurve_words",
    };
    let arms: Vec<String> = match is_enum {
        true => {
            let variant = |tokens| {
                let (variant, error) = without_attributes(tokens);
                let body = if let Some(TokenTree::Group(body)) = variant.get(1) { Some(body) } else { None };
                arm(root, &format!("Self::{}", variant[0]), error, body)
            };
            split(body.stream().into_iter().collect()).into_iter().map(variant).collect::<Result<_, _>>()?
        }
        false => vec![arm(root, "Self", error, Some(body))?],
    };
    Ok(format!(
        "impl {root}::language::ToText for {name} {{
            fn to_text(&self) -> {root}::language::Text {{ match self {{ {} }} }}
        }}",
        arms.concat()
    ))
}

/// The tokens without attributes, and what `#[error(…)]` has in its parentheses.
fn without_attributes(tokens: Vec<TokenTree>) -> (Vec<TokenTree>, Vec<TokenTree>) {
    let (mut rest, mut error, mut tokens) = (Vec::new(), Vec::new(), tokens.into_iter());
    while let Some(token) = tokens.next() {
        if !is_punct(&token, '#') {
            rest.push(token);
        } else if let Some(TokenTree::Group(attribute)) = tokens.next() {
            let mut inside = attribute.stream().into_iter();
            if let (Some(name), Some(TokenTree::Group(all))) = (inside.next(), inside.next()) {
                error.extend(all.stream().into_iter().filter(|_| name.to_string() == "error"));
            }
        }
    }
    (rest, error)
}

/// `Self::Variant { field: field, } => text,`
fn arm(root: &str, name: &str, error: Vec<TokenTree>, body: Option<&Group>) -> Result<String, String> {
    let (mut pattern, mut words, mut own) = (String::new(), String::new(), Vec::new());
    let fields = body.map_or_else(Vec::new, |body| split(body.stream().into_iter().collect()));
    for (place, tokens) in fields.into_iter().map(|field| without_attributes(field).0).enumerate() {
        let colon = tokens.iter().position(|t| is_punct(t, ':'));
        let named = colon.filter(|_| body.is_some_and(|body| body.delimiter() == Delimiter::Brace));
        let field = named.map_or_else(|| format!("field_{place}"), |colon| tokens[colon - 1].to_string());
        let key = if named.is_some() { field.clone() } else { place.to_string() };
        pattern += &format!("{key}: {field}, ");
        let of_type: String = tokens.iter().skip(named.map_or(0, |colon| colon + 1)).map(ToString::to_string).collect();
        if of_type.ends_with("&'staticstr") {
            words += &format!("let {field} = {root}::language::Text::word(*{field}); ");
        }
        own.push((key, field));
    }
    let first = error.first().ok_or("every error has #[error(…)]")?;
    let text = match literal(Some(first)) {
        None => format!("{root}::language::ToText::to_text({})", own.first().map_or("", |(_, field)| field)),
        Some((template, _)) => {
            let mut arguments = String::new();
            for part in split(error.into_iter().collect()) {
                let name = name_of(&part).map_or_else(String::new, |name| format!("{name} = "));
                let value: TokenStream = part.into_iter().skip(if name.is_empty() { 0 } else { 2 }).collect();
                // thiserror writes a field as `.field`, also as an argument: `word(.field)`
                let value = value.to_string().replace("(.", "(");
                arguments += &format!("{name}{}, ", value.trim_start_matches('.'));
            }
            let placeholders = placeholders(&template)?;
            let is_shown = |key: &str| key.parse::<usize>().is_ok() && placeholders.iter().any(|p| p.name == key);
            own.iter().filter(|(key, _)| is_shown(key)).for_each(|(_, field)| arguments += &format!("{field}, "));
            format!("{root}::language::text_of!({root}; {arguments})")
        }
    };
    Ok(format!("#[allow(unused_variables)] {name} {{ {pattern} }} => {{ {words}{text} }} "))
}

/// A placeholder of a template: `{}`, `{0}`, `{name}` or `{name:.2}`.
struct Placeholder {
    /// The name, or the position as a number.
    name: String,
    /// What follows the colon.
    spec: String,
}

fn expand(input: TokenStream) -> Result<TokenStream, String> {
    let mut input = input.into_iter();
    let root: TokenStream = input.by_ref().take_while(|t| !is_punct(t, ';')).collect();
    let template = literal(input.next().as_ref()).ok_or("a text begins with a template in quotation marks")?;
    let arguments = split(input.collect());
    let placeholders = placeholders(&template.0)?;

    let names: Vec<Option<String>> = arguments.iter().map(|tokens| name_of(tokens)).collect();
    let mut used = vec![false; arguments.len()];
    let (mut list, mut seen) = (TokenStream::new(), Vec::<Placeholder>::new());
    for placeholder in placeholders {
        if let Some(before) = seen.iter().find(|p| p.name == placeholder.name) {
            match before.spec == placeholder.spec {
                true => continue,
                false => return Err(format!("write {{{}}} in one way only", placeholder.name)),
            }
        }
        let position = match placeholder.name.parse::<usize>() {
            Ok(position) if position >= arguments.len() => return Err(format!("argument {position} is missing")),
            Ok(position) => Some(position),
            Err(_) => names.iter().position(|name| name.as_ref() == Some(&placeholder.name)),
        };
        position.into_iter().for_each(|position| used[position] = true);
        let value = match position {
            Some(position) => code("arguments.#0", &[one(Literal::usize_unsuffixed(position))]),
            // a variable of the caller
            None => code("&#0", &[one(Ident::new(&placeholder.name, template.1))]),
        };
        let text = value_as_text(&root, &placeholder.spec, value, template.1);
        list.extend(code("(#0, #1),", &[one(Literal::string(&placeholder.name)), text]));
        seen.push(placeholder);
    }
    if let Some(unused) = used.iter().position(|used| !used) {
        return Err(format!("argument {unused} is not used by the template"));
    }

    let text = code("#0::language::Text::new(#1, ::std::vec![#2])", &[root, one(Literal::string(&template.0)), list]);
    if arguments.is_empty() {
        return Ok(text);
    }
    let value = |(tokens, name): (Vec<TokenTree>, Option<String>)| {
        let expression = tokens.into_iter().skip(if name.is_some() { 2 } else { 0 }).collect();
        code("&(#0),", &[expression])
    };
    let values = arguments.into_iter().zip(names).map(value).collect();
    Ok(code("match (#0) { arguments => #1 }", &[values, text]))
}

/// The argument as a text: one that can be translated stays so, unless it has a format.
fn value_as_text(root: &TokenStream, spec: &str, value: TokenStream, span: Span) -> TokenStream {
    if spec.is_empty() {
        let argument = "{
            use #0::language::{ArgumentByDisplay as _, ArgumentByText as _};
            (&#0::language::Argument(#1)).argument()
        }";
        return code(argument, &[root.clone(), value]);
    }
    let mut template = Literal::string(&format!("{{:{spec}}}"));
    template.set_span(span);
    code("#0::language::Text::same(::std::format!(#1, #2))", &[root.clone(), one(template), value])
}

/// The placeholders of a template in their order.
fn placeholders(template: &str) -> Result<Vec<Placeholder>, String> {
    let (mut found, mut next) = (Vec::new(), 0);
    let plain = template.replace("{{", "").replace("}}", "");
    for part in plain.split('{').skip(1) {
        let (inside, _) = part.split_once('}').ok_or("a brace is not closed; write {{ for a brace")?;
        let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
        let name = match name {
            "" => {
                next += 1;
                (next - 1).to_string()
            }
            name => name.to_owned(),
        };
        found.push(Placeholder { name, spec: spec.to_owned() });
    }
    Ok(found)
}

/// `name` of an argument `name = value`.
fn name_of(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [TokenTree::Ident(name), TokenTree::Punct(p), ..] if p.as_char() == '=' && p.spacing() == Spacing::Alone => {
            Some(name.to_string())
        }
        _ => None,
    }
}

/// Splits at commas, but not within the `::<…>` of a type.
fn split(tokens: Vec<TokenTree>) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut depth) = (vec![Vec::new()], 0_u32);
    let mut before = [None, None];
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => Some(punct.as_char()),
            _ => None,
        };
        match punct {
            Some('<') if depth > 0 || before == [Some(':'), Some(':')] => depth += 1,
            Some('>') if depth > 0 && before[1] != Some('-') => depth -= 1,
            _ => {}
        }
        before = [before[1], punct];
        match (punct, parts.last_mut()) {
            (Some(','), _) if depth == 0 => parts.push(Vec::new()),
            (_, Some(part)) => part.push(token),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A string literal with its place.
fn literal(token: Option<&TokenTree>) -> Option<(String, Span)> {
    match token? {
        TokenTree::Literal(literal) => Some((unquoted(&literal.to_string())?, literal.span())),
        // a fragment of another macro
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut tokens = group.stream().into_iter();
            literal(tokens.next().as_ref()).filter(|_| tokens.next().is_none())
        }
        _ => None,
    }
}

/// The text of a literal as it is in the source, `"…"` or `r#"…"#`.
fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    while let Some((plain, escape)) = rest.split_once('\\') {
        text += plain;
        let mut chars = escape.chars();
        match chars.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            '\n' => {
                rest = chars.as_str().trim_start();
                continue;
            }
            'u' => {
                let (code, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                text.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                rest = after;
                continue;
            }
            quoted @ ('"' | '\\' | '\'') => text.push(quoted),
            _ => return None,
        }
        rest = chars.as_str();
    }
    Some(text + rest)
}

/// The tokens of a text, which name nothing of the caller, with parts of the caller in place of `#0`, `#1` …
fn code(text: &str, parts: &[TokenStream]) -> TokenStream {
    fn filled(stream: TokenStream, parts: &[TokenStream]) -> TokenStream {
        let (mut out, mut tokens) = (TokenStream::new(), stream.into_iter());
        while let Some(mut token) = tokens.next() {
            if is_punct(&token, '#') {
                let number = tokens.next().and_then(|number| number.to_string().parse::<usize>().ok());
                out.extend(number.and_then(|number| parts.get(number)).cloned());
                continue;
            }
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), filled(group.stream(), parts)).into();
            }
            token.set_span(Span::mixed_site());
            out.extend([token]);
        }
        out
    }
    text.parse().map(|stream| filled(stream, parts)).unwrap_or_default()
}

fn one(token: impl Into<TokenTree>) -> TokenStream {
    token.into().into()
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}
