//! The table of layers, and the test that holds the modules to it.
//!
//! A module imports only from a lower layer, by name. Unsafe code lives in the modules listed here,
//! and every other module forbids it. No file is longer than 900 lines. A module that stands in no
//! layer fails: say where it belongs. CONTRIBUTING.md explains the rules.

#![forbid(unsafe_code)]

#[path = "layers/lexer.rs"]
mod lexer;
#[path = "layers/paths.rs"]
mod paths;
#[path = "layers/rules.rs"]
mod rules;
#[path = "layers/samples.rs"]
mod samples;
#[path = "layers/tables.rs"]
mod tables;

use rules::{Crate, File, complaints};
use std::fs;
use std::path::Path;

const FOR_TESTS: &[&str] = &["tests", "models"];

const HOUSE: &[Crate] = &[
    Crate {
        source: "pool/src",
        layers: &[
            // base: what depends on nothing
            // what a harness hears, in builds for one
            &["base::sync::scheduled"],
            &["base::sync::locks"],
            &["base::sync", "base::sys", "base::unwind"],
            &[
                "base::barrier",
                "base::clock",
                "base::stats",
                "base::config",
            ],
            &["base::trace::event"],
            &["base::trace"],
            &["base::park", "base::patience", "base::row", "base::stop"],
            &["base"],
            // queue: jobs, and where they lie
            &["queue::steal", "queue::weight"],
            &[
                "queue::nested",
                "queue::spawned",
                "queue::injector",
                "queue::slab",
                "queue::latch",
            ],
            &["queue::job", "queue::kept"],
            &["queue"],
            // pace: what decides how work is spread, and acts on nothing
            &["pace::glance", "pace::profit"],
            &["pace::site_costs", "pace::wakes"],
            &["pace::loop_pace::view", "pace::whole"],
            &["pace::join_pace", "pace::loop_pace"],
            &["pace::start"],
            &["pace"],
            // seat: which thread holds which seat, and which ones sleep
            &[
                "seat::context",
                "seat::notes",
                "seat::thread_state",
                "seat::tokens",
                "seat::word",
            ],
            &["seat"],
            &["seat::sleep", "seat::looker"],
            &["seat::spares"],
            // work: threads on seats
            &["work::abroad", "work::lifetime", "work::place"],
            &["work::shared"],
            &["work::post", "work::end"],
            &["work::worker"],
            &["work::under", "work::choice"],
            &["work::find", "work::stand_in"],
            &["work::family"],
            &["work::wait"],
            &["work::kin", "work::idle", "work::attend"],
            &["work::guest", "work::thread"],
            &["work::errand"],
            &["work"],
            // verbs: what users call
            &["verbs::blocking", "verbs::pool"],
            &[
                "verbs::builder",
                "verbs::picture",
                "verbs::join",
                "verbs::broadcast",
            ],
            &["verbs::here"],
            &["verbs::sites"],
            &["verbs::loops", "verbs::scope"],
            &["verbs::spawn", "verbs::stop"],
            &["verbs::handle"],
            &["verbs::abort"],
            &["verbs::bounded"],
            &["verbs"],
        ],
        may_look_up: &[],
        may_be_unsafe: &[
            "base::sys",
            "base::park",
            "queue::nested",
            "queue::spawned",
            "queue::injector",
            "queue::slab",
            "queue::latch",
            "queue::kept",
            "queue::job",
            "work::worker",
            "work::find",
            "work::kin",
            "work::errand",
            "work::attend",
            "verbs::join",
            "verbs::scope",
            "verbs::spawn",
            "verbs::broadcast",
        ],
        for_tests: FOR_TESTS,
    },
    Crate {
        source: "iter/src",
        layers: &[
            // pipelines stand on the pool alone
            &["pipeline::hub", "pipeline::outcome"],
            &["pipeline::station"],
            &["pipeline::stages"],
            &["pipeline::engine", "pipeline::parallel"],
            &["pipeline::serial"],
            &["pipeline::build"],
            &["pipeline::ends"],
            &["pipeline::until"],
            &["pipeline"],
            &["readers::cut", "readers::error", "readers::view"],
            &["readers::blocks"],
            &["readers::walk"],
            &["readers::lines"],
            &["readers"],
            &["plumbing::traits", "order"],
            &["iter"],
            &["convert"],
            &["plumbing::fork", "plumbing::pace", "plumbing::looks"],
            &["plumbing::lazy"],
            &["plumbing::bridge"],
            &["plumbing::fixed"],
            &["plumbing"],
            &[
                "kit::gather",
                "kit::go_on",
                "kit::attempt",
                "kit::keep",
                "kit::sync",
            ],
            &["kit"],
            // sorts know nothing of iterators
            &["sort::leaf", "sort::flat"],
            &[
                "sort::fork",
                "sort::inplace",
                "sort::merge",
                "sort::nearly",
                "sort::scratch",
                "sort::shape",
                "sort::radix::word",
            ],
            &[
                "sort::dedup",
                "sort::parted",
                "sort::partition",
                "sort::permute",
                "sort::radix::extract",
                "sort::runs",
                "sort::spread",
                "sort::radix::alone",
                "sort::radix::cut",
            ],
            &[
                "sort::stable",
                "sort::unstable",
                "sort::radix::elements",
                "sort::radix::together",
            ],
            &["sort::select", "sort::radix::joined", "sort::radix::plain"],
            &[
                "sort::radix::key",
                "sort::radix::keyed",
                "sort::radix::counted",
                "sort::radix::strays",
            ],
            &["sort::radix::scattered"],
            &["sort::radix"],
            &["sort::strings", "sort::words"],
            &["sort::dispatch"],
            &["sort::cached"],
            &["sort::entry", "sort::api"],
            &["sort"],
            &["sinks::huge", "sinks::pair"],
            &["sinks::collect::fragments", "sinks::collect::in_place"],
            &["sinks::collect::text"],
            &["sinks::collect", "sinks::partition"],
            &[
                "sources::body",
                "sources::span",
                "sources::stretch",
                "sources::str::pattern",
                "sources::str::words",
                "sources::range::integer",
            ],
            &[
                "sources::kit",
                "sources::pieces",
                "sources::collections::as_vec",
                "sources::par_bridge::crew",
                "sources::par_bridge::turn",
            ],
            &["sources::character", "sources::par_bridge::line"],
            &[
                "sources::slice",
                "sources::empty",
                "sources::once",
                "sources::option",
                "sources::range",
            ],
            &["sources::str::numbered"],
            &[
                "sources::vec",
                "sources::str",
                "sources::par_bridge::batched",
                "sources::par_bridge::tap",
            ],
            &[
                "adapters::skip",
                "sources::collections::via_vec",
                "sources::collections::walk",
            ],
            &["sources", "adapters", "sinks", "smallest"],
            // made of what every program can write: the loops of sources, and where sinks put items
            &["scan::op"],
            &["scan::run"],
            &["scan::sweep", "scan::walk", "scan::inplace"],
            &["scan::adapter", "scan::slice"],
            &["scan"],
            // what is made of all of these
            &[
                "algorithms::scatter",
                "algorithms::moves",
                "algorithms::search",
                "algorithms::sets",
                "algorithms::flat",
                "algorithms::retain",
                "algorithms::accumulate",
                "algorithms::worklist",
                "algorithms::text",
                "algorithms::tiles",
            ],
            &["algorithms::random", "algorithms::grid"],
            &["algorithms::change", "algorithms::look"],
            &["algorithms"],
            &["prelude"],
        ],
        // the provided methods of one name the adapters; the other is a second face of the crate
        may_look_up: &["iter", "prelude"],
        may_be_unsafe: &[
            "sources::vec",
            "sources::character",
            "sinks::collect",
            "sinks::huge",
            "sort",
            // a vector closes ranks in place; elements change places through a spare vector
            "algorithms::retain",
            "algorithms::scatter",
            // a tile is no slice: its rows lie between those of others
            "algorithms::tiles",
        ],
        for_tests: FOR_TESTS,
    },
    Crate {
        source: "collections/src",
        layers: &[
            &[
                "sync",
                "pages",
                "hasher",
                "tag",
                "word",
                "parts",
                "tried",
                "map::reentry",
                "map::ahead",
                "map::given",
                "group::hot",
                "bits",
                "sorted",
            ],
            &[
                "vec::slab",
                "vec::turns",
                "map::chart",
                "map::lot",
                "map::records",
                "partition",
                "settle",
            ],
            &["farewell", "map::gate", "map::hazard"],
            &["map::table", "map::lock"],
            &[
                "vec::buckets",
                "map::shard",
                "foresight",
                "foretaste",
                "gather",
                "group::fold",
                "group::listing",
            ],
            &[
                "vec::iter",
                "map::concurrent",
                "map::published",
                "group::tally::spent",
                "group::firsts",
                "latest",
                "thinned",
            ],
            &[
                "vec::par_vec",
                "map::entry",
                "map::iter",
                "map::convert",
                "map::exclusive",
                "map::opened",
                "map::par",
            ],
            &["vec::par", "map::frozen", "map::held", "map::merge"],
            &["map::read_map"],
            &["vec", "map"],
            &["collect", "set", "group::tally::merging"],
            &["group::tally::condensing"],
            &["set::algebra", "group::tally::worker"],
            &["group::tally::consumer", "group::sift", "serde"],
            &["group::tally", "group::laying"],
            &["group::rows", "group::flat", "group::passed"],
            &["group::lookup", "group::aggregate", "group::distinct"],
            &["group::side", "group::probe"],
            &["group::join"],
            &["group"],
            &["prelude", "raw"],
        ],
        may_look_up: &[],
        // the slab is the raw storage of one bucket; pages asks the system for memory; settle has rows
        // of values with gaps, in which other jobs write
        may_be_unsafe: &[
            "pages",
            "vec::slab",
            "vec::buckets",
            "map::lock",
            // values that other threads may look at, without a lock, until they let go; records that live for ever
            "map::hazard",
            "map::records",
            "partition",
            "settle",
            // entries on their way from a table to their end
            "farewell",
        ],
        for_tests: FOR_TESTS,
    },
    Crate {
        source: "src",
        layers: &[
            &["guide", "progress", "timeline::spans"],
            &["timeline::lanes"],
            &["timeline::chrome"],
            &["timeline::svg", "timeline::report"],
            &["timeline", "prelude"],
        ],
        may_look_up: &[],
        may_be_unsafe: &[],
        for_tests: FOR_TESTS,
    },
    Crate {
        source: "cluster/src",
        layers: &[
            // what depends on nothing
            &["fault", "owner", "pieces", "stats", "travel"],
            &["link"],
            &["link::alone", "link::threads"],
            &["cluster"],
            &["launch", "shuffle"],
            &["link::mpi"],
            &["run", "deal", "vec"],
            &["iter", "sort", "source", "scan", "write"],
            &["map", "reduce", "fixed", "read", "join"],
            &["checkpoint"],
            &["group"],
            &["prelude"],
        ],
        may_look_up: &[],
        // the memory of plain values, and what rsmpi leaves to C
        may_be_unsafe: &["travel", "link::mpi"],
        for_tests: FOR_TESTS,
    },
    facade("compat/rayon/src"),
    facade("compat/rayon-core/src"),
];

/// A crate that re-exports and holds no modules of its own.
const fn facade(source: &'static str) -> Crate {
    Crate {
        source,
        layers: &[],
        may_look_up: &[],
        may_be_unsafe: &[],
        for_tests: FOR_TESTS,
    }
}

/// What a doc comment would say about a crate that users of tine do not add.
const INNER: [&str; 3] = ["tine_pool::", "tine_iter::", "tine_collections::"];

/// Packages that may be patched to run on the shims, so no crate below them may depend on them.
const CLIENTS: &[&str] = &["hashbrown", "indexmap", "indicatif", "ndarray"];

/// The greatest number of lines in a file.
const LINES: usize = 900;

#[test]
fn every_crate_keeps_its_layers() {
    let mut found = Vec::new();
    for house in HOUSE {
        let mut files = Vec::new();
        read(&root().join(house.source), "", &mut files);
        assert!(!files.is_empty(), "no source in {}", house.source);
        found.extend(complaints(house, &files));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn the_tables_that_people_read_are_these() {
    let copies = [
        ("ARCHITECTURE.md", "layers", tables::layers(HOUSE)),
        ("CONTRIBUTING.md", "unsafe", tables::unsafe_modules(HOUSE)),
    ];
    for (file, mark, table) in copies {
        let path = root().join(file);
        let page = fs::read_to_string(&path).unwrap();
        let right = tables::with_table(&page, mark, &table);
        let right = right.unwrap_or_else(|| panic!("{file} has no place for the table {mark:?}"));
        if std::env::var_os("TINE_WRITE_TABLES").is_some() {
            fs::write(&path, &right).unwrap();
            continue;
        }
        assert!(
            page == right,
            "{file}: the table {mark:?} is old; `TINE_WRITE_TABLES=1 cargo test --test layers \
             tables` writes this one:\n{table}"
        );
    }
}

#[test]
fn a_table_that_has_changed_is_seen() {
    let page = "a\n<!-- t: from tests/layers.rs -->\n\nold\n\n<!-- t: end -->\nb\n";
    let right = tables::with_table(page, "t", "new").unwrap();
    assert!(right != page && right.contains("new") && !right.contains("old"));
    assert_eq!(
        tables::with_table(&right, "t", "new").as_deref(),
        Some(&right[..])
    );
    assert_eq!(tables::with_table(page, "other", "new"), None);
}

#[test]
fn no_file_is_too_long() {
    let mut files = Vec::new();
    read(root(), "", &mut files);
    let lines = |file: &File| file.text.lines().count();
    let long: Vec<_> = files.iter().filter(|file| lines(file) > LINES).collect();
    let long: Vec<_> = long
        .iter()
        .map(|file| format!("{}: {}", file.path, lines(file)))
        .collect();
    assert!(files.len() > HOUSE.len(), "the sources were not found");
    assert!(
        long.is_empty(),
        "longer than {LINES} lines: {}",
        long.join(", ")
    );
}

#[test]
fn examples_name_the_crate_that_users_add() {
    let mut wrong = Vec::new();
    let mut right = 0;
    for below in ["pool", "iter", "collections", "cluster"] {
        let mut files = Vec::new();
        read(&root().join(below).join("src"), "", &mut files);
        for file in &files {
            for (at, line) in file.text.lines().enumerate() {
                let line = line.trim_start();
                let Some(text) = line.strip_prefix("///").or(line.strip_prefix("//!")) else {
                    continue;
                };
                right += usize::from(text.contains("use tine::"));
                if INNER.iter().any(|name| text.contains(name)) {
                    wrong.push(format!("{below}/src/{}:{}: {text}", file.path, at + 1));
                }
            }
        }
    }
    assert!(right > 300, "the examples were not found: {right}");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn nothing_below_the_shims_is_a_client_of_rayon() {
    for below in ["pool", "iter"] {
        let manifest = fs::read_to_string(root().join(below).join("Cargo.toml")).unwrap();
        let needs = dependencies(&manifest);
        assert!(
            !needs.is_empty(),
            "no dependency found in {below}/Cargo.toml"
        );
        let client = needs.iter().find(|need| CLIENTS.contains(&need.as_str()));
        assert_eq!(
            client, None,
            "{below}: a tree patched to the shims would be a cycle"
        );
    }
}

/// The dependencies of a published package, from its manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            let (_, last) = table.rsplit_once('.').unwrap_or(("", table));
            inside = matches!(last, "dependencies" | "build-dependencies");
            // [dependencies.name]
            let single = table
                .rsplit_once("dependencies.")
                .filter(|(kind, _)| *kind != "dev-");
            found.extend(single.map(|(_, name)| name.to_owned()));
        } else if inside && !line.starts_with('#') && !line.is_empty() {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.push(name.trim_matches('"').to_owned());
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below `directory`, each with its path from there after `prefix`.
fn read(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    let mut entries: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            if name != "target" && !name.starts_with('.') {
                read(&entry.path(), &format!("{path}/"), files);
            }
        } else if name.ends_with(".rs") {
            files.push(File {
                path,
                text: fs::read_to_string(entry.path()).unwrap(),
            });
        }
    }
}

#[test]
fn dependencies_are_found_in_every_spelling() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\nb.workspace = true\n\
        [dependencies.c]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\nd = { path = \"d\" }\n\
        [dev-dependencies]\ne = \"1\"\n[dev-dependencies.f]\nversion = \"1\"\n";
    assert_eq!(dependencies(manifest), ["a", "b", "c", "d"]);
}
