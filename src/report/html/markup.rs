//! Pieces of a page: text made safe, numbers, tables, figures.

use crate::plot::Figure;

/// Text of records and of users, safe between tags and in attributes.
pub(super) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    crate::plot::escape(&mut out, text);
    out
}

/// A number with a real minus sign.
pub(in crate::report) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // -0.000 is 0
    let zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
    if zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}

/// `0.087 [0.080, 0.094]`
pub(in crate::report) fn with_interval(value: f64, (low, high): (f64, f64), decimals: usize) -> String {
    format!("{} [{}, {}]", number(value, decimals), number(low, decimals), number(high, decimals))
}

/// A p value for people.
pub(in crate::report) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => format!("{p:.3}"),
    }
}

pub(in crate::report) const DASH: &str = "–";

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Right-aligned.
    Number,
    /// Left-aligned, on one line.
    Text,
    /// Left-aligned, wrapped.
    Prose,
}

/// A table. Cells are markup already.
pub(super) struct Table {
    caption: String,
    head: Vec<(String, Column)>,
    rows: Vec<(bool, Vec<String>)>,
}

impl Table {
    /// An empty table; the caption is plain text and may be empty.
    pub(super) fn new(caption: &str, head: &[(&str, Column)]) -> Self {
        let head = head.iter().map(|(name, column)| (safe(name), *column)).collect();
        Self { caption: safe(caption), head, rows: Vec::new() }
    }

    /// A row of plain texts.
    pub(super) fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push((false, cells.into_iter().map(|c| safe(c.as_ref())).collect()));
    }

    /// A row of plain texts that stands out.
    pub(super) fn best_row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push((true, cells.into_iter().map(|c| safe(c.as_ref())).collect()));
    }

    /// The markup; nothing without rows.
    pub(super) fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let class = |column: Column| match column {
            Column::Number => "",
            Column::Text => " class=\"text\"",
            Column::Prose => " class=\"prose\"",
        };
        let mut out = String::from("<div class=\"scroll\"><table>\n");
        if !self.caption.is_empty() {
            out += &format!("<caption>{}</caption>\n", self.caption);
        }
        out += "<thead><tr>";
        for (name, column) in &self.head {
            let class = if *column == Column::Number { "" } else { " class=\"text\"" };
            out += &format!("<th scope=\"col\"{class}>{name}</th>");
        }
        out += "</tr></thead>\n<tbody>\n";
        for (best, cells) in &self.rows {
            out += if *best { "<tr class=\"best\">" } else { "<tr>" };
            for (cell, (_, column)) in cells.iter().zip(&self.head) {
                out += &format!("<td{}>{cell}</td>", class(*column));
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n"
    }
}

/// A paragraph of plain text.
pub(super) fn p(text: &str) -> String {
    format!("<p>{}</p>\n", safe(text))
}

/// A paragraph of plain text in a lighter colour: definitions and caveats.
pub(super) fn soft(text: &str) -> String {
    format!("<p class=\"soft\">{}</p>\n", safe(text))
}

/// A heading below that of a section.
pub(super) fn h3(text: &str) -> String {
    format!("<h3>{}</h3>\n", safe(text))
}

/// Something folded away under a line.
pub(super) fn folded(line: &str, rest: &str, body: &str) -> String {
    let rest = if rest.is_empty() { String::new() } else { format!(" <span>{}</span>", safe(rest)) };
    format!("<details><summary>{}{rest}</summary>\n{body}</details>\n", safe(line))
}

/// A figure as it stands in the page.
pub(super) fn figure(figure: &Figure) -> String {
    format!("<figure>{}</figure>\n", figure.svg().trim_end())
}

/// Figures side by side where there is room.
pub(super) fn figures(list: &[String]) -> String {
    match list {
        [] => String::new(),
        [one] => format!("<div class=\"one\">{one}</div>\n"),
        many => format!("<div class=\"figures\">\n{}</div>\n", many.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_safe_and_numbers_read_well() {
        assert_eq!(number(-0.0001, 3), "0.000");
        assert_eq!(number(-1.25, 1), "−1.2");
        assert_eq!(with_interval(0.5, (-1.0, 2.0), 1), "0.5 [−1.0, 2.0]");
        let mut table = Table::new("a < b", &[("engine", Column::Text), ("n", Column::Number)]);
        assert_eq!(table.html(), "");
        table.row(["<script>", "1"]);
        let html = table.html();
        assert!(html.contains("a &lt; b") && html.contains("&lt;script&gt;") && !html.contains("<script"));
        assert!(folded("a&b", "", "").contains("a&amp;b"));
    }
}
