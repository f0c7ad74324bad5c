//! One page with all results: the claims with their verdicts, and the figures. The page needs no
//! other file.

use crate::{Claim, Paper, Verdict};
use std::fmt::Write;

/// One paper's part of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Chapter {
    /// The paper.
    pub paper: Paper,
    /// The claims of the paper.
    pub claims: Vec<Claim>,
    /// The charts of the paper. For each chart, there is a file name without an extension, and an
    /// SVG document.
    pub charts: Vec<(String, String)>,
}

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:#1F2328;background:#FFFFFF}\
h1{font-size:1.6rem}h2{margin-top:2.5rem;font-size:1.25rem}\
table{border-collapse:collapse;font-size:13px;width:100%}\
th,td{border-bottom:1px solid #D6DCE2;padding:.35rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}\
td:nth-child(2){white-space:nowrap}\
.confirmed{color:#116622}.corrected{color:#966B00}.refuted{color:#B3261E}\
td.confirmed,td.corrected,td.refuted{font-weight:600;white-space:nowrap}\
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,34rem),1fr));gap:1rem;margin:1rem 0}\
figure{margin:0;border:1px solid #D6DCE2;border-radius:6px;overflow:hidden}figure svg{display:block;width:100%;height:auto}\
@media (prefers-color-scheme:dark){body{color:#E6EAEE;background:#0F1419}th,td,figure{border-color:#333C46}.confirmed{color:#8FD694}.corrected{color:#EFB83A}.refuted{color:#FF8A80}}";

/// A text near the beginning of every report. Programs use it to tell reports from other pages
/// before they overwrite a file.
pub const MARK: &str = "<meta name=\"generator\" content=\"truebloom reproduce\">";

/// Returns the whole report as one HTML page. `how` is a text for the page. It says which command
/// made the report, and how much was simulated.
#[must_use]
pub fn report(chapters: &[Chapter], how: &str) -> String {
    let charts = truebloom_plot::page_style();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{MARK}\n\
         <title>The papers, computed again</title>\n<style>{STYLE}{charts}</style>\n</head>\n<body>\n<h1>The papers, computed again</h1>\n<p>{}</p>\n",
        escaped(how)
    );
    page.push_str(
        "<p>A claim is <b class=\"confirmed\">confirmed</b> if our number agrees with every printed digit, or if the statement held in all cases that the claim lists. It is \
         <b class=\"corrected\">corrected</b> if it is wrong as printed, but the corrected form in the last column is confirmed. It is <b class=\"refuted\">refuted</b> if it is wrong as printed, and no corrected form is confirmed. \
         Labels in brackets, such as [B19], name entries of docs/ERRATA.md; each entry has a test. The figures have the light or dark colours of the page. The CSV file with the name of a figure has its numbers.</p>\n",
    );
    for chapter in chapters {
        write_chapter(&mut page, chapter);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn notation_item(term: &str, meaning: &str) -> String {
    format!("<li><b>{}</b>: {}</li>", escaped(term), escaped(meaning))
}

fn write_chapter(page: &mut String, chapter: &Chapter) {
    let counts = Verdict::ALL.map(|verdict| {
        let count = chapter.claims.iter().filter(|claim| claim.verdict == verdict).count();
        format!("<span class=\"{}\">{count} {verdict}</span>", verdict.name())
    });
    let notation: Vec<String> = chapter.paper.notation().iter().map(|(term, meaning)| notation_item(term, meaning)).collect();
    // Writing to a text cannot fail.
    let _ = writeln!(
        page,
        "<h2 id=\"{}\">{}</h2>\n<p>{} claims: {}.</p>\n<ul>{}</ul>",
        chapter.paper.name(),
        escaped(chapter.paper.title()),
        chapter.claims.len(),
        counts.join(", "),
        notation.concat()
    );
    page.push_str("<div class=\"charts\">\n");
    for (name, svg) in &chapter.charts {
        let _ = writeln!(page, "<figure id=\"{name}\">{}</figure>", truebloom_plot::without_style(svg));
    }
    page.push_str("</div>\n<table>\n<thead><tr><th>verdict</th><th>where</th><th>claim or number</th><th>printed</th><th>ours</th><th>reason</th></tr></thead>\n<tbody>\n");
    for claim in &chapter.claims {
        let verdict = claim.verdict.name();
        let cells = [claim.place, claim.text, claim.printed, &claim.ours, &reason(claim)].map(|cell| format!("<td>{}</td>", escaped(cell)));
        let _ = writeln!(
            page,
            "<tr id=\"{}-{}\"><td class=\"{verdict}\">{verdict}</td>{}</tr>",
            chapter.paper.name(),
            claim.id,
            cells.concat()
        );
    }
    page.push_str("</tbody>\n</table>\n");
}

/// The reason for the verdict, in a few words.
fn reason(claim: &Claim) -> String {
    let erratum = claim.erratum.map_or(String::new(), |row| format!(" [{row}]"));
    match (claim.verdict, claim.corrected) {
        (Verdict::Corrected, Some(corrected)) => format!("corrected: {corrected}{erratum}"),
        (Verdict::Refuted, _) => format!("our result contradicts the claim{erratum}"),
        (_, _) if claim.printed.ends_with(|c: char| c.is_ascii_digit() || c == '%') => format!("all printed digits agree{erratum}"),
        _ => format!("held as stated{erratum}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
