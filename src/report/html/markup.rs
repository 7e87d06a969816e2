//! Building blocks of the page: safe text, tables, figures.

use std::fmt::Write;

use maud::{Markup, PreEscaped, Render, html};

use crate::language::Language;
use crate::plot::{Escaped, Figure};
use crate::say;

/// Text of records and users, escaped so that the page is well-formed XML.
pub(super) struct Safe<T>(pub T);

impl<T: AsRef<str>> Render for Safe<T> {
    fn render_to(&self, out: &mut String) {
        // writing to a string does not fail
        let _ = write!(out, "{}", Escaped(self.0.as_ref()));
    }
}

/// A column of a table.
struct Column<'a, R> {
    name: String,
    /// The class of the header and of the cells: `None` for numbers.
    class: Option<(&'static str, &'static str)>,
    cell: Box<dyn Fn(&R) -> String + 'a>,
}

/// A table with one row per item of `R`; without rows it renders nothing.
pub(super) struct Table<'a, R> {
    caption: String,
    language: Language,
    rows: Vec<R>,
    columns: Vec<Column<'a, R>>,
    best: Box<dyn Fn(&R) -> bool + 'a>,
}

impl<'a, R> Table<'a, R> {
    /// A table without columns; the caption may be empty.
    pub(super) fn new(language: Language, caption: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Self {
        let (caption, rows) = (caption.into(), rows.into_iter().collect());
        Self { caption, language, rows, columns: Vec::new(), best: Box::new(|_| false) }
    }

    fn column(
        mut self,
        name: &str,
        class: Option<(&'static str, &'static str)>,
        cell: impl Fn(&R) -> String + 'a,
    ) -> Self {
        self.columns.push(Column { name: name.to_owned(), class, cell: Box::new(cell) });
        self
    }

    /// Adds a right-aligned column.
    pub(super) fn number(self, name: &str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(name, None, cell)
    }

    /// Adds a left-aligned column whose cells do not wrap.
    pub(super) fn text(self, name: &str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(name, Some(("text", "text")), cell)
    }

    /// Adds a left-aligned column whose cells wrap.
    pub(super) fn prose(self, name: &str, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(name, Some(("text", "prose")), cell)
    }

    /// Emphasises rows.
    pub(super) fn best(self, best: impl Fn(&R) -> bool + 'a) -> Self {
        Self { best: Box::new(best), ..self }
    }
}

impl<R> Render for Table<'_, R> {
    fn render(&self) -> Markup {
        let (shown, rest) = self.rows.split_at(self.rows.len().min(SHOWN_ROWS));
        // a fold for one or two rows would save nothing
        let (shown, rest) = if rest.len() < 3 { (&self.rows[..], &[][..]) } else { (shown, rest) };
        html! {
            @if !shown.is_empty() { (self.part(shown, &self.caption)) }
            @if !rest.is_empty() {
                (folded(say!(self.language, "{} more rows", rest.len()), "", false, self.part(rest, "")))
            }
        }
    }
}

/// The rows of a table that are not folded.
const SHOWN_ROWS: usize = 10;

impl<R> Table<'_, R> {
    /// Some of the rows under the head of the table.
    fn part(&self, rows: &[R], caption: &str) -> Markup {
        html! {
            // keyboards scroll only what can have the focus
            div class="scroll" tabindex="0" {
                table {
                    "\n"
                    @if !caption.is_empty() { caption { (Safe(caption)) } "\n" }
                    thead {
                        tr {
                            @for column in &self.columns {
                                th scope="col" class=[column.class.map(|c| c.0)] { (Safe(&column.name)) }
                            }
                        }
                    }
                    "\n"
                    tbody {
                        "\n"
                        @for row in rows {
                            tr class=[(self.best)(row).then_some("best")] {
                                @for column in &self.columns {
                                    td class=[column.class.map(|c| c.1)] { (Safe((column.cell)(row))) }
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
            "\n"
        }
    }
}

/// A paragraph.
pub(super) fn p(text: impl AsRef<str>) -> Markup {
    html! { p { (Safe(text)) } "\n" }
}

/// A paragraph in a lighter colour: definitions and caveats.
pub(super) fn soft(text: impl AsRef<str>) -> Markup {
    html! { p class="soft" { (Safe(text)) } "\n" }
}

/// A heading below that of a section.
pub(super) fn h3(text: impl AsRef<str>) -> Markup {
    html! { h3 { (Safe(text)) } "\n" }
}

/// A collapsible part: `title`, then `rest` in a lighter colour, then the body.
pub(super) fn folded(title: impl AsRef<str>, rest: &str, open: bool, body: impl Render) -> Markup {
    html! {
        details open=[open.then_some("open")] {
            summary { (Safe(title)) @if !rest.is_empty() { " " span { (Safe(rest)) } } }
            "\n" (body)
        }
        "\n"
    }
}

/// A figure, as inline SVG whose numbers can be read off.
pub(super) fn figure(figure: &Figure) -> Markup {
    html! { figure { (PreEscaped(figure.svg_for_page().trim_end())) } "\n" }
}

/// Figures side by side where the page is wide enough.
pub(super) fn figures(list: &[Markup]) -> Markup {
    html! {
        @match list {
            [] => {}
            [one] => { div class="one" { (one) } "\n" }
            many => { div class="figures" { "\n" @for one in many { (one) } } "\n" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_safe() {
        let table = |rows: Vec<&'static str>| {
            let table = Table::new(Language::English, "a < b", rows)
                .text("engine", |r| (*r).to_owned())
                .number("n", |_| "1".to_owned());
            table.render().into_string()
        };
        assert_eq!(table(Vec::new()), "");
        let html = table(vec!["<script>"]);
        assert!(html.contains("a &lt; b") && html.contains("&lt;script&gt;") && !html.contains("<script"));
        assert!(folded("a&b", "", false, "").into_string().contains("a&amp;b"));
    }
}
