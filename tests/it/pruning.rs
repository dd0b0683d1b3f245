//! Pruned ranking at a size where blocks are skipped: equal to the naive scorer for every class of query,
//! filter, view and layout.

use sezzlee::access::{Caller, OnUnknown, View};
use sezzlee::catalog::{Operation, Security};
use sezzlee::index::{BuildOptions, Builder, Filter, Reader};
use sezzlee::search::{self, Query};
use sezzlee::synthetic::{Catalogue, Class, queries};

use super::naive::naive;

/// Six blocks of 256, in segments that end inside a block.
const OPERATIONS: usize = 1_500;

fn catalogue() -> Vec<Operation> {
    let mut operations: Vec<_> = Catalogue::new(5, OPERATIONS).operations().collect();
    for (at, operation) in operations.iter_mut().enumerate() {
        // One operation in 100 has an audience of its own, one in 3 another.
        let scope = match at {
            at if at % 100 == 7 => "rare",
            at if at % 3 == 0 => "common",
            _ => continue,
        };
        operation.security = Security::of_scopes(vec![scope.to_owned()]);
    }
    operations
}

fn build(operations: &[Operation], segments: usize, memory_bytes: usize) -> Reader {
    let mut builder = Builder::in_memory(BuildOptions {
        segments,
        memory_bytes,
        threads: None,
    });
    for operation in operations {
        builder.push(operation.clone()).unwrap();
    }
    builder.finish().unwrap().reader
}

fn rows(
    reader: &Reader,
    view: &View,
    text: &str,
    tags: &[String],
    limit: usize,
) -> Vec<(String, u64)> {
    let query = Query {
        text,
        tags,
        limit,
        vocabulary_limit: 0,
    };
    let page = search::run(reader, view, query).unwrap();
    let row = |hit: &sezzlee::index::Hit| {
        let card = reader.card(hit.document).unwrap();
        (
            String::from_utf8_lossy(card.name()).into_owned(),
            hit.score.to_bits(),
        )
    };
    page.hits.iter().map(|hit| row(hit.get())).collect()
}

#[test]
fn every_plan_ranks_like_the_naive_scorer() {
    let operations = catalogue();
    let readers = [
        build(&operations, 1, 1 << 30),
        build(&operations, 3, 100_000),
    ];
    let caller = |scopes: &[&str]| Caller {
        scopes: Some(scopes.iter().map(|&scope| scope.to_owned()).collect()),
    };
    // Everything, most, and (of "rare" only, with the open ones hidden by the naive side too) parts of it.
    let callers = [caller(&["rare", "common"]), caller(&["rare"]), caller(&[])];
    let held = |operation: &Operation, caller: &Caller| {
        let scopes = caller.scopes.as_ref().unwrap();
        operation.security.is_open()
            || operation.security.alternatives[0][0]
                .scopes
                .iter()
                .all(|scope| scopes.contains(scope))
    };
    let tag = |number: usize| Catalogue::new(5, OPERATIONS).tag(number);
    let filters: [Vec<String>; 4] = [vec![], vec![tag(0)], vec![tag(9)], vec![tag(0), tag(1)]];
    let mut compared = 0;
    for class in Class::ALL {
        for (number, query) in queries(11, class, 4).iter().enumerate() {
            // The naive scorer ranks the whole catalogue; visibility and tags only remove rows.
            let all = naive(&operations, query, &[], usize::MAX);
            for tags in &filters {
                let tagged = naive(&operations, query, tags, usize::MAX);
                for caller in &callers {
                    let visible = |name: &String| {
                        let operation = operations
                            .iter()
                            .find(|o| o.definition.name == *name)
                            .unwrap();
                        held(operation, caller)
                    };
                    let limit = [1, 20, 50][number % 3];
                    let want: Vec<(String, u64)> = if tags.is_empty() { &all } else { &tagged }
                        .iter()
                        .filter(|(name, _)| visible(name))
                        .take(limit)
                        .map(|(name, score)| (name.clone(), score.to_bits()))
                        .collect();
                    for reader in &readers {
                        let view = View::new(reader.audiences(), caller, OnUnknown::Show);
                        assert_eq!(
                            rows(reader, &view, query, tags, limit),
                            want,
                            "{query} {tags:?} {caller:?}"
                        );
                        compared += want.len();
                    }
                }
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

/// A caller who may see little is answered from the little there is, in names and in ranks.
#[test]
fn a_small_audience_is_walked_and_not_searched_for() {
    let operations = catalogue();
    let reader = build(&operations, 1, 1 << 30);
    let rare = reader
        .audiences()
        .iter()
        .position(|asked| *asked == Security::of_scopes(vec!["rare".to_owned()]))
        .unwrap();
    let shown: Vec<bool> = (0..reader.audiences().len()).map(|at| at == rare).collect();
    let filter = Filter {
        tags: &[],
        shown: &shown,
    };
    let names = |query: &str| -> Vec<String> {
        let hits = reader.top(query, filter, 50).unwrap();
        hits.iter()
            .map(|hit| reader.operation(hit.document).unwrap().0.definition.name)
            .collect()
    };
    let mut listed: Vec<String> = operations
        .iter()
        .filter(|o| !o.security.is_open() && o.security.alternatives[0][0].scopes[0] == "rare")
        .map(|o| o.definition.name.clone())
        .collect();
    listed.sort();
    assert_eq!(names(""), listed);
    let ranked: Vec<String> = naive(&operations, "get list the user", &[], usize::MAX)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| listed.contains(name))
        .collect();
    assert!(!ranked.is_empty());
    assert_eq!(names("get list the user"), ranked);
}

/// A million operations with equal text is a thousand here: ties go by name and nothing overflows.
#[test]
fn equal_texts_tie_by_name() {
    let template = Catalogue::new(5, 1).operation(0);
    let operations: Vec<Operation> = (0..1_000)
        .map(|at| {
            let mut operation = template.clone();
            // The same tokens in another spelling order of equal length.
            operation.definition.name = format!("order {at:04}");
            operation.definition.description = "order".to_owned();
            operation
        })
        .collect();
    let reader = build(&operations, 1, 1 << 30);
    let view = View::new(reader.audiences(), &Caller::anonymous(), OnUnknown::Show);
    let found = rows(&reader, &view, "order", &[], 50);
    let names: Vec<_> = found.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(
        names,
        (0..50)
            .map(|at| format!("order {at:04}"))
            .collect::<Vec<_>>()
    );
    assert!(found.iter().all(|(_, score)| *score == found[0].1));
}
