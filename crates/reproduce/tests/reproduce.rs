//! Computes all claims and figures of the papers again, and compares the verdicts with a fixed
//! list.

#[path = "../../math/tests/common/documents.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, reason = "each test uses its part")]
mod documents;

use documents::errata;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use truebloom_reproduce::{Chapter, Claim, Effort, Known, Paper, Verdict, report};

/// The simulations that the claims of Dozier et al. need, run once for all tests.
static SIMULATED: LazyLock<Known> = LazyLock::new(|| {
    let mut known = Known::new();
    Paper::Dozier.experiments(&Effort::CLAIMS, &|_, _| None, &mut known, 2, |_| true).expect("the paper's sizes are in range");
    known
});

fn claims(paper: Paper) -> Vec<Claim> {
    let known = if paper == Paper::Dozier { SIMULATED.clone() } else { Known::new() };
    paper.claims_of(&|_, _| None, &known).expect("the papers' sizes are in range")
}

/// The claims of a paper, grouped by verdict.
struct Verdicts<'a> {
    confirmed: &'a [&'a str],
    corrected: &'a [&'a str],
    refuted: &'a [&'a str],
}

impl Verdicts<'_> {
    fn hold(&self, paper: Paper) {
        let claims = claims(paper);
        let of = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).map(|claim| claim.id).collect::<Vec<_>>();
        assert_eq!(of(Verdict::Confirmed), self.confirmed);
        assert_eq!(of(Verdict::Corrected), self.corrected);
        assert_eq!(of(Verdict::Refuted), self.refuted);
    }
}

#[test]
fn burns() {
    let frozen = Verdicts {
        confirmed: &[
            "table-1-means",
            "e-below-m-below-s",
            "corollary-23",
            "figure-6-valley",
            "figure-7-order",
            "figure-7-best-classic",
            "figure-7-best-standard",
            "figure-7-estimate",
            "estimates-differ",
            "example-estimate-probes",
            "example-estimate-rate",
            "example-rate-standard",
            "example-best-standard",
            "example-rate-classic",
            "example-best-classic",
            "example-rate-standard-11",
            "example-rate-classic-11",
            "conjecture-24-full",
            "peak-of-m",
            "peak-of-e",
            "theorem-26",
            "figure-9-efficiency",
            "figure-9-items",
            "figure-9-probes",
            "corollary-27",
            "corollary-27-rate",
            "corollary-30-standard",
            "one-probe-alike",
            "remark-29-items",
            "figure-10-efficiency",
            "figure-10-items",
            "figure-10-probes",
            "corollary-30-grows",
            "corollary-30-classic",
            "theorem-31",
            "five-items-best-standard",
            "five-items-best-classic",
            "five-items-estimate",
            "five-items-rate-standard",
            "five-items-efficiency-standard",
            "five-items-rate-classic",
            "five-items-efficiency-classic",
            "half-full",
        ],
        corrected: &[
            "table-1-batches",
            "most-items",
            "least-bits",
            "best-rate-sign",
            "small-logarithm",
            "standard-peaks-fall",
            "conjecture-28-maximum",
            "remark-29-probes",
            "filters-of-one-item",
            "compressed",
            "valley-lowest",
            "five-items-order",
            "convergence",
        ],
        refuted: &["conjecture-24-lower", "conjecture-24-middle", "conjecture-24-upper", "conjecture-28-rises"],
    };
    frozen.hold(Paper::Burns);
}

#[test]
fn grandi() {
    let frozen = Verdicts {
        confirmed: &[
            "s1-a3-worst",
            "s1-best-standard",
            "s1-best-classic",
            "s1-least-standard",
            "s1-least-classic",
            "s1-least-difference",
            "s1-difference",
            "s1-difference-probes",
            "s2-a1-worst-probes",
            "s2-a2-worst-probes",
            "s2-a3-worst",
            "s2-best-standard",
            "s2-best-classic",
            "s2-least-standard",
            "s2-least-classic",
            "s2-difference-probes",
            "a3-better",
        ],
        corrected: &[
            "s1-a1-worst",
            "s1-a1-worst-probes",
            "s1-a2-worst",
            "s1-a2-worst-probes",
            "s1-a1-best",
            "s1-a2-best",
            "s1-a3-worst-probes",
            "s1-a3-best",
            "s2-a1-worst",
            "s2-a2-worst",
            "s2-a1-best",
            "s2-a2-best",
            "s2-a3-worst-probes",
            "s2-a3-best",
            "s2-least-difference",
            "s2-difference",
            "classic-higher",
        ],
        refuted: &["figure-1-order"],
    };
    frozen.hold(Paper::Grandi);
}

#[test]
fn lehr() {
    let frozen = Verdicts {
        confirmed: &[
            "first-throw",
            "sequence",
            "expectation",
            "expectation-exponential",
            "rate-exponential",
            "rate-known-fill",
            "families",
        ],
        corrected: &["rate"],
        refuted: &[],
    };
    frozen.hold(Paper::Lehr);
}

#[test]
fn kirsch_mitzenmacher() {
    let frozen = Verdicts {
        confirmed: &["theorem-6-2-upper", "best-probes", "limit", "queries", "figure-1-small", "figure-1-partition", "figure-2-mean"],
        corrected: &[
            "theorem-6-1-one-probe",
            "theorem-6-1",
            "theorem-6-1-composite",
            "theorem-6-1-double",
            "section-3",
            "negligible",
            "delta",
            "order",
            "theorem-9-1-depth",
            "section-9-2-copies",
            "theorem-9-1-product",
        ],
        refuted: &["theorem-6-2-lower", "theorem-6-3-lower"],
    };
    frozen.hold(Paper::KirschMitzenmacher);
}

#[test]
fn dozier() {
    let frozen = Verdicts {
        confirmed: &[
            "one-probe",
            "figure-3-one",
            "figure-3-two-excluded",
            "figure-4-bounds",
            "figure-4-tighter",
            "figure-4-exact",
            "figure-5-reduction",
            "figure-5-counted",
            "figure-7-one",
        ],
        corrected: &[
            "cycle",
            "figure-3-two",
            "figure-3-own-experiment",
            "figure-3-own-two-phases",
            "figure-6-reduction",
            "thirty-percent",
            "figure-7-match",
        ],
        refuted: &["figure-5-keeps"],
    };
    frozen.hold(Paper::Dozier);
}

/// Compares capacities and ratios with those of the reference, which were found by another program.
#[test]
fn recycling_capacities_are_those_of_the_reference() {
    let text = include_str!("../../math/tests/vectors/rbf_capacity.json");
    let reference: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let number = |value: &serde_json::Value| -> f64 { value.as_f64().or_else(|| value.as_str()?.parse().ok()).expect("a number") };
    let figures = Paper::Dozier.figures_of(&Effort::trials(2), &|_, _| None, &SIMULATED).expect("the paper's sizes are in range");
    assert_eq!(figures.iter().map(|figure| figure.rows.len()).collect::<Vec<_>>(), [27, 27, 27, 18, 8, 11, 33, 27, 27]);
    let find = |name: &str, first: f64| {
        let figure = figures.iter().find(|figure| figure.name == name).expect(name);
        figure.rows.iter().find(|row| row[0] == first).cloned()
    };
    let mut compared = 0;
    for row in reference["rows"].as_array().expect("rows") {
        let (bits, rate) = (number(&row["M"]), number(&row["p"]));
        let by_size = if rate == 0.01 { find("dozier-5", bits) } else { None };
        let by_rate = if bits == 100_000.0 { find("dozier-6", rate) } else { None };
        for ours in by_size.iter().chain(&by_rate) {
            let items = number(&row["sigma_design"]["N"]);
            assert_eq!([ours[1], ours[2]], [number(&row["fw"]["n"]), number(&row["fa"]["n"])], "{row}");
            assert!((ours[3] / items - 1.0).abs() < 1e-9, "{row}: {ours:?}");
            compared += 1;
        }
        let seventh = figures[6].rows.iter().find(|ours| ours[0] == bits && ours[1] == rate);
        if let Some(ours) = seventh {
            let items = number(&row["sigma_design"]["N"]);
            for (column, name) in [(2, "two_excl"), (3, "two_incl")] {
                assert!((ours[column] * number(&row[name]["N"]) / items - 1.0).abs() < 1e-9, "{name} {row}: {ours:?}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 14, "{compared}");
}

/// Tests with a fixed seed and 20 trials that simulated rates are within five standard errors of
/// their laws, or of the known brackets. The probability of a false alarm is about 1%: the error is
/// estimated from twenty shares, so five standard errors are a quantile of Student's distribution
/// with 19 degrees of freedom (8e-5 for each of 140 comparisons). A rate of the wrong scheme at c =
/// 16 and n = 100 is far outside.
#[test]
fn simulated_rates_agree_with_their_laws() {
    let (effort, mut known) = (Effort::trials(20), Known::new());
    Paper::KirschMitzenmacher.experiments(&effort, &|_, _| None, &mut known, 2, |_| true).expect("the paper's sizes are in range");
    let figures = Paper::KirschMitzenmacher.figures_of(&effort, &|_, _| None, &known).expect("the paper's sizes are in range");
    assert_eq!(figures[0].rows.len(), 28);
    let figure = &figures[0];
    let mut sharp = 0;
    for (number, row) in figure.rows.iter().enumerate() {
        for (rates, (_, methods)) in row[4..].chunks(5).zip(&figure.words) {
            let [simulated, error, law, lower, upper] = *rates else { panic!("five columns: {row:?}") };
            let room = 5.0 * error.max(1e-5);
            assert!(lower - room < simulated && simulated < upper + room, "{row:?}");
            // The law has a value only if its method is exact or validated. Otherwise, only the
            // bracket is known.
            let is_sharp = ["exact", "validated"].contains(&methods[number]);
            assert_eq!(law.is_finite(), is_sharp, "{row:?}");
            assert!(!is_sharp || lower <= law && law <= upper && upper - lower < 1e-3 * law, "{row:?}");
            sharp += usize::from(is_sharp);
        }
    }
    assert!((100..140).contains(&sharp), "{sharp}");
    // The table also says this: the value is missing, and the method is named.
    let csv = figure.csv();
    assert!(csv.starts_with("c,k,n,limit,standard simulated,standard error,standard law,standard lower,standard upper,"));
    let last: Vec<&str> = csv.lines().last().expect("rows").split(',').collect();
    assert_eq!((last.len(), last[29]), (34, "exact"));
    let open = csv.lines().find(|line| line.ends_with(",bound")).expect("a bracket");
    assert_eq!(open.split(',').nth(26), Some(""), "{open}");
    let smallest = figures[0].rows.iter().find(|row| row[0] == 16.0 && row[2] == 100.0).expect("is listed");
    assert!(smallest[9] - smallest[6] > 10.0 * smallest[10], "the partition scheme is not the standard one: {smallest:?}");
    let trials: f64 = figures[1].rows.iter().map(|row| row[3]).sum();
    assert_eq!(trials, 20.0);
}

/// Tests that every figure is drawn under the name of its paper, and that the page contains every
/// chart and claim and loads nothing from elsewhere.
#[test]
fn the_report_is_one_whole_page() {
    let mut chapters = Vec::new();
    for paper in [Paper::Grandi, Paper::Lehr] {
        let figures = paper.figures().expect("the papers' sizes are in range");
        let charts: Vec<(String, String)> = figures.iter().flat_map(|figure| figure.charts().expect("has points")).collect();
        assert!(charts.iter().all(|(name, svg)| name.starts_with(paper.name()) && svg.starts_with("<svg ") && svg.ends_with("</svg>\n")));
        chapters.push(Chapter { paper, claims: claims(paper), charts });
    }
    let page = report(&chapters, "by a test, with <no> trials");
    assert!(page.contains("with &lt;no&gt; trials") && page.ends_with("</html>\n"));
    assert_eq!((page.matches("<svg ").count(), page.matches("<style>").count()), (7, 1), "one style sheet for all charts");
    for chapter in &chapters {
        for claim in &chapter.claims {
            assert!(page.contains(&format!("<tr id=\"{}-{}\"><td class=\"{}\">", chapter.paper.name(), claim.id, claim.verdict.name())));
        }
    }
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!["http:", "https:", "src=", "href=", "url("].iter().any(|outside| elsewhere.contains(outside)));
}

/// Tests that claims use the same cells as figures: known numbers are not simulated again, but
/// damaged numbers are.
#[test]
fn claims_take_what_is_known() {
    let mut known = SIMULATED.clone();
    assert_eq!(known.keys().filter(|name| name.starts_with("dozier-3 one ")).count(), 27);
    // Of the 22 points that are read, three are damaged and six have wrong values.
    let damaged = [vec![], vec![0.5], vec![0.5, -1.0, 2.0]];
    for (probes, damaged) in [3, 5, 7].into_iter().zip(damaged) {
        let mut put =
            |sigma: u32, values| known.insert(format!("dozier-3 one k={probes} sigma={sigma} items=200000"), values).expect("was there");
        put(700, damaged);
        put(800, vec![0.6, 0.59, 0.61]);
        put(900, vec![0.6, 0.59, 0.61]);
    }
    let claims = Paper::Dozier.claims_of(&|_, _| None, &known).expect("the paper's sizes are in range");
    let claim = claims.iter().find(|claim| claim.id == "figure-3-one").expect("is listed");
    assert!(
        claim.verdict == Verdict::Refuted && claim.ours.starts_with("the rate is inside the interval at 16 of 22 points"),
        "{}",
        claim.ours
    );
}

#[test]
fn claims_are_well_formed() {
    let listed: BTreeSet<String> = errata().into_iter().map(|entry| entry.number).collect();
    for paper in Paper::ALL {
        assert_eq!(paper.name().parse::<Paper>(), Ok(paper));
        let claims = claims(paper);
        assert_eq!(claims.iter().map(|claim| claim.id).collect::<BTreeSet<_>>().len(), claims.len(), "names are unique");
        for claim in claims {
            assert!(claim.erratum.is_none_or(|row| listed.contains(row)), "{claim:?}");
            assert!(claim.erratum.is_some() || claim.verdict == Verdict::Confirmed, "{claim:?}");
            assert_eq!(claim.corrected.is_some(), claim.verdict == Verdict::Corrected, "{claim:?}");
        }
    }
    assert!("bloom".parse::<Paper>().is_err());
}

/// The script `crates/math/tests/faults/run.py --claims` writes the list: it applies faults, and
/// checks that each claim is overturned by one of them. This test only checks that the list has
/// exactly these claims, and names faults that exist. After adding a claim, run the script.
#[test]
fn every_claim_is_in_the_list_of_those_that_a_fault_overturned() {
    let list = include_str!("../../math/tests/faults/overturned.txt");
    let names = [include_str!("../../math/tests/faults/functions.txt"), include_str!("../../math/tests/faults/claims.txt")];
    let lines = names.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#'));
    let planted: BTreeSet<&str> = lines.filter_map(|line| Some(line.split_once(" ~ ")?.0)).collect();
    let mut overturned = BTreeSet::new();
    for (claim, faults) in list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")) {
        assert!(faults.split(", ").all(|fault| planted.contains(fault)), "{claim}: {faults}");
        overturned.insert(claim.to_owned());
    }
    let all = Paper::ALL.into_iter().flat_map(|paper| claims(paper).into_iter().map(move |claim| format!("{} {}", paper.name(), claim.id)));
    assert_eq!(overturned, all.collect::<BTreeSet<_>>());
}

#[test]
fn numbers_that_are_known_another_way() {
    // The values come from the reference analysis, by exact summation.
    for (paper, id, ours) in [
        (Paper::Burns, "five-items-rate-standard", "15.7121%"),
        (Paper::Burns, "example-rate-classic-11", "4.85097e-4"),
        (Paper::Grandi, "s1-least-standard", "0.0225391"),
        (Paper::Grandi, "s2-least-classic", "4.64233e-4"),
        (Paper::Grandi, "s2-difference", "151.297%"),
    ] {
        let claims = claims(paper);
        let claim = claims.iter().find(|claim| claim.id == id).expect(id);
        assert_eq!(claim.ours, ours, "{id}");
    }
}

#[test]
fn figures_are_tables_of_numbers() {
    let shapes = |paper: Paper| {
        let figures = paper.figures().expect("the papers' sizes are in range");
        for figure in &figures {
            assert!(figure.rows.iter().all(|row| row.len() == figure.columns.len() && row.iter().all(|value| value.is_finite())));
            let csv = figure.csv();
            let read = |line: &str| line.split(',').map(|cell| cell.parse().expect("a number")).collect::<Vec<f64>>();
            assert_eq!(csv.lines().skip(1).map(read).collect::<Vec<_>>(), figure.rows, "{} reads back", figure.name);
        }
        figures.iter().map(|figure| (figure.name, figure.rows.len(), figure.columns.len())).collect::<Vec<_>>()
    };
    let burns = [
        ("burns-table-1", 101, 3),
        ("burns-6", 40, 3),
        ("burns-7", 26, 6),
        ("burns-8", 16, 4),
        ("burns-9", 100, 21),
        ("burns-10", 100, 22),
    ];
    assert_eq!(shapes(Paper::Burns), burns);
    assert_eq!(shapes(Paper::Grandi), [("grandi-1-s1", 50, 6), ("grandi-1-s2", 50, 6)]);
    assert_eq!(shapes(Paper::Lehr), [("lehr-sequence", 61, 3), ("lehr-table", 24, 9), ("lehr-families", 32, 6)]);
}
