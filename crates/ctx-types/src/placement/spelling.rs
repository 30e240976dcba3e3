//! The formats of a placement: flat fields, and AIO Hub's `injectionStrategy`.

use crate::Phrase;
use crate::phrase;
use std::sync::Arc;

use super::{InjectionStrategy, Order, Placement, Side, anchor_id};
use crate::agent::PresetMessage;
use crate::codes;
use crate::depth::DepthPoints;
use crate::diagnostic::Diagnostic;
use crate::fix::Fix;
use crate::persist::Persist as _;
use crate::suggest::{NearestName, nearest};
use crate::wording::excerpt;

pub(super) fn read(entry: &PresetMessage) -> (Placement, Vec<Diagnostic>) {
    let mut reader = PlacementReader::new(entry);
    let placement = reader.read();
    (placement, reader.diagnostics)
}

pub(super) fn write(placement: &Placement, entry: &mut PresetMessage) {
    if read(entry).0 == *placement {
        return;
    }
    let old = entry.injection_strategy.take().unwrap_or_default();
    let mut strategy = InjectionStrategy { lane: old.lane, kept: old.kept, ..InjectionStrategy::default() };
    let order = placement.order();
    let order = (order != Order::DEFAULT).then_some(order.0);
    (entry.insertion_point, entry.anchor_target, entry.anchor_point, entry.order) = (None, None, None, None);
    match placement {
        Placement::InOrder => {}
        Placement::Index { at, .. } => (entry.insertion_point, entry.order) = (Some(*at), order),
        Placement::Depth { points, .. } => {
            strategy.order = order;
            write_depth(points, &mut strategy);
        }
        Placement::Anchor { target, side, .. } => {
            strategy.order = order;
            strategy.kind = Some("anchor".into());
            strategy.anchor_target = Some(target.clone());
            strategy.anchor_position = Some(side.to_string().into());
        }
    }
    let is_empty = strategy.write().as_object().is_some_and(serde_json::Map::is_empty);
    entry.injection_strategy = (!is_empty).then_some(strategy);
}

fn write_depth(points: &DepthPoints, strategy: &mut InjectionStrategy) {
    if let Some(depth) = points.as_single().filter(|_| !points.is_list()) {
        strategy.kind = Some("depth".into());
        strategy.depth = Some(i64::try_from(depth).unwrap_or(i64::MAX));
    } else {
        strategy.kind = Some("advanced_depth".into());
        strategy.depth_config = Some(points.to_string().into());
    }
}

struct PlacementReader<'a> {
    entry: &'a PresetMessage,
    strategy: Option<&'a InjectionStrategy>,
    order: Order,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> PlacementReader<'a> {
    fn new(entry: &'a PresetMessage) -> Self {
        let strategy = entry.injection_strategy.as_ref();
        let order = strategy.and_then(|strategy| strategy.order).or(entry.order);
        let order = order.map_or(Order::DEFAULT, Order);
        Self { entry, strategy, order, diagnostics: Vec::new() }
    }

    fn read(&mut self) -> Placement {
        let kind = self.strategy.and_then(|strategy| strategy.kind.as_deref());
        let placement = match kind {
            Some("default") => Placement::InOrder,
            Some("depth") => self.depth().unwrap_or_else(|| self.report_missing("depth")),
            Some("advanced_depth") => self.advanced_depth().unwrap_or_else(|| self.plain_depth()),
            Some("anchor") => self.anchor(),
            Some(unknown) => {
                self.report_unknown_type(unknown);
                return self.infer();
            }
            None => return self.infer(),
        };
        self.report_unused(kind.unwrap_or_default());
        placement
    }

    /// Priority: a depth, an index, an anchor.
    fn infer(&mut self) -> Placement {
        let depth = self.advanced_depth().or_else(|| self.depth());
        let index = self.entry.insertion_point.map(|at| Placement::Index { at, order: self.order });
        let anchored = self.target().is_some() || self.side().is_some();
        let given = usize::from(depth.is_some()) + usize::from(index.is_some()) + usize::from(anchored);
        let placement =
            depth.or(index).unwrap_or_else(|| if anchored { self.anchor() } else { Placement::InOrder });
        if given > 1 {
            let message = phrase!(
                "the entry has {given} placements; `{placement}` is used",
                given,
                placement = placement.phrase()
            );
            let help = phrase!(
                "keep one of depth, `insertionPoint`, and `anchorTarget`, or set `injectionStrategy.type`"
            );
            self.report_unclear("", message, help);
        }
        placement
    }

    fn advanced_depth(&mut self) -> Option<Placement> {
        let config = self.strategy?.depth_config.as_deref().filter(|config| !config.trim().is_empty())?;
        let (points, found) = DepthPoints::parse(config);
        let pointer = "/injectionStrategy/depthConfig";
        self.diagnostics.extend(found.into_iter().map(|diagnostic| diagnostic.at_pointer(pointer)));
        (!points.is_empty()).then_some(Placement::Depth { points, order: self.order })
    }

    fn depth(&mut self) -> Option<Placement> {
        let given = self.strategy?.depth?;
        let depth = u64::try_from(given).unwrap_or_else(|_| {
            let negative = Diagnostic::warning(
                codes::DEPTH_SYNTAX,
                phrase!("depth {given} is negative; 0 is used", given),
            );
            let help = phrase!("write 0 or more: 0 is below the newest message");
            let negative = negative.at_pointer("/injectionStrategy/depth").with_help(help);
            self.diagnostics.push(negative.with_fix(Fix::value(0)));
            0
        });
        Some(Placement::Depth { points: DepthPoints::single(depth), order: self.order })
    }

    fn plain_depth(&mut self) -> Placement {
        let Some(placement) = self.depth() else { return self.report_missing("depthConfig") };
        let message =
            phrase!("`depthConfig` has no depth; {placement} is used", placement = placement.phrase());
        self.report_unclear(
            "/injectionStrategy/type",
            message,
            phrase!("add `depthConfig`, or use type `depth`"),
        );
        placement
    }

    fn anchor(&mut self) -> Placement {
        let side = match self.side() {
            Some((_, "before")) => Side::Before,
            None | Some((_, "after")) => Side::After,
            Some((pointer, unknown)) => {
                let message = phrase!(
                    "unknown side `{unknown}` of an anchor; `after` is used",
                    unknown = excerpt(unknown)
                );
                let known = nearest(unknown, ["before", "after"]);
                self.report_unknown(pointer, message, known, phrase!("use `before` or `after`"));
                Side::After
            }
        };
        let target = Arc::from(anchor_id(self.target().unwrap_or_default()));
        Placement::Anchor { target, side, order: self.order }
    }

    fn target(&self) -> Option<&'a str> {
        let nested = self.strategy.and_then(|strategy| strategy.anchor_target.as_deref());
        nested.or(self.entry.anchor_target.as_deref())
    }

    fn side(&self) -> Option<(&'static str, &'a str)> {
        let nested = self.strategy.and_then(|strategy| strategy.anchor_position.as_deref());
        let nested = nested.map(|side| ("/injectionStrategy/anchorPosition", side));
        nested.or_else(|| Some(("/anchorPoint", self.entry.anchor_point.as_deref()?)))
    }

    /// Reports flat fields that an explicit type overrides, but not strategy fields: AIO Hub's editor leaves
    /// those unused.
    fn report_unused(&mut self, kind: &str) {
        let entry = self.entry;
        let is_anchor = kind == "anchor";
        let flat = [
            ("insertionPoint", entry.insertion_point.is_some()),
            ("anchorTarget", entry.anchor_target.is_some() && !is_anchor),
            ("anchorPoint", entry.anchor_point.is_some() && !is_anchor),
        ];
        for (field, _) in flat.into_iter().filter(|(_, is_unused)| *is_unused) {
            let message =
                phrase!("`{field}` has no effect: `injectionStrategy.type` is `{kind}`", field, kind);
            self.report_unclear(&format!("/{field}"), message, phrase!("remove one of the two"));
        }
    }

    fn report_unknown_type(&mut self, unknown: &str) {
        let message = phrase!(
            "unknown injection strategy type `{unknown}`; it is inferred from the other fields",
            unknown = excerpt(unknown)
        );
        let help = phrase!("use `default`, `depth`, `advanced_depth`, or `anchor`");
        let known = nearest(unknown, ["default", "depth", "advanced_depth", "anchor"]);
        self.report_unknown("/injectionStrategy/type", message, known, help);
    }

    fn report_missing(&mut self, field: &str) -> Placement {
        let message =
            phrase!("the injection strategy needs `{field}`; the entry stays at its list position", field);
        self.report_unclear("/injectionStrategy/type", message, phrase!("add it, or use type `default`"));
        Placement::InOrder
    }

    fn report_unknown(
        &mut self,
        pointer: &str,
        message: Phrase,
        near: Option<NearestName<'_>>,
        help: Phrase,
    ) {
        let unknown = Diagnostic::warning(codes::PLACEMENT_SPELLING, message).at_pointer(pointer);
        self.diagnostics.push(unknown.with_guess_or(near, Fix::text, || help));
    }

    fn report_unclear(&mut self, pointer: &str, message: Phrase, help: Phrase) {
        let unclear = Diagnostic::warning(codes::PLACEMENT_SPELLING, message);
        self.diagnostics.push(unclear.at_pointer(pointer).with_help(help));
    }
}
