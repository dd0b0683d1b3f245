//! A naive scorer, written from the specification's page on search alone, and the property that holds
//! the engine to it bit for bit.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::access::{Caller, OnUnknown, View};
use sezzlee::catalog::{Annotations, Definition, Operation, Security};
use sezzlee::index::{BuildOptions, Builder, Reader};
use sezzlee::search::{self, Query};
use sezzlee::text::{fold, tokens};

/// A weighted list of the tokens of each text of an operation, by the table of fields.
fn weighted_tokens(operation: &Operation) -> Vec<(f64, String)> {
    let mut all = Vec::new();
    let mut add = |weight: f64, text: &str| {
        all.extend(tokens(text).into_iter().map(|token| (weight, token)));
    };
    add(3.0, &operation.definition.name);
    add(1.5, &operation.definition.description);
    operation
        .search_terms
        .iter()
        .for_each(|text| add(1.5, text));
    operation.tags.iter().for_each(|text| add(1.0, text));
    operation.route.iter().for_each(|text| add(1.0, text));
    operation
        .alternate_routes
        .iter()
        .for_each(|text| add(1.0, text));
    if let Some(properties) = operation
        .definition
        .input_schema
        .get("properties")
        .and_then(Value::as_object)
    {
        for (key, property) in properties {
            add(1.0, key);
            if let Some(description) = property.get("description").and_then(Value::as_str) {
                add(1.0, description);
            }
            if operation.grouped_parameters.contains(key)
                && let Some(members) = property.get("properties").and_then(Value::as_object)
            {
                for (member, schema) in members {
                    add(1.0, &format!("{key}.{member}"));
                    if let Some(description) = schema.get("description").and_then(Value::as_str) {
                        add(1.0, description);
                    }
                }
            }
        }
    }
    all
}

fn matches(query: &str, token: &str) -> bool {
    if query.chars().count() >= 3 {
        token.starts_with(query)
    } else {
        token == query
    }
}

/// Names and scores, best first.
pub(crate) fn naive(
    operations: &[Operation],
    query: &str,
    tags: &[String],
    limit: usize,
) -> Vec<(String, f64)> {
    let documents: Vec<_> = operations.iter().map(weighted_tokens).collect();
    let n = operations.len() as f64;
    let lengths: Vec<f64> = documents
        .iter()
        .map(|d| d.iter().map(|(w, _)| w).sum())
        .collect();
    let average = lengths.iter().sum::<f64>() / n;
    let mut distinct = Vec::new();
    for token in tokens(query) {
        if !distinct.contains(&token) && distinct.len() < 64 {
            distinct.push(token);
        }
    }
    let (k1, b) = (1.2, 0.75);
    let mut scores = vec![0.0f64; operations.len()];
    for token in &distinct {
        let tfs: Vec<f64> = documents
            .iter()
            .map(|d| {
                d.iter()
                    .filter(|(_, t)| matches(token, t))
                    .map(|(w, _)| w)
                    .sum()
            })
            .collect();
        let df = tfs.iter().filter(|tf| **tf > 0.0).count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for (score, (tf, len)) in scores.iter_mut().zip(tfs.iter().zip(&lengths)) {
            if *tf > 0.0 {
                *score += idf * ((tf * (k1 + 1.0)) / (tf + k1 * ((1.0 - b) + (b * len) / average)));
            }
        }
    }
    let wanted: HashSet<String> = tags.iter().map(|tag| fold(tag)).collect();
    let mut rows: Vec<_> = operations
        .iter()
        .zip(scores)
        .filter(|(_, score)| distinct.is_empty() || *score != 0.0)
        .filter(|(operation, _)| {
            let own: HashSet<String> = operation.tags.iter().map(|tag| fold(tag)).collect();
            wanted.is_subset(&own)
        })
        .map(|(operation, score)| (operation.definition.name.clone(), score))
        .collect();
    rows.sort_by(|a, b| {
        b.1.total_cmp(&a.1)
            .then_with(|| a.0.chars().cmp(b.0.chars()))
    });
    rows.truncate(limit);
    rows
}

pub(crate) fn build(operations: &[Operation], segments: usize) -> Reader {
    let mut builder = Builder::in_memory(BuildOptions {
        segments,
        memory_bytes: 64 << 10,
        threads: None,
    });
    for operation in operations {
        builder.push(operation.clone()).unwrap();
    }
    builder.finish().unwrap().reader
}

pub(crate) fn engine(
    reader: &Reader,
    query: &str,
    tags: &[String],
    limit: usize,
) -> Vec<(String, f64)> {
    let view = View::new(reader.audiences(), &Caller::anonymous(), OnUnknown::Show);
    let query = Query {
        text: query,
        tags,
        limit,
        vocabulary_limit: 200,
    };
    let page = search::run(reader, &view, query).unwrap();
    let rows = page.hits.iter().map(|hit| {
        let hit = hit.get();
        let card = reader.card(hit.document).unwrap();
        (String::from_utf8(card.name().to_vec()).unwrap(), hit.score)
    });
    rows.collect()
}

pub(crate) fn operation(tool: &Value) -> Operation {
    let strings = |key: &str| -> Vec<String> {
        let list = tool
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        list.iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    Operation {
        definition: Definition {
            name: tool["name"].as_str().unwrap().to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            input_schema: tool.get("inputSchema").cloned().unwrap_or(Value::Null),
            output_schema: None,
            annotations: Annotations(Map::new()),
            deprecated: false,
        },
        tags: strings("tags"),
        search_terms: strings("searchTerms"),
        route: tool.get("route").and_then(Value::as_str).map(str::to_owned),
        alternate_routes: strings("alternateRoutes"),
        grouped_parameters: strings("groupedParameters"),
        security: Security::default(),
        template: None,
    }
}

/// The fixture's orders are exact, its scores within 1e-9 relative (logarithms differ by platform).
#[test]
fn search_fixture() {
    for case in super::fixtures::cases("search.json") {
        let input = &case["input"];
        let operations: Vec<_> = input["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(operation)
            .collect();
        let query = input["query"].as_str().unwrap();
        let limit = usize::try_from(input["limit"].as_u64().unwrap()).unwrap();
        let tags: Vec<String> = input
            .get("tags")
            .and_then(Value::as_array)
            .map(|tags| {
                tags.iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default();
        for segments in [1, 3] {
            let found = engine(&build(&operations, segments), query, &tags, limit);
            let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(
                json!(names),
                case["expected"]["names"],
                "{}",
                case["description"]
            );
            let Some(scores) = case["expected"].get("scores").and_then(Value::as_array) else {
                continue;
            };
            for ((_, found), want) in found.iter().zip(scores) {
                let want = want.as_f64().unwrap();
                assert!(
                    (found - want).abs() <= 1e-9 * want.abs(),
                    "{}: {found} {want}",
                    case["description"]
                );
            }
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(get|list|order|orders|ord|or|user|users|usr|id|invoice|in|s|status|statuses)",
        2 => "[a-c]{1,5}",
        1 => "[A-Za-zéşİß订单ऑर्डर]{1,6}",
    ]
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec((word(), "[ _.A-]"), words)
        .prop_map(|parts| parts.into_iter().map(|(word, gap)| word + &gap).collect())
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let tag = "(Orders|orders|Sipariş|siparis|Order Notes|b)";
    (
        text(1..3),
        text(0..9),
        prop::collection::vec(text(0..3), 0..2),
        prop::collection::vec(tag.prop_map(String::from), 0..4),
        prop::option::of(text(0..4)),
        prop::collection::vec((text(1..3), prop::option::of(text(0..4))), 0..4),
        any::<bool>(),
    )
        .prop_map(
            |(name, description, search_terms, tags, route, parameters, grouped)| {
                let properties: Map<String, Value> = parameters
                    .into_iter()
                    .map(|(key, description)| {
                        let member = json!({"type": "string", "description": description});
                        let mut schema = json!({"type": "object", "properties": {"inner": member}});
                        if let Some(description) = description {
                            schema["description"] = json!(description);
                        }
                        (key, schema)
                    })
                    .collect();
                let grouped_parameters = if grouped {
                    properties.keys().take(1).cloned().collect()
                } else {
                    Vec::new()
                };
                Operation {
                    definition: Definition {
                        name,
                        description,
                        input_schema: json!({"type": "object", "properties": properties}),
                        output_schema: None,
                        annotations: Annotations::default(),
                        deprecated: false,
                    },
                    tags,
                    search_terms,
                    route: route.clone(),
                    alternate_routes: route.into_iter().collect(),
                    grouped_parameters,
                    security: Security::default(),
                    template: None,
                }
            },
        )
}

fn catalogue() -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(any_operation(), 0..40).prop_map(|operations| {
        let mut names = HashSet::new();
        operations
            .into_iter()
            .filter(|o| names.insert(o.definition.name.clone()))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_equals_the_naive_scorer_bit_for_bit(
        operations in catalogue(),
        queries in prop::collection::vec(text(0..7), 1..6),
        tags in prop::collection::vec("(Orders|SIPARIS|order notes|nobody)".prop_map(String::from), 0..2),
        limit in 0usize..50,
        segments in 1usize..5,
    ) {
        let reader = build(&operations, segments);
        for query in &queries {
            for tags in [&tags[..], &[]] {
                let want = naive(&operations, query, tags, limit);
                let found = engine(&reader, query, tags, limit);
                let bits = |rows: &[(String, f64)]| -> Vec<(String, u64)> {
                    rows.iter().map(|(name, score)| (name.clone(), score.to_bits())).collect()
                };
                prop_assert_eq!(bits(&found), bits(&want), "query {:?} tags {:?}", query, tags);
            }
        }
    }

    #[test]
    fn explanations_add_up_to_the_score(operations in catalogue(), query in text(1..6), segments in 1usize..4) {
        let reader = build(&operations, segments);
        let view = View::new(reader.audiences(), &Caller::anonymous(), OnUnknown::Show);
        for (name, score) in engine(&reader, &query, &[], 50) {
            let explained = search::explain(&reader, &view, &query, &name).unwrap().unwrap();
            let explained = explained.get();
            if score > 0.0 {
                prop_assert_eq!(explained.score.to_bits(), score.to_bits());
            }
            for token in &explained.tokens {
                // Summed from 0: the sum of nothing is -0 otherwise.
                let tf = token.fields.iter().fold(0.0, |tf, (field, count)| {
                    tf + f64::from(field.weight2() * count) / 2.0
                });
                prop_assert_eq!(tf.to_bits(), token.tf.to_bits());
            }
        }
    }
}
