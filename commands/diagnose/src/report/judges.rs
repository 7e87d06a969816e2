//! Which engine judges best on the same positions, and what each adds to the others?

use evalcurve_app::report::model::{Block, Table, folded, h3, p, soft};
use evalcurve_app::report::text::{DASH, estimate, number, or_dash, p_value, thousands};
use evalcurve_figures::PlotError;
use evalcurve_fit::validate::Estimate;
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};
use serde_json::json;

use super::{Report, Section};
use crate::judge_figures::{SHOWN, ranking_figure, together_figure};
use crate::judges::{Group, Judge, Judges, LEVEL, Mixture, Pair, Redundancy, Together};

pub(super) const SECTION: Section = Section {
    id: "judges",
    words: key!("Best judge?"),
    title: key!("Which engine judges best?"),
    answers,
    values: |report| Some(json!(report.diagnosis.judges)),
    body,
};

fn answers(report: &Report<'_>) -> Vec<String> {
    report.diagnosis.judges.iter().flat_map(|found| sentences(found, report.language)).collect()
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let Some(found) = &report.diagnosis.judges else { return Ok(Vec::new()) };
    let mut out = vec![
        p(report.word(
            "Engines that scored the same positions are judged by the same results: the log loss of their calibrated \
             scores, each forecast by a fit without its game. Differences are paired by position, and their \
             intervals are clustered by game. A place is a range where chance could exchange engines (Holm, 5%).",
        )),
        ranked(report, found),
    ];
    if !found.left_out.is_empty() {
        let names = found.left_out.join(report.word(", "));
        out.push(soft(say!(report.language, "Left out, because they share too few positions: {names}.")));
    }
    let same = report.word("the same in numbers");
    let by = report.word("by phase and ply, and pairs of engines");
    let [stars, pairs] = pairs(report, found);
    out.extend([
        Block::Figures(vec![ranking_figure(found, &report.plots())?]),
        folded(same, by, false, vec![by_group(report, found), stars, pairs]),
        h3(report.word("What does each add?")),
    ]);
    let together = match &found.together {
        Err(why) => {
            out.push(p(why.text(report.language)));
            return Ok(out);
        }
        Ok(together) => together,
    };
    out.push(p(report.word(
        "The stack forecasts results by the logits of all engines: a logistic regression whose weights are not \
         negative, fitted without the game that it forecasts. An engine adds what the log loss of the stack would grow \
         without it. These weights are for forecasts; they do not tell how much a council should listen to a member \
         when it chooses a move.",
    )));
    out.push(members(report, found, together));
    out.extend(together_figure(found, &report.plots())?.map(|drawn| Block::Figures(vec![drawn])));
    out.push(folded(report.word("what engines have in common"), "", false, common(report, found, together)));
    Ok(out)
}

/// The answers in two sentences.
fn sentences(found: &Judges, language: Language) -> Vec<String> {
    let [first, second, ..] = &found.engines[..] else { return Vec::new() };
    let (best, next, positions) = (&first.name, &second.name, thousands(found.positions));
    let loss = estimate(&first.log_loss, 3);
    let behind = second.behind.map_or_else(String::new, |behind| estimate(&behind, 4));
    let mut text = if found.has_best() {
        say!(
            language,
            "{best} judges best on the same {positions} positions: log loss {loss}, {next} is behind by {behind}"
        )
    } else {
        let names: Vec<&str> = found.engines.iter().filter(|e| e.places[0] == 1).map(|e| e.name.as_str()).collect();
        let names = names.join(language.word(", "));
        say!(
            language,
            "cannot tell which of {names} judges best on the same {positions} positions: {best} has log loss {loss}, \
             {next} is behind by {behind}"
        )
    };
    let at = |(group, judge): (&Group, &Judge)| format!("{} ({})", judge.name, group.label.text(language));
    let better: Vec<String> = found.better_in_a_group().map(at).collect();
    if !better.is_empty() {
        let better = better.join(language.word(", "));
        text += &say!(language, "; in parts of the positions better than {best}: {better}");
    }
    let mut out = vec![text];
    if let Ok(together) = &found.together {
        let difference = |mixture: &Mixture| mixture.against_best.map_or_else(String::new, |d| estimate(&d, 4));
        let loss = |mixture: &Mixture| number(mixture.log_loss.value, 3);
        let (stack, mean) = (&together.stacked, &together.mean);
        out.push(say!(
            language,
            "all {engines} engines stacked: log loss {stack}, against {best} alone {by}: {verdict}; their plain mean \
             {mean}, {mean_by}: {mean_verdict}",
            engines = found.engines.len(),
            stack = loss(stack),
            by = difference(stack),
            verdict = against(stack, language),
            mean = loss(mean),
            mean_by = difference(mean),
            mean_verdict = against(mean, language)
        ));
    }
    out
}

/// Whether a mixture forecasts better than the best engine alone.
fn against(mixture: &Mixture, language: Language) -> &str {
    language.word(match mixture.against_best.and_then(|e| e.interval) {
        Some([_, high]) if high < 0.0 => key!("better"),
        Some([low, _]) if low > 0.0 => key!("worse"),
        _ => key!("no difference seen"),
    })
}

fn ranked(report: &Report<'_>, found: &Judges) -> Block {
    let (positions, games) = (thousands(found.positions), thousands(found.games));
    let more = thousands(found.not_by_all);
    let caption = say!(
        report.language,
        "{positions} positions of {games} games that all of these engines scored; {more} more that some of them called \
         a mate, or did not score"
    );
    let place = |[first, last]: [usize; 2]| if first == last { first.to_string() } else { format!("{first}–{last}") };
    let p = |place: usize| found.pairs.iter().find(|pair| (pair.better, pair.worse) == (0, place));
    Table::new(report.language, caption, found.engines.iter().enumerate())
        .number(report.word("place"), move |(_, judge)| place(judge.places))
        .text(report.word("engine"), |(_, judge)| judge.name.clone())
        .number(report.word("log loss"), |(_, judge)| estimate(&judge.log_loss, 3))
        .number(report.word("behind the best"), |(_, judge)| or_dash(judge.behind, |b| estimate(&b, 4)))
        .number(report.word("p corrected"), move |(place, _)| or_dash(p(*place), |pair| p_value(pair.p_corrected)))
        .best(|(_, judge)| judge.places == [1, 1])
        .into()
}

/// Log losses by group, of the first engines.
fn by_group(report: &Report<'_>, found: &Judges) -> Block {
    let language = report.language;
    let mut table = Table::new(language, report.word("log loss"), &found.groups)
        .text(report.word("group"), move |group| group.label.text(language))
        .number(report.word("positions"), |group| thousands(group.positions))
        .number(report.word("games"), |group| thousands(group.games));
    for (e, judge) in found.engines.iter().enumerate().take(SHOWN) {
        table = table.number(&judge.name, move |group| {
            or_dash(group.engines.get(e), |found| {
                let is_sure = found.p_corrected.is_some_and(|p| p < LEVEL);
                format!("{}{}", number(found.log_loss.value, 3), if is_sure { " *" } else { "" })
            })
        });
    }
    table.into()
}

fn pairs(report: &Report<'_>, found: &Judges) -> [Block; 2] {
    let name = |place: usize| found.engines.get(place).map_or_else(String::new, |judge| judge.name.clone());
    let table = Table::new(report.language, "", &found.pairs)
        .text(report.word("better"), move |pair: &&Pair| name(pair.better))
        .text(report.word("worse"), move |pair| name(pair.worse))
        .number(report.word("difference of log loss"), |pair| estimate(&pair.difference, 4))
        .number("p", |pair| p_value(pair.p))
        .number(report.word("p corrected"), |pair| p_value(pair.p_corrected));
    [soft(report.word("* differs from the best engine on all positions (Holm, 5%, all groups)")), table.into()]
}

fn members(report: &Report<'_>, found: &Judges, together: &Together) -> Block {
    let rows = found.engines.iter().map(|judge| judge.name.clone()).zip(&together.engines);
    let range = |[low, high]: [f64; 2]| format!("{}–{}", number(low, 2), number(high, 2));
    let shown = |e: Option<Estimate>, digits| or_dash(e, |e| estimate(&e, digits));
    Table::new(report.language, "", rows)
        .text(report.word("engine"), |(name, _)| name.clone())
        .number(report.word("weight"), |(_, member)| number(member.weight, 2))
        .number(report.word("of the folds"), move |(_, member)| range(member.weights_of_folds))
        .number(report.word("adds (log loss)"), move |(_, member)| shown(member.adds, 4))
        .number(report.word("partial correlation with results"), move |(_, member)| shown(member.with_results, 3))
        .into()
}

fn common(report: &Report<'_>, found: &Judges, together: &Together) -> Vec<Block> {
    let name = |place: usize| found.engines.get(place).map_or_else(|| DASH.to_owned(), |judge| judge.name.clone());
    let shown = |e: Option<Estimate>| or_dash(e, |e| estimate(&e, 2));
    let table = Table::new(report.language, "", &together.pairs)
        .text("A", move |pair: &&Redundancy| name(pair.first))
        .text("B", move |pair| name(pair.second))
        .number(report.word("correlation of win rates"), move |pair| shown(pair.correlation))
        .number(report.word("partial, given the others"), move |pair| shown(pair.partial));
    let words = soft(report.word(
        "Two engines whose partial correlation is near 0 share nothing that no other engine sees; near 1, one of them \
         is enough.",
    ));
    vec![words, table.into()]
}
