//! How much of a definition is published: all of it, or what is left after the steps of the size rule.
//!
//! Owns: the limit, and choosing the first step that fits (ingestion.md, "Size"). Decides before anything is copied: no
//! more than about the limit of any operation's schemas is ever held. Must never cut what a required path of
//! the input needs, nor anything of a root.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::cut::{Cutter, needed, root_floor_bytes};
use super::graph::{Graph, Node, check_cycles};
use super::steps::{Gone, Level, Limits, Reduced, levels};
use super::{Direction, Draft, Use};
use crate::catalog::DiagnosticCode;
use crate::catalog::document::Document;
use crate::catalog::finding::Finding;
use crate::json::{Pointer, canonical_len};

/// No limit of an operator's is above this: every operation of a document is held whole while it is made,
/// and no agent reads more.
pub(crate) const DEFINITION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What an answer of the default budget (262,144 bytes, answers.md) can hold with what stands around it.
/// A definition over this, and over the operator's limit, could never be loaded.
const LOADABLE_BYTES_MAX: usize = 256_000;

/// What `,"$defs":{}` adds, less the comma that the last definition does not have.
const DEFINITIONS_BYTES: usize = 10;

/// What `,"outputSchema":` adds.
const OUTPUT_BYTES: usize = 16;

/// Copying a schema costs this much less than publishing it counts, in the sum over a document.
const WORK_SHARE: usize = 16;

/// The schemas of one operation as they are published.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    /// What counts for the sum over the document.
    pub(crate) bytes: usize,
    /// What was odd, and what was left out.
    pub(crate) warnings: Vec<Finding>,
}

/// Fits the schemas of an operation into its definition, whose other members have some bytes. `at` is where
/// the operation stands.
pub(crate) fn fit(
    document: &Document,
    limits: Limits,
    at: &Pointer,
    other_bytes: usize,
    input: Draft,
    output: Option<Draft>,
) -> Result<Fitted, Finding> {
    let bytes_max = limits.bytes_max.min(DEFINITION_BYTES_MAX);
    let cap = bytes_max.max(LOADABLE_BYTES_MAX);
    let mut report = Reduced::default();
    let mut warnings = Vec::new();
    let left = bytes_max.saturating_sub(other_bytes);
    let mut input = Side::new(document, limits, input, left)?;
    let mut bytes = input.work();
    let whole = input.try_level(document, 0, left)?;
    let for_output = match &whole {
        Some(made) => left.saturating_sub(made.bytes),
        None => 0,
    };
    let mut published_output = None;
    if let Some(draft) = output {
        bytes += draft.root_bytes();
        match fit_output(document, limits, draft, for_output) {
            Ok(Some((made, level, work))) => {
                bytes += made.bytes + work;
                warnings.extend(made.warnings);
                report.output = level;
                published_output = Some(made.schema);
            }
            Ok(None) => report.output = Some(Gone::All),
            Err(fault) => warnings.push(Finding {
                message: format!("{}; the output schema is left out", fault.message),
                ..fault
            }),
        }
    }
    let made = match whole {
        Some(made) => made,
        None => fit_input(document, &mut input, left, cap, &mut report)?,
    };
    bytes += made.bytes + input.work();
    warnings.splice(0..0, made.warnings);
    let total = other_bytes + made.bytes;
    if published_output.is_none() && total > cap {
        return Err(too_large(at, total, cap));
    }
    if let Some(message) = report.message(
        bytes_max,
        (published_output.is_none() && total > bytes_max).then_some(total),
    ) {
        warnings.push(Finding::new(DiagnosticCode::SchemaReduced, at, message));
    }
    Ok(Fitted {
        input: made.schema,
        output: published_output,
        bytes,
        warnings,
    })
}

/// The output schema at the first level that fits, none when it has to go.
fn fit_output(
    document: &Document,
    limits: Limits,
    draft: Draft,
    budget: usize,
) -> Result<Option<(Made, Option<Gone>, usize)>, Finding> {
    let budget = budget.saturating_sub(OUTPUT_BYTES);
    if draft.root_bytes() > budget {
        return Ok(None);
    }
    let mut side = Side::new(document, limits, draft, budget)?;
    for number in 0..side.levels.len() {
        if let Some(made) = side.try_level(document, number, budget)? {
            let gone = (number > 0).then(|| side.gone(number, made.cut));
            return Ok(Some((made, gone, side.work())));
        }
    }
    Ok(None)
}

/// The input schema at the first level that fits, or at the last one.
fn fit_input(
    document: &Document,
    side: &mut Side,
    budget: usize,
    cap: usize,
    report: &mut Reduced,
) -> Result<Made, Finding> {
    side.protect(document, cap)?;
    // Where the operator's own limits leave no step, the first is the last.
    for number in 1.min(side.levels.len() - 1)..side.levels.len() {
        let is_last = number + 1 == side.levels.len();
        let budget = if is_last { cap } else { budget };
        if let Some(made) = side.try_level(document, number, budget)? {
            report.input = Some(side.gone(number, made.cut));
            return Ok(made);
        }
    }
    Err(too_large(&side.draft.at, side.root_bytes, cap))
}

fn too_large(at: &Pointer, bytes: usize, cap: usize) -> Finding {
    Finding::new(
        DiagnosticCode::DefinitionTooLarge,
        at,
        format!(
            "what cannot be left out of the definition has over {cap} bytes ({bytes} or more), which no answer holds; split the operation"
        ),
    )
}

/// One schema of a definition with what is needed to decide how much of it is published.
struct Side {
    draft: Draft,
    graph: Graph,
    root_bytes: usize,
    /// The fewest bytes the root can have; found when references are to be cut.
    root_floor: Option<usize>,
    levels: Vec<Level>,
    /// Names of definitions that are never cut.
    protected: HashSet<String>,
    /// Those of them that are deeper than the graph goes.
    beyond: HashMap<String, Node>,
    /// How many bytes were copied to no avail.
    copied: usize,
}

/// A schema as it would be published.
struct Made {
    schema: Value,
    bytes: usize,
    warnings: Vec<Finding>,
    /// How many references were cut.
    cut: usize,
}

impl Side {
    fn new(
        document: &Document,
        limits: Limits,
        draft: Draft,
        budget: usize,
    ) -> Result<Self, Finding> {
        let root_bytes = draft.root_bytes();
        if root_bytes > DEFINITION_BYTES_MAX {
            return Err(too_large(&draft.at, root_bytes, DEFINITION_BYTES_MAX));
        }
        let graph = Graph::gather(
            document,
            draft.direction,
            &draft.uses,
            limits.depth_max.unwrap_or(usize::MAX),
            budget.saturating_sub(root_bytes),
        )?;
        let levels = levels(limits, draft.direction);
        let mut side = Self {
            draft,
            graph,
            root_bytes,
            root_floor: None,
            levels,
            protected: HashSet::new(),
            beyond: HashMap::new(),
            copied: 0,
        };
        if limits.depth_max.is_some() && side.draft.direction == Direction::Input {
            side.protect(document, DEFINITION_BYTES_MAX)?;
        }
        Ok(side)
    }

    /// What making it cost, as far as it counts.
    fn work(&mut self) -> usize {
        (std::mem::take(&mut self.copied) + std::mem::take(&mut self.graph.looked_at)) / WORK_SHARE
    }

    /// The schema at a level, when it is within a budget.
    fn try_level(
        &mut self,
        document: &Document,
        number: usize,
        budget: usize,
    ) -> Result<Option<Made>, Finding> {
        let Some(&level) = self.levels.get(number) else {
            return Ok(None);
        };
        let cuts = match level.depth_max {
            Some(depth) => !self.graph.is_whole || self.deepest() > depth,
            None if self.graph.is_whole => false,
            // Not all of it is even known: it is larger than the budget.
            None => return Ok(None),
        };
        if cuts {
            self.try_cut(document, level, budget)
        } else {
            self.try_whole(level, budget)
        }
    }

    fn deepest(&self) -> usize {
        self.graph.nodes.last().map_or(0, |node| node.depth)
    }

    /// The schema with all its definitions.
    fn try_whole(&mut self, level: Level, budget: usize) -> Result<Option<Made>, Finding> {
        let nodes = &self.graph.nodes;
        let definitions: usize = if level.is_bare {
            nodes.iter().map(Node::bare_bytes).sum()
        } else {
            nodes.iter().map(Node::bytes).sum()
        };
        let around = if nodes.is_empty() {
            0
        } else {
            DEFINITIONS_BYTES
        };
        let bytes = self.root_bytes + around + definitions;
        if bytes > budget {
            return Ok(None);
        }
        check_cycles(nodes.iter())?;
        let mut all = Map::new();
        let mut warnings = std::mem::take(&mut self.draft.warnings);
        for node in nodes {
            let Ok(schema) = &node.converted.schema else {
                continue;
            };
            let schema = if level.is_bare {
                Cutter::bare().schema(schema)
            } else {
                schema.clone()
            };
            all.insert(node.converted.name.clone(), schema);
            warnings.extend(node.converted.warnings.iter().cloned());
        }
        Ok(Some(Made {
            schema: with_definitions(std::mem::take(&mut self.draft.root), all),
            bytes,
            warnings,
            cut: 0,
        }))
    }

    /// The schema without the definitions below the level's depth.
    fn try_cut(
        &mut self,
        document: &Document,
        level: Level,
        budget: usize,
    ) -> Result<Option<Made>, Finding> {
        let depth = level.depth_max.unwrap_or(usize::MAX);
        if depth > self.graph.complete_depth {
            return Ok(None);
        }
        let root_floor = match self.root_floor {
            Some(known) => known,
            None => *self.root_floor.insert(root_floor_bytes(&self.draft.root)),
        };
        let keeps = |name: &str| self.kept(name, depth).is_some();
        let definitions = self.graph.nodes.iter();
        let floor: usize = definitions
            .filter(|node| keeps(&node.converted.name))
            .map(Node::floor_bytes)
            .sum();
        if root_floor + floor > budget {
            return Ok(None);
        }
        let direction = self.draft.direction;
        let targets = self.targets();
        let type_of = |name: &str| {
            let at = targets.get(name)?;
            let converted = document.schemas.get(document, direction, at);
            converted.schema.as_ref().ok()?.get("type").cloned()
        };
        let mut cutter = Cutter::cutting(false, &keeps, &type_of);
        let root = cutter.object(&self.draft.root);
        cutter.set_bare(level.is_bare);
        let mut all = Map::new();
        let mut nodes: Vec<&Node> = Vec::new();
        let mut next = 0;
        while let Some(name) = cutter.kept.get(next).cloned() {
            next += 1;
            let Some(node) = self.kept(&name, depth).filter(|_| !all.contains_key(&name)) else {
                continue;
            };
            if let Ok(schema) = &node.converted.schema {
                let made = cutter.schema(schema);
                all.insert(name, made);
                nodes.push(node);
            }
        }
        check_cycles(nodes.iter().copied())?;
        let mut warnings = self.draft.warnings.clone();
        for node in nodes {
            warnings.extend(node.converted.warnings.iter().cloned());
        }
        let cut = cutter.cut;
        let schema = with_definitions(root, all);
        let bytes = canonical_len(&schema);
        self.copied += bytes;
        Ok((bytes <= budget).then_some(Made {
            schema,
            bytes,
            warnings,
            cut,
        }))
    }

    /// The definition of a name, when it stays at a depth.
    fn kept(&self, name: &str, depth: usize) -> Option<&Node> {
        let found = self.graph.by_name.get(name);
        if let Some(node) = found.and_then(|&place| self.graph.nodes.get(place))
            && (node.depth <= depth || self.protected.contains(name))
        {
            return Some(node);
        }
        self.beyond.get(name)
    }

    /// Where the definitions lead that anything here refers to, by name.
    fn targets(&self) -> HashMap<String, Pointer> {
        let nodes = self.graph.nodes.iter().chain(self.beyond.values());
        let uses = nodes.flat_map(|node| &node.converted.uses);
        let all = self.draft.uses.iter().chain(uses);
        all.map(|one| (one.name.clone(), one.at.clone())).collect()
    }

    /// Finds the definitions that a required path needs. More than the cap of them cannot be published.
    fn protect(&mut self, document: &Document, cap: usize) -> Result<(), Finding> {
        if !self.protected.is_empty() {
            return Ok(());
        }
        let root = Value::Object(std::mem::take(&mut self.draft.root));
        let mut names = Vec::new();
        needed(&root, &mut names);
        let mut open: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if let Value::Object(root) = root {
            self.draft.root = root;
        }
        let by_name = |one: &Use| (one.name.clone(), one.at.clone());
        let mut places: HashMap<String, Pointer> = self.draft.uses.iter().map(by_name).collect();
        let mut floor = 0;
        while let Some(name) = open.pop() {
            let Some(at) = places.get(&name).cloned() else {
                continue;
            };
            if !self.protected.insert(name.clone()) {
                continue;
            }
            let converted = document.schemas.get(document, self.draft.direction, &at);
            let schema = converted.schema.as_ref().map_err(Clone::clone)?;
            floor += converted.slim().floor_bytes;
            if floor > cap {
                return Err(too_large(&self.draft.at, floor, cap));
            }
            let mut names = Vec::new();
            needed(schema, &mut names);
            open.extend(names.into_iter().map(str::to_owned));
            places.extend(converted.uses.iter().map(by_name));
            if !self.graph.by_name.contains_key(&name) {
                let depth = usize::MAX;
                self.beyond.insert(
                    name,
                    Node {
                        at,
                        converted,
                        depth,
                    },
                );
            }
        }
        Ok(())
    }

    /// What a level leaves out.
    fn gone(&self, number: usize, cut: usize) -> Gone {
        let level = self.levels[number];
        Gone::Parts {
            text: level.is_bare && !self.levels[0].is_bare,
            depth: level.depth_max.filter(|_| cut > 0),
            cut,
        }
    }
}

impl Draft {
    fn root_bytes(&self) -> usize {
        let members = self.root.iter().map(|(name, value)| {
            // `"NAME":` and a comma; the names of a root's keywords need no escape.
            name.len() + 4 + canonical_len(value)
        });
        1 + members.sum::<usize>()
    }
}

fn with_definitions(mut root: Map<String, Value>, definitions: Map<String, Value>) -> Value {
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    Value::Object(root)
}
