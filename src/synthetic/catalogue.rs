//! Operations of a seeded catalogue.

use serde_json::{Map, Value, json};

use super::random::Random;
use super::words::{FOREIGN, PARAMETERS, PARTS, RESOURCES, STOP_WORDS, VERBS, VOCABULARY, word};
use crate::catalog::{Annotations, Definition, Operation, Security};

/// A catalogue of `len` operations, a function of the seed.
///
/// Names in several styles (30 % camelCase), descriptions of 8 to 20 words drawn by Zipf's law from 30,000
/// with English stop words between, routes, an alternate route for 15 %, 3 to 10 arguments, 1 to 3 of up to
/// 5,000 tags, 1 to 5 declared terms for a fifth, a non-Latin word in 3 %.
#[derive(Debug)]
pub struct Catalogue {
    seed: u64,
    len: usize,
    vocabulary: Vec<String>,
    tags: usize,
}

impl Catalogue {
    /// The catalogue of a seed.
    pub fn new(seed: u64, len: usize) -> Self {
        Self {
            seed,
            len,
            vocabulary: (0..VOCABULARY).map(word).collect(),
            // A tag has about 400 operations at any size, until there are 5,000 tags.
            tags: (len / 200).clamp(4, 5_000),
        }
    }

    /// How many operations it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its operations in order.
    pub fn operations(&self) -> impl Iterator<Item = Operation> + '_ {
        (0..self.len).map(|at| self.operation(at))
    }

    /// The tag of a number.
    pub fn tag(&self, number: usize) -> String {
        let number = number % self.tags;
        let resource = RESOURCES[number % RESOURCES.len()];
        match number / RESOURCES.len() {
            0 => resource.to_owned(),
            group => format!("{} {}", self.vocabulary[group], resource),
        }
    }

    /// The operation at a position.
    pub fn operation(&self, at: usize) -> Operation {
        let mut random = Random::at(self.seed, at as u64);
        let verb = random.pick(&VERBS);
        let resource = RESOURCES[random.zipf(RESOURCES.len())];
        let part = random.pick(&PARTS);
        let name = name(&mut random, [verb, resource, part], at);
        let route = format!(
            "/v{}/{resource}s/{{{resource}Id}}/{part}s",
            random.between(1, 3)
        );
        let description = self.description(&mut random, verb, resource);
        let input_schema = self.input_schema(&mut random);
        let tags = (0..random.between(1, 3)).map(|_| self.tag(random.zipf(self.tags)));
        let tags: Vec<String> = tags.collect();
        let search_terms = if random.percent(20) {
            (0..random.between(1, 5))
                .map(|_| self.word(&mut random))
                .collect()
        } else {
            Vec::new()
        };
        let alternate_routes = if random.percent(15) {
            vec![format!("/{part}s/{resource}/{{id}}")]
        } else {
            Vec::new()
        };
        let method = match verb {
            "get" | "list" | "search" | "count" | "export" => "GET",
            "delete" => "DELETE",
            "update" | "replace" => "PUT",
            _ => "POST",
        };
        Operation {
            definition: Definition {
                name,
                description,
                input_schema,
                output_schema: None,
                annotations: Annotations::of_method(method),
                deprecated: random.percent(2),
            },
            tags,
            search_terms,
            route: Some(route),
            alternate_routes,
            grouped_parameters: Vec::new(),
            security: Security::default(),
            template: None,
        }
    }

    fn word(&self, random: &mut Random) -> String {
        self.vocabulary[random.zipf(VOCABULARY)].clone()
    }

    fn description(&self, random: &mut Random, verb: &str, resource: &str) -> String {
        let mut text = format!("{verb}s the {resource}");
        for _ in 0..random.between(8, 20) {
            text.push(' ');
            if random.percent(30) {
                text.push_str(STOP_WORDS[random.zipf(STOP_WORDS.len())]);
            } else {
                text.push_str(&self.vocabulary[random.zipf(VOCABULARY)]);
            }
        }
        if random.percent(3) {
            text.push(' ');
            text.push_str(random.pick(&FOREIGN));
        }
        text.push('.');
        text
    }

    fn input_schema(&self, random: &mut Random) -> Value {
        let mut properties = Map::new();
        for _ in 0..random.between(3, 10) {
            let kind = random.pick(&["string", "integer", "boolean", "array", "number"]);
            let mut schema = json!({"type": kind});
            if random.percent(50) {
                let text = format!(
                    "{} {} {}",
                    self.word(random),
                    self.word(random),
                    self.word(random)
                );
                schema["description"] = Value::String(text);
            }
            properties.insert(random.pick(&PARAMETERS).to_owned(), schema);
        }
        json!({"type": "object", "properties": properties})
    }
}

/// A name unique by its position, in one of the styles met in the wild.
fn name(random: &mut Random, words: [&str; 3], at: usize) -> String {
    let [verb, resource, part] = words;
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + chars.as_str()
        })
    };
    // A position in base 26 reads like a product's code name and keeps names apart.
    let mut code = String::new();
    let mut rest = at;
    loop {
        code.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
        if rest == 0 {
            break;
        }
    }
    match random.below(10) {
        0..=2 => format!(
            "{verb}{}{}{}",
            capital(resource),
            capital(part),
            capital(&code)
        ),
        3 => format!("{resource}-{verb}-{part}-{code}"),
        4 => format!("{resource}.{part}.{verb}.{code}"),
        _ => format!("{verb}_{resource}_{part}_{code}"),
    }
}
