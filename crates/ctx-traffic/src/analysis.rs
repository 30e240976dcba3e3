//! Requests of a log: what each could reuse of an earlier one, and what broke the cache.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ctx_tokens::{ModelTable, Money, PricedTokens};

use crate::blocks::{BlockReader, PlacedBlock, RequestBlocks, Unreadable, first_byte, hash_of};
use crate::cache::{CacheForecast, CacheModel, CacheRules};
use crate::change::{Change, classify, is_summary};
use crate::entry::LogLine;
use crate::place::{BlockPlace, Section};
use crate::report::{
    Cause, LogReport, LogTotal, PrefixBreak, RequestComparison, RequestReport, SkipReason, SkippedLine,
};

/// Maximum number of blocks of earlier requests that are remembered.
const MAX_REMEMBERED: usize = 8_000_000;

/// Maximum number of different prefixes or blocks that are remembered.
const MAX_PREFIXES: usize = 2_000_000;

/// Maximum number of requests of a log.
const MAX_REQUESTS: usize = 1_000_000;

/// Maximum number of unreadable lines that are listed.
const MAX_SKIPPED: usize = 1_000;

/// Number of last blocks that tell which conversation a request belongs to, if its beginning does not.
const VOTES: usize = 40;

/// Maximum length of the texts that show a change, in characters.
const EXCERPT: usize = 160;

/// Analyzes the requests of a log, line by line.
///
/// ```
/// use ctx_tokens::ModelTable;
/// use ctx_traffic::{Change, LogAnalysis};
///
/// let body = |time: &str| {
///     let system = format!("It is {time}. {}", "You answer questions about the harbor. ".repeat(300));
///     serde_json::json!({
///         "model": "claude-sonnet-4-5",
///         "system": [{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }],
///         "messages": [{ "role": "user", "content": "Hello" }],
///     })
/// };
/// let mut analysis = LogAnalysis::new(ModelTable::builtin());
/// for line in [body("10:15"), body("10:16")] {
///     analysis.push(&line.to_string());
/// }
/// let report = analysis.finish();
/// assert_eq!(report.requests[1].prefix_break.as_ref().unwrap().change, Change::Clock);
/// ```
#[derive(Debug)]
pub struct LogAnalysis {
    reader: BlockReader,
    cache: CacheModel,
    requests: Vec<RequestReport>,
    remembered: HashMap<usize, Remembered>,
    /// Number of blocks of all remembered requests.
    blocks: usize,
    /// Latest request with a prefix: of a model of a host, and of any.
    of_model: HashMap<u64, usize>,
    of_any: HashMap<u64, usize>,
    /// Latest request with a block in its messages.
    of_block: HashMap<u64, usize>,
    /// Latest thread with an opening.
    of_opening: HashMap<u64, usize>,
    threads: Vec<Thread>,
    skipped: Vec<SkippedLine>,
    skipped_count: u64,
    lines: u64,
    /// Whether all requests are one conversation.
    is_pair: bool,
}

/// A request that later ones are compared with.
#[derive(Debug)]
struct Remembered {
    blocks: Vec<PlacedBlock>,
    parameters: BTreeMap<&'static str, u64>,
    /// Estimated tokens of each block times this is the provider's count, in thousandths.
    scale: u64,
    forecast: CacheForecast,
    answered: Option<i64>,
    thread: usize,
}

/// A conversation, or another series of requests with a common beginning.
#[derive(Debug)]
struct Thread {
    first_user: Option<u64>,
    name: Option<u64>,
    last: usize,
}

impl LogAnalysis {
    /// Creates an analysis. The table has the models' prices.
    pub fn new(models: ModelTable) -> Self {
        Self {
            reader: BlockReader::new(models),
            cache: CacheModel::default(),
            requests: Vec::new(),
            remembered: HashMap::new(),
            blocks: 0,
            of_model: HashMap::new(),
            of_any: HashMap::new(),
            of_block: HashMap::new(),
            of_opening: HashMap::new(),
            threads: Vec::new(),
            skipped: Vec::new(),
            skipped_count: 0,
            lines: 0,
            is_pair: false,
        }
    }

    /// Adds the next line of the log: a body, or an object with `request`. A line that holds no request is reported.
    pub fn push(&mut self, line: &str) {
        self.lines += 1;
        if line.trim().is_empty() {
            return;
        }
        if self.requests.len() >= MAX_REQUESTS {
            return self.skip(SkipReason::TooMany);
        }
        let read = LogLine::read(line).and_then(|entry| {
            let blocks = self.reader.read(entry.body, entry.dialect, entry.model.as_deref())?;
            Ok((entry, blocks))
        });
        match read {
            Ok((entry, blocks)) => self.add(&entry, blocks),
            Err(Unreadable::NoJson) => self.skip(SkipReason::NoJson),
            Err(Unreadable::NoRequest) => self.skip(SkipReason::NoRequest),
        }
    }

    /// Compares two requests, whatever they have in common. `None` if one of them is no request.
    ///
    /// The lines have the form of [`LogAnalysis::push`].
    pub fn compare(models: ModelTable, before: &str, after: &str) -> Option<RequestComparison> {
        let mut analysis = Self { is_pair: true, ..Self::new(models) };
        analysis.push(before);
        analysis.push(after);
        let shared = analysis.common_blocks(0, &analysis.remembered.get(&1)?.blocks)?;
        let place = [0, 1]
            .into_iter()
            .find_map(|index| Some(analysis.remembered.get(&index)?.blocks.get(shared)?.place));
        let bodies = [LogLine::read(before).ok()?.body, LogLine::read(after).ok()?.body];
        let byte = place.and_then(|place| first_byte(bodies, place));
        let requests = <[RequestReport; 2]>::try_from(analysis.requests).ok()?;
        Some(RequestComparison { requests, shared_blocks: shared as u64, byte })
    }

    /// Adds a line that was not read because it is too long.
    pub fn push_too_long(&mut self) {
        self.lines += 1;
        self.skip(SkipReason::TooLong);
    }

    /// Returns the report.
    pub fn finish(self) -> LogReport {
        let mut causes: BTreeMap<(Section, Change, String), Cause> = BTreeMap::new();
        let mut total = LogTotal::default();
        for request in &self.requests {
            total.add(request);
            let Some(found) = &request.prefix_break else { continue };
            let key = (found.section, found.change, found.subject.clone().unwrap_or_default());
            let cause = causes.entry(key).or_insert_with(|| Cause::new(found));
            cause.add(request.index, found);
        }
        let mut causes: Vec<Cause> = causes.into_values().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse((cause.cost.unwrap_or_default(), cause.lost)));
        LogReport {
            requests: self.requests,
            causes,
            total,
            skipped: self.skipped,
            skipped_count: self.skipped_count,
        }
    }

    fn skip(&mut self, reason: SkipReason) {
        self.skipped_count += 1;
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(SkippedLine { line: self.lines, reason });
        }
    }

    fn add(&mut self, entry: &LogLine<'_>, request: RequestBlocks) {
        let index = self.requests.len();
        if entry.is_failed {
            return self.add_failed(entry, &request);
        }
        let RequestBlocks { dialect, model, parameters, mut blocks, first_user, .. } = request;
        if dialect == ctx_wire::Dialect::Anthropic {
            self.drop_billing_block(&mut blocks, entry.host.as_deref());
        }
        let estimate: u64 = blocks.iter().map(|block| u64::from(block.tokens)).sum();
        let input = entry.usage.map_or(estimate, |usage| usage.input);
        let scale = (1_000 * input).checked_div(estimate).unwrap_or(1_000).max(1);
        let ends = ends_of(&blocks, scale);
        let chain = chain_of(&blocks, |_| 0);
        let owner = hash_of(&(&entry.host, &model));
        let rules = CacheRules::for_model(dialect, &model);
        let named = entry.thread.as_ref().map(hash_of).or(request.thread);

        let predecessor = self.predecessor(&chain, (owner, &model), (&ends, input));
        let thread = self.thread_of((first_user, named), predecessor, (&blocks, &ends, input));
        let predecessor = thread.and_then(|thread| self.in_thread(thread, predecessor, &blocks));
        let salted = chain_of(&blocks, |section| layer_salt(dialect, section, owner, &parameters));
        let times = (entry.at, entry.answered);
        let forecast = self.cache.pass(rules, (&blocks, &salted, &ends), times);
        let reused = rules.round(tokens_of(&ends, forecast.reused));
        let compared = predecessor.and_then(|Predecessor { request, shared }| {
            let model_of_before = Arc::clone(&self.requests[request].model);
            let found = Compared {
                before: self.remembered.get(&request)?,
                is_switched: model_of_before != model,
                model_of_before,
                shared,
                forecast: &forecast,
                reused,
                input,
            };
            self.find_break(&found, rules, (&blocks, &parameters, &model), entry)
        });
        let facts = self.reader.model(&model);
        let prices = &facts.facts.prices;
        let tokens = match entry.usage {
            Some(usage) => usage.priced(),
            None => forecast_tokens(rules, &forecast, &ends, input),
        };
        let prefix_break = compared.map(|mut found| {
            let prices = prices.for_input(input);
            let is_written = matches!(rules, CacheRules::Marks { .. });
            let paid = prices.write.filter(|_| is_written).or(prices.input);
            let saved =
                paid.zip(prices.cached.or(prices.input)).map(|(paid, read)| paid.saturating_sub(read));
            found.cost = saved.map(|price| Money::from_tokens(found.lost, price));
            found
        });
        let thread = thread.unwrap_or_else(|| {
            self.threads.push(Thread { first_user, name: named, last: index });
            self.threads.len() - 1
        });
        self.threads[thread].last = index;
        self.requests.push(RequestReport {
            index: index as u64 + 1,
            line: self.lines,
            at: entry.at,
            model,
            thread: thread as u64 + 1,
            blocks: blocks.len() as u64,
            tokens: input,
            reused,
            before: predecessor.map(|found| found.request as u64 + 1),
            usage: entry.usage,
            verdict: entry.verdict.clone(),
            is_failed: false,
            prefix_break,
            cost: prices.cost(&tokens),
            is_known_cache: rules != CacheRules::Unknown,
        });
        for hash in &chain {
            self.of_any.insert(*hash, index);
            self.of_model.insert(hash_of(&(owner, hash)), index);
        }
        let request = Remembered { blocks, parameters, scale, forecast, answered: entry.answered, thread };
        self.remember(index, first_user, request);
    }

    /// Adds a request that the provider refused. It is not in the provider's cache, so later ones are not compared with it.
    fn add_failed(&mut self, entry: &LogLine<'_>, request: &RequestBlocks) {
        self.requests.push(RequestReport {
            index: self.requests.len() as u64 + 1,
            line: self.lines,
            at: entry.at,
            model: Arc::clone(&request.model),
            thread: self.threads.len().max(1) as u64,
            blocks: request.blocks.len() as u64,
            tokens: request.blocks.iter().map(|block| u64::from(block.tokens)).sum(),
            reused: 0,
            before: None,
            usage: None,
            verdict: None,
            is_failed: true,
            prefix_break: None,
            cost: None,
            is_known_cache: true,
        });
    }

    /// Returns the earlier request with the longest common prefix. A request of the same model comes first, unless it has less
    /// than half of this one in common.
    fn predecessor(
        &self,
        chain: &[u64],
        (owner, model): (u64, &str),
        (ends, input): (&[u64], u64),
    ) -> Option<Predecessor> {
        let same = self.longest(&self.of_model, chain, |hash| hash_of(&(owner, hash)));
        let any = self.longest(&self.of_any, chain, |hash| hash);
        match (same, any) {
            (Some(same), Some(any)) => {
                let is_better = any.shared > same.shared && 2 * tokens_of(ends, same.shared) < input;
                Some(if is_better && *self.requests[any.request].model != *model { any } else { same })
            }
            (same, any) => same.or(any),
        }
    }

    /// Returns the request of a thread to compare with: the one with the longest common prefix, or the last.
    fn in_thread(
        &self,
        thread: usize,
        predecessor: Option<Predecessor>,
        blocks: &[PlacedBlock],
    ) -> Option<Predecessor> {
        let is_in_thread = |found: &Predecessor| {
            self.remembered.get(&found.request).is_some_and(|request| request.thread == thread)
        };
        predecessor.filter(is_in_thread).or_else(|| {
            let request = self.threads[thread].last;
            Some(Predecessor { request, shared: self.common_blocks(request, blocks)? })
        })
    }

    fn common_blocks(&self, request: usize, blocks: &[PlacedBlock]) -> Option<usize> {
        let before = &self.remembered.get(&request)?.blocks;
        Some(before.iter().zip(blocks).take_while(|(old, new)| old.hash == new.hash).count())
    }

    /// Claude Code states its version and other facts in the first block, which Anthropic does not read as a prompt.
    fn drop_billing_block(&self, blocks: &mut Vec<PlacedBlock>, host: Option<&str>) {
        if host.is_some_and(|host| !host.ends_with("anthropic.com")) {
            return;
        }
        let is_billing = |block: &PlacedBlock| {
            block.place == BlockPlace::System(1)
                && self
                    .reader
                    .facts(block.hash)
                    .is_some_and(|facts| facts.text.starts_with("x-anthropic-billing-header:"))
        };
        if let Some(position) = blocks.iter().position(is_billing) {
            blocks.remove(position);
        }
    }

    /// Returns the request with the longest common prefix, and the number of blocks.
    fn longest(
        &self,
        seen: &HashMap<u64, usize>,
        chain: &[u64],
        key: impl Fn(u64) -> u64,
    ) -> Option<Predecessor> {
        let is_known = |index: &usize| self.remembered.contains_key(index);
        // A prefix of a known prefix is known, as each request adds all of its own.
        let shared = chain.partition_point(|hash| seen.get(&key(*hash)).is_some_and(is_known));
        let hash = chain.get(shared.checked_sub(1)?)?;
        Some(Predecessor { request: *seen.get(&key(*hash))?, shared })
    }

    /// Returns the thread of a request; `None` if it begins a new one.
    fn thread_of(
        &self,
        (first_user, name): (Option<u64>, Option<u64>),
        predecessor: Option<Predecessor>,
        (blocks, ends, input): (&[PlacedBlock], &[u64], u64),
    ) -> Option<usize> {
        if self.is_pair {
            return self.threads.len().checked_sub(1);
        }
        // Tools and system may be most of a short request.
        let front = blocks.partition_point(|block| block.place.section() < Section::Messages);
        if let Some(Predecessor { request, shared }) = predecessor {
            let thread = self.remembered.get(&request)?.thread;
            let known = &self.threads[thread];
            let smaller = input.min(self.requests[request].tokens);
            let is_similar = 2 * tokens_of(ends, shared) >= smaller;
            let is_named = name.is_some() && known.name == name;
            let is_same_user = known.first_user.is_some() && known.first_user == first_user;
            let is_summary = || blocks.get(front).is_some_and(|block| is_summary(&self.reader, block));
            if is_same_user || is_similar && shared > front || shared >= front && (is_named || is_summary()) {
                return Some(thread);
            }
        }
        let messages = &blocks[front..];
        let threads = messages[messages.len().saturating_sub(VOTES)..].iter().filter_map(|block| {
            let request = self.of_block.get(&block.hash)?;
            Some(self.remembered.get(request)?.thread)
        });
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for thread in threads {
            *votes.entry(thread).or_default() += 1;
        }
        let voted = votes.into_iter().max_by_key(|(_, votes)| *votes);
        let voted = voted.filter(|(_, votes)| *votes >= 2 && 2 * votes >= messages.len().min(VOTES));
        voted
            .map(|(thread, _)| thread)
            .or_else(|| self.of_opening.get(&self.opening(blocks, first_user)?).copied())
    }

    /// Returns a hash of the tools, the system prompt without its clocks, and the first message of the user.
    fn opening(&self, blocks: &[PlacedBlock], first_user: Option<u64>) -> Option<u64> {
        let front = blocks.iter().take_while(|block| block.place.section() < Section::Messages);
        let masked = front.map(|block| match block.place {
            BlockPlace::System(_) => self.reader.facts(block.hash).map_or(block.hash, |facts| facts.masked),
            _ => block.hash,
        });
        Some(hash_of(&(first_user?, masked.collect::<Vec<_>>())))
    }

    /// Finds why the prefix of an earlier request was not reused; `None` if it was.
    fn find_break(
        &self,
        found: &Compared<'_>,
        rules: CacheRules,
        (blocks, parameters, model): (&[PlacedBlock], &BTreeMap<&'static str, u64>, &str),
        entry: &LogLine<'_>,
    ) -> Option<PrefixBreak> {
        let Compared { before, shared, is_switched, forecast, reused, input, .. } = *found;
        if let (Some(answered), Some(at)) = (before.answered, entry.at)
            && at < answered
        {
            // The earlier request was still running.
            return None;
        }
        let ends = ends_of(&before.blocks, before.scale);
        let reusable = match rules {
            CacheRules::Unknown => before.blocks.len(),
            _ => before.forecast.written.max(before.forecast.reused),
        };
        // A request cannot lose more than it has.
        let expected = rules.round(tokens_of(&ends, reusable).min(input));
        let reused = if rules == CacheRules::Unknown { tokens_of(&ends, shared) } else { reused };
        let lost = expected.saturating_sub(reused);
        let broken = |section, number, block, change, subject: Option<String>, texts: [Option<String>; 2]| {
            let [before, after] = texts;
            Some(PrefixBreak { section, number, block, change, subject, before, after, lost, cost: None })
        };
        if is_switched {
            let texts = [Some(found.model_of_before.to_string()), Some(model.to_owned())];
            return broken(Section::Model, None, None, Change::Switched, None, texts);
        }
        let names = before.parameters.keys().chain(parameters.keys());
        let changed = names.filter(|name| before.parameters.get(*name) != parameters.get(*name)).min();
        if let Some(name) = changed
            && (lost > 0 || self.is_pair)
        {
            let change = match (before.parameters.contains_key(name), parameters.contains_key(name)) {
                (false, _) => Change::Added,
                (_, false) => Change::Removed,
                _ => Change::Edited,
            };
            return broken(Section::Parameters, None, None, change, Some((*name).to_owned()), [None, None]);
        }
        if shared < before.blocks.len() {
            let place = blocks.get(shared).or(before.blocks.get(shared))?.place;
            let place = before
                .blocks
                .get(shared)
                .map_or(place, |old| if old.place.section() < place.section() { old.place } else { place });
            let change = classify(&self.reader, &before.blocks, blocks, shared);
            let facts = [before.blocks.get(shared), blocks.get(shared)];
            let facts = facts.map(|block| self.reader.facts(block?.hash));
            let subject = facts.iter().flatten().find_map(|facts| facts.name.as_deref()).map(str::to_owned);
            let subject = subject.filter(|_| place.section() == Section::Tools);
            let texts = excerpts(facts.map(|facts| facts.map(|facts| &*facts.text)));
            let block = match place {
                BlockPlace::Message { block, .. } => Some(block),
                _ => None,
            };
            return broken(place.section(), Some(place.number()), block, change, subject, texts);
        }
        // An extension of the earlier request.
        if lost == 0 || forecast.is_early {
            return None;
        }
        let place = blocks.first()?.place;
        let change = if forecast.is_expired {
            Change::Expired
        } else if !forecast.is_marked {
            Change::NotMarked
        } else {
            return None;
        };
        broken(place.section(), Some(place.number()), None, change, None, [None, None])
    }

    /// Keeps a request for later ones. Forgets all earlier ones once there are too many blocks.
    fn remember(&mut self, index: usize, first_user: Option<u64>, request: Remembered) {
        self.blocks += request.blocks.len();
        let prefixes = self.of_any.len().max(self.of_block.len());
        if self.blocks > MAX_REMEMBERED || prefixes > MAX_PREFIXES {
            self.blocks = request.blocks.len();
            self.remembered.clear();
            for map in [&mut self.of_model, &mut self.of_any, &mut self.of_block, &mut self.of_opening] {
                map.clear();
            }
        }
        if let Some(opening) = self.opening(&request.blocks, first_user) {
            self.of_opening.insert(opening, request.thread);
        }
        for block in request.blocks.iter().filter(|block| block.place.section() == Section::Messages) {
            self.of_block.insert(block.hash, index);
        }
        self.remembered.insert(index, request);
    }
}

/// An earlier request, and the number of blocks that it has in common with a new one.
#[derive(Clone, Copy, Debug)]
struct Predecessor {
    request: usize,
    shared: usize,
}

/// A request beside the earlier one with the longest common prefix.
struct Compared<'a> {
    before: &'a Remembered,
    model_of_before: Arc<str>,
    shared: usize,
    is_switched: bool,
    forecast: &'a CacheForecast,
    reused: u64,
    /// Tokens of the request.
    input: u64,
}

/// Returns the number of tokens up to the end of each block.
fn ends_of(blocks: &[PlacedBlock], scale: u64) -> Vec<u64> {
    let mut sum = 0;
    let end = |block: &PlacedBlock| {
        sum += u64::from(block.tokens);
        sum * scale / 1_000
    };
    blocks.iter().map(end).collect()
}

/// Returns the tokens by price that a request has by the forecast.
fn forecast_tokens(rules: CacheRules, forecast: &CacheForecast, ends: &[u64], input: u64) -> PricedTokens {
    let cached = rules.round(tokens_of(ends, forecast.reused));
    let is_priced = matches!(rules, CacheRules::Marks { .. });
    let written = if is_priced { tokens_of(ends, forecast.written).saturating_sub(cached) } else { 0 };
    let (written, written_long) = if forecast.is_long { (0, written) } else { (written, 0) };
    PricedTokens { input, cached, written, written_long, output: 0 }
}

/// Returns the tokens of the first blocks.
fn tokens_of(ends: &[u64], blocks: usize) -> u64 {
    blocks.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0)
}

/// Returns a hash of each prefix. A salt begins each section.
fn chain_of(blocks: &[PlacedBlock], salt: impl Fn(Section) -> u64) -> Vec<u64> {
    let (mut hash, mut section) = (0, None);
    let next = |block: &PlacedBlock| {
        let now = block.place.section();
        if section != Some(now) {
            section = Some(now);
            hash = hash_of(&(hash, salt(now)));
        }
        hash = hash_of(&(hash, block.hash));
        hash
    };
    blocks.iter().map(next).collect()
}

/// Returns what invalidates a section besides its blocks.
///
/// With Anthropic, `tool_choice` and thinking only matter to messages, and speed to everything. With others, every
/// parameter belongs to the front.
fn layer_salt(
    dialect: ctx_wire::Dialect,
    section: Section,
    owner: u64,
    parameters: &BTreeMap<&'static str, u64>,
) -> u64 {
    if dialect != ctx_wire::Dialect::Anthropic {
        return hash_of(&(owner, parameters));
    }
    match section {
        Section::Messages => hash_of(&(parameters.get("tool_choice"), parameters.get("thinking"))),
        _ => hash_of(&(owner, parameters.get("speed"))),
    }
}

/// Cuts two texts to the place where they differ.
fn excerpts(texts: [Option<&str>; 2]) -> [Option<String>; 2] {
    let start = match texts {
        [Some(before), Some(after)] => {
            let equal = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
            equal.saturating_sub(EXCERPT / 4)
        }
        _ => 0,
    };
    texts.map(|text| {
        let text = text?;
        let from = (0..=start.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0);
        let shown: String = text[from..].chars().take(EXCERPT).collect();
        let is_cut = from + shown.len() < text.len();
        Some(format!("{}{shown}{}", if from > 0 { "…" } else { "" }, if is_cut { "…" } else { "" }))
    })
}
