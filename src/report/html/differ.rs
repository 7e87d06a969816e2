//! Why do least squares and maximum likelihood differ? The samples that move both slopes.

use maud::{Markup, html};

use super::markup::{Table, figures, folded, p, soft};
use super::{Page, UNFOLDED};
use crate::calibration::MatePolicy;
use crate::diagnose::influence::{BothFits, Estimate, InfluenceTable, Kind, NamedGame, Row, Slope};
use crate::language::Text;
use crate::plot::{Figure, Forest, ForestMark, ForestRow, PlotError, forest};
use crate::report::text::{number, or_dash, thousands, with_interval};
use crate::say;
use crate::types::Termination;

/// The number of engines in the figure of all.
const IN_FIGURE: usize = 30;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let tables = &page.diagnosis.influence;
    if tables.is_empty() {
        return Ok(p(page.choose("No engine has both fits.", "二つの当てはめがそろうエンジンはありません。")));
    }
    let mut order: Vec<&InfluenceTable> = tables.iter().collect();
    // the engines that need attention first: the widest gaps, then those that mates would move
    let rank = |t: &InfluenceTable| (!t.differ, !t.mates_matter);
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.gap().total_cmp(&a.gap())).then(a.engine.cmp(&b.engine)));
    let bodies: Vec<Markup> = order.iter().map(|t| engine(page, t)).collect::<Result<_, _>>()?;
    let excluded = page.options.mate_policy == MatePolicy::Exclude;
    let other = match excluded {
        true => page.choose("with mates kept", "詰みを残す"),
        false => page.choose("without mates", "詰みを除く"),
    };
    let language = page.language;
    let no_mates = page.choose("no mates", "詰みなし");
    let with_interval = |fits: &BothFits| estimate(&fits.ratio);
    let caption =
        page.choose("ratio of the slopes, least squares to maximum likelihood", "傾きの比(最小二乗法 ÷ 最尤法)");
    let table = Table::new(language, caption, order.iter().copied())
        .text(page.choose("engine", "エンジン"), |t| t.engine.clone())
        .number(page.choose("samples", "標本"), |t| thousands(t.all.samples))
        .number(page.choose("ratio", "比"), move |t| with_interval(&t.all))
        .number(&say!(language, "ratio {other}", "比({other})"), move |t| {
            with_mates(t).map_or(no_mates.to_owned(), with_interval)
        })
        .prose(page.choose("in words", "説明"), move |t| t.verdict.text(language).to_owned());
    Ok(html! {
        (p(page.choose(
            "Least squares forgives a few samples that are far off; maximum likelihood is governed by large scores \
             that contradict the result. Where their slopes differ, leaving out one group of samples after the other \
             shows which of them causes it.",
            "最小二乗法は大きく外れた少数の標本に寛容で、最尤法は結果と矛盾する大きい評価値に左右されます。傾きが違うときは、標本の\
             群を一つずつ除くと、どれが原因か分かります。",
        )))
        (table)
        @if let Ok(drawn) = overview(page, &order, other) { (figures(&[page.figure(&drawn)])) }
        (soft(page.choose(
            "Groups are left out one at a time. Mates, where the fits leave them out already, are put in instead. A \
             change is a factor on the slope; its interval takes into account that both fits share their games. \
             Lapses are results that follow no score (model lapse); a group with a larger part of them than of the \
             samples is where to look for lost connections, losses on time and games that were cut.",
            "群は一つずつ除きます。当てはめで除いている詰みは、逆に加えます。変化は傾きにかかる倍率で、区間は二つの当てはめが\
             同じ対局を使うことを考慮します。逸脱は評価値と無関係な結果です(モデル lapse)。標本より逸脱の割合が大きい群では、\
             接続切れ、時間切れ、打ち切られた対局を調べてください。",
        )))
        @for (i, (t, body)) in order.iter().zip(&bodies).enumerate() {
            (folded(
                &t.engine,
                match t.differ {
                    true => page.choose("the fits are apart", "食い違う"),
                    false => page.choose("the fits are not apart", "食い違わない"),
                },
                i < UNFOLDED && (t.differ || t.mates_matter),
                body,
            ))
        }
    })
}

/// The fits with mates treated the other way.
fn with_mates(t: &InfluenceTable) -> Option<&BothFits> {
    t.rows.iter().find(|r| r.kind == Kind::Mates).map(|r| &r.fits)
}

/// The ratios of all engines.
fn overview(page: &Page<'_>, order: &[&InfluenceTable], other: &str) -> Result<Figure, PlotError> {
    let mark = |e: &Estimate| ForestMark { value: e.value, low: e.low, high: e.high };
    let ratio = |fits: &BothFits| fits.ratio.as_ref().map(mark);
    let row = |t: &&InfluenceTable| ForestRow {
        label: t.engine.clone(),
        marks: vec![ratio(&t.all), with_mates(t).and_then(ratio)],
    };
    let (shown, all) = (order.len().min(IN_FIGURE), order.len());
    let plot = Forest {
        title: page
            .choose("Slope by least squares / slope by maximum likelihood", "最小二乗法の傾き ÷ 最尤法の傾き")
            .to_owned(),
        caption: say!(
            page.language,
            "{} of {} engines, the most apart first · 1: the fits agree",
            "{1} エンジンのうち {0}、食い違いの大きい順 · 1: 一致",
            shown,
            all
        ),
        axis: page.choose("ratio of the slopes w1", "傾き w1 の比").to_owned(),
        series: vec![page.choose("as fitted", "当てはめたまま").to_owned(), other.to_owned()],
        rows: order.iter().take(IN_FIGURE).map(row).collect(),
        references: vec![(1.0, None)],
        limits: Some((0.4, 3.1)),
        notes: Vec::new(),
    };
    forest(&plot, &page.plots())
}

fn estimate(e: &Option<Estimate>) -> String {
    or_dash(e.as_ref(), |e| with_interval(e.value, (e.low, e.high), 2))
}

fn slope(page: &Page<'_>, slope: &Result<Slope, Text>) -> String {
    match slope {
        Ok(s) => with_interval(1000.0 * s.w1, (1000.0 * s.low, 1000.0 * s.high), 3),
        Err(_) => page.choose("not fitted", "当てはめなし").to_owned(),
    }
}

fn label(page: &Page<'_>, row: &Row) -> String {
    format!("{} {}", if row.added { "+" } else { "−" }, row.label.text(page.language))
}

/// The label of the fits of all samples.
fn all(page: &Page<'_>) -> String {
    page.choose("all that are fitted", "当てはめた全標本").to_owned()
}

fn engine(page: &Page<'_>, t: &InfluenceTable) -> Result<Markup, PlotError> {
    // the first row has all samples, each other row one group more or less
    let rows = std::iter::once((None, None)).chain(t.rows.iter().enumerate().map(|(i, r)| (Some(i), Some(r))));
    fn fits<'a>(t: &'a InfluenceTable, row: Option<&'a Row>) -> &'a BothFits {
        row.map_or(&t.all, |r| &r.fits)
    }
    let language = page.language;
    let caption = page.choose("− without these samples, + with them", "− この標本を除く、+ 加える");
    let table = Table::new(language, caption, rows)
        .text(page.choose("samples", "標本"), |(_, row)| row.map_or_else(|| all(page), |row| label(page, row)))
        .number(page.choose("in the group", "群の標本"), |(_, row)| {
            thousands(row.map_or(t.all.samples, |r| r.group))
        })
        .number(page.choose("fitted", "当てはめ"), |(_, row)| thousands(fits(t, *row).samples))
        .number(page.choose("least squares w1 · 1000", "最小二乗法 w1 · 1000"), |(_, row)| {
            slope(page, &fits(t, *row).least_squares)
        })
        .number(page.choose("× change", "倍率"), |(_, row)| or_dash(*row, |r| estimate(&r.least_squares_change)))
        .number(page.choose("maximum likelihood w1 · 1000", "最尤法 w1 · 1000"), |(_, row)| {
            slope(page, &fits(t, *row).maximum_likelihood)
        })
        .number(page.choose("× change", "倍率"), |(_, row)| {
            or_dash(*row, |r| estimate(&r.maximum_likelihood_change))
        })
        .number(page.choose("ratio", "比"), |(_, row)| or_dash(fits(t, *row).ratio.as_ref(), |r| number(r.value, 2)))
        .number(page.choose("of the lapses", "逸脱の割合"), move |(_, row)| match row {
            None => or_dash(t.lapses, |l| say!(language, "{:.1}% of all", "全体の {:.1}%", 100.0 * l)),
            Some(row) => or_dash(row.lapses, |l| format!("{:.0}%", 100.0 * l)),
        })
        .best(|(i, _)| i.is_some() && t.driver == *i);
    let drawn = forest(&slopes(page, t), &page.plots())?;
    let empty: Vec<&str> = t.empty.iter().map(|label| label.text(language)).collect();
    Ok(html! {
        (p(t.verdict.text(language)))
        (table)
        @if !empty.is_empty() {
            (soft(say!(language, "No samples of this sort: {}.", "該当する標本なし: {}。", empty.join("; "))))
        }
        (figures(&[page.figure(&drawn)]))
        (games(page, &t.games))
    })
}

/// The slopes with each group left out or added.
fn slopes(page: &Page<'_>, t: &InfluenceTable) -> Forest {
    let mark = |s: &Result<Slope, Text>| {
        s.as_ref().ok().map(|s| ForestMark { value: 1000.0 * s.w1, low: 1000.0 * s.low, high: 1000.0 * s.high })
    };
    let row = |label: String, fits: &BothFits| ForestRow {
        label,
        marks: vec![mark(&fits.least_squares), mark(&fits.maximum_likelihood)],
    };
    let at = |s: &Result<Slope, Text>, i| s.as_ref().ok().map(|s| (1000.0 * s.w1, Some(i)));
    let all = std::iter::once(row(all(page), &t.all));
    Forest {
        title: say!(page.language, "{}: what moves the slopes", "{}: 傾きを動かすもの", t.engine),
        caption: say!(
            page.language,
            "{} samples · 95% intervals · dashed: all that are fitted",
            "{} 標本 · 95% 区間 · 破線: 当てはめた全標本",
            thousands(t.all.samples)
        ),
        axis: page.choose("w1 · 1000 (per centipawn)", "w1 · 1000").to_owned(),
        series: [("least squares", "最小二乗法"), ("maximum likelihood", "最尤法")]
            .map(|(english, japanese)| page.choose(english, japanese).to_owned())
            .to_vec(),
        rows: all.chain(t.rows.iter().map(|r| row(label(page, r), &r.fits))).collect(),
        references: [at(&t.all.least_squares, 0), at(&t.all.maximum_likelihood, 1)].into_iter().flatten().collect(),
        limits: None,
        notes: Vec::new(),
    }
}

fn games<'a>(page: &Page<'_>, games: &'a [NamedGame]) -> Table<'a, &'a NamedGame> {
    let language = page.language;
    let caption = language
        .choose("the games that move the ratio most, by a first-order estimate", "比を最も動かす対局(一次近似)");
    Table::new(language, caption, games)
        // the path of the folder or archive would fill the page
        .text(language.choose("game", "対局"), |game| {
            game.source.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
        })
        .number(language.choose("line", "行"), |game| thousands(game.line))
        .text(language.choose("ended by", "終局理由"), move |game| match game.termination.parse::<Termination>() {
            Ok(termination) => termination.words().text(language).to_owned(),
            Err(_) => game.termination.replace('_', " "),
        })
        .number(language.choose("result", "結果"), |game| number(game.result, 1))
        .text(language.choose("scores sampled", "抽出した評価値"), |game| {
            game.scores_cp.iter().map(|s| format!("{s:+}")).collect::<Vec<_>>().join(", ")
        })
        .number(language.choose("ratio without it", "除いたときの比"), |game| {
            format!("× {}", number(libm::exp(game.pull), 3))
        })
}
