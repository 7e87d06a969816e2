//! The section on proper scores out of sample.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, h3, p, soft};
use crate::calibrate::EngineResult;
use crate::diagnose::ModelScores;
use crate::diagnose::declared::DeclaredScores;
use crate::plot::{PlotError, reliability};
use crate::report::text::{DASH, estimate, model_name, number, or_dash, thousands};
use crate::say;
use crate::validate::{Estimate, ModelKind, Scores};

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let drawn = page.engine_by_engine(|rank, index| {
        let Some(Some(found)) = page.diagnosis.reliability.get(index) else { return Ok(None) };
        reliability(&page.diagnosis.results[index].name, rank, found, &page.plots()).map(Some)
    })?;
    Ok(html! {
        (p(say!(
            page.language,
            "Games are dealt into {} folds, and every model forecasts the results of games that it was not fitted to. \
             Log loss is the mean of -ln of the win rate given to what happened: less is better, and a coin has ln 2 \
             = 0.693.",
            "対局を {} 分割し、どのモデルも当てはめに使っていない対局の結果を予測します。対数損失は、実際の結果に\
             与えた確率 p の −ln p の平均です。小さいほど良く、常に五分と予測すれば ln 2 = 0.693 です。",
            page.diagnosis.base.folds
        )))
        (models(page))
        (soft(page.choose(
            "Where the rating difference helps, results depend on the opponent as much as on the score: compare \
             engines by the strength-adjusted model if your engines met opponents of different strength.",
            "レート差を加えて予測が良くなるなら、結果は相手の強さにも左右されています。強さの違う相手と指したエンジンは、強さを\
             調整したモデルで比べてください。",
        )))
        (h3(page.choose("Engine by engine", "エンジンごと")))
        (p(page.choose(
            "The Brier score is miscalibration (what a better curve would gain) minus discrimination (what the scores \
             reveal) plus uncertainty (what results vary). The slope of the results on the forecast logit is 1 where \
             forecasts are right; below 1 they are too bold, above 1 too timid. An intercept below 0 means that they \
             are too hopeful. Miscalibration and discrimination can only err upwards; their intervals correct for \
             that and may lie below the number.",
            "ブライアスコアは、誤較正(曲線を直せば減る分)− 識別力(評価値で分かる分)+ 不確実性(結果のばらつき)です。\
             予測のロジットに対する結果の傾きは、予測が正しければ 1 です。1 より小さければ強気すぎ、大きければ弱気すぎます。\
             切片が負なら楽観的すぎます。誤較正と識別力は大きい方にしか外れません。区間はそれを補正するので、値より\
             下になることがあります。",
        )))
        (engines(page))
        @if !page.diagnosis.declared.is_empty() {
            (h3(page.choose("Declared wins, draws and losses", "宣言された勝ち・引き分け・負け")))
            (p(page.choose(
                "Some engines print their own rates of wins, draws and losses. They are scored like the calibration, \
                 on the samples that have them: the win rate is the wins and half of the draws. The calibration \
                 forecasts games that it was not fitted to. A difference above 0 means that the calibration is \
                 better. Declared rates are between equals, and the calibration knows how strong the opponents of \
                 these records were: against weaker ones the intercept is above 0. A slope below 1 has no such \
                 excuse: these rates are too bold.",
                "勝ち・引き分け・負けの率を自分で出すエンジンがあります。その値がある標本で較正と同じように採点します。勝率は\
                 勝ちと引き分けの半分です。較正は当てはめに使っていない対局を予測します。差が正なら較正の方が良いことを\
                 示します。宣言された率は互角の相手に対するもので、較正は棋譜の相手の強さを知っています。弱い相手なら切片は\
                 正になります。傾きが 1 より小さいことは相手では説明できず、率が強気すぎます。",
            )))
            (declared(page))
        }
        @if !drawn.0.is_empty() {
            (soft(page.choose(
                "Where the line leaves the band, forecasts of that size are wrong beyond chance.",
                "線が帯から出る所では、その大きさの予測は偶然では説明できないほど外れています。",
            )))
        }
        (drawn)
    })
}

/// The log loss of every model over all engines, the best first.
fn models(page: &Page<'_>) -> Markup {
    let (chosen, language) = (page.options.model, page.language);
    let name = move |kind: ModelKind| model_name(kind, language);
    let mut models: Vec<&ModelScores> = page.diagnosis.models.iter().collect();
    let loss = |m: &ModelScores| m.log_loss.as_ref().map_or(f64::INFINITY, |e| e.value);
    models.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
    let reason = |m: &&ModelScores| {
        let why = m.log_loss.as_ref().err()?.text(language);
        Some(format!("{}: {why}.", name(m.kind)))
    };
    let failed: Vec<String> = models.iter().filter_map(reason).collect();
    let scored = models.into_iter().filter_map(|m| Some((m, m.log_loss.as_ref().ok()?)));
    let caption = say!(
        language,
        "all engines together; {} is what this run calibrates with",
        "全エンジンの合計。今回の較正のモデルは {}",
        name(chosen)
    );
    let table = Table::new(language, caption, scored)
        .text(page.choose("model", "モデル"), move |(m, _)| name(m.kind).to_owned())
        .number(page.choose("samples", "標本"), |(m, _)| thousands(m.samples))
        .number(page.choose("log loss", "対数損失"), |(_, loss)| estimate(loss, 4))
        .number(page.choose("against the chosen one", "選んだモデルとの差"), |(m, _)| {
            or_dash(m.behind_chosen.filter(|_| m.kind != chosen), |e| signed(&e))
        })
        .best(|(m, _)| m.kind == chosen);
    html! {
        (table)
        @if !failed.is_empty() {
            (soft(say!(
                language,
                "Not scored, because not every engine has a fit. {}",
                "当てはめのないエンジンがあるため採点なし。{}",
                failed.join(" ")
            )))
        }
    }
}

/// The scores of the chosen model for every engine.
fn engines<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, Option<&'a Scores>)> {
    type Row<'a> = (&'a EngineResult, Option<&'a Scores>);
    fn cell<'a>(show: impl Fn(&Scores) -> Option<String> + 'a) -> impl Fn(&Row<'_>) -> String + 'a {
        move |(_, scores)| or_dash(scores.and_then(&show), |shown| shown)
    }
    let calibrated = page.results_by_size().into_iter().filter(|r| r.calibration.is_some());
    Table::new(
        page.language,
        page.choose("forecasts of unseen games by the chosen model", "選んだモデルによる未知の対局の予測"),
        calibrated.map(|r| (r, r.validated.as_ref().map(|v| &v.scores))),
    )
    .text(page.choose("engine", "エンジン"), |(r, _)| r.name.clone())
    .number(page.choose("samples", "標本"), cell(|s| Some(thousands(s.samples))))
    .number(page.choose("log loss", "対数損失"), cell(|s| Some(estimate(&s.log_loss, 3))))
    .number(page.choose("slope", "傾き"), cell(|s| Some(estimate(&s.slope?, 2))))
    .number(page.choose("intercept", "切片"), cell(|s| Some(estimate(&s.intercept?, 2))))
    .number(page.choose("calibration error", "較正誤差(ECE)"), cell(|s| Some(estimate(&s.ece, 3))))
    .number("Spiegelhalter z", cell(|s| Some(number(s.spiegelhalter?.z_clustered, 2))))
    .number("Brier", cell(|s| Some(estimate(&s.brier, 3))))
    .number(page.choose("miscalibration", "誤較正"), cell(|s| Some(estimate(&s.decomposition.miscalibration, 4))))
    .number(page.choose("discrimination", "識別力"), cell(|s| Some(estimate(&s.decomposition.discrimination, 3))))
    .number(page.choose("uncertainty", "不確実性"), cell(|s| Some(estimate(&s.decomposition.uncertainty, 3))))
}

/// The rates that engines declare beside their calibrations.
fn declared<'a>(page: &Page<'a>) -> Table<'a, &'a DeclaredScores> {
    Table::new(
        page.language,
        page.choose(
            "declared rates and the chosen model on the same samples",
            "宣言された勝率と選んだモデル(同じ標本)",
        ),
        page.diagnosis.declared.iter(),
    )
    .text(page.choose("engine", "エンジン"), |d| d.engine.clone())
    .number(page.choose("samples", "標本"), |d| thousands(d.declared.samples))
    .number(page.choose("log loss declared", "対数損失(宣言)"), |d| estimate(&d.declared.log_loss, 4))
    .number(page.choose("calibrated", "較正"), |d| estimate(&d.calibrated.log_loss, 4))
    .number(page.choose("difference", "差"), |d| signed(&d.difference))
    .number(page.choose("Brier declared", "Brier(宣言)"), |d| estimate(&d.declared.brier, 4))
    .number(page.choose("calibrated", "較正"), |d| estimate(&d.calibrated.brier, 4))
    .number(page.choose("slope declared", "傾き(宣言)"), |d| or_dash(d.declared.slope, |e| estimate(&e, 2)))
    .number(page.choose("intercept declared", "切片(宣言)"), |d| or_dash(d.declared.intercept, |e| estimate(&e, 2)))
    .number(page.choose("miscalibration declared", "誤較正(宣言)"), |d| {
        estimate(&d.declared.decomposition.miscalibration, 4)
    })
    .number(page.choose("draws declared − seen", "引き分け 宣言 − 実際"), |d| signed(&d.draws))
    .number(page.choose("draws seen", "引き分け 実際"), |d| number(d.draws_seen, 3))
}

/// `+0.0123 [+0.0100, +0.0150]`
fn signed(e: &Estimate) -> String {
    let one = |v: f64| if v > 0.0 { format!("+{}", number(v, 4)) } else { number(v, 4) };
    match e.interval {
        Some([low, high]) => format!("{} [{}, {}]", one(e.value), one(low), one(high)),
        None => format!("{} [{DASH}]", one(e.value)),
    }
}
