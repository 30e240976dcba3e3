// Where an entry goes: read from the several spellings that files have, and written as few edits.
import type { Edit } from "../api";
import { isObject, join } from "../pointer";
import type { Entry } from "./entries";

export type Placement =
  | { kind: "order" }
  | { kind: "depth"; points: string }
  | { kind: "index"; index: number }
  | { kind: "anchor"; target: string; side: "before" | "after" };

/** The same order of precedence as the engine's: an explicit type, a depth, an index, an anchor. */
export function placementOf({ value }: Entry): Placement {
  const strategy = isObject(value["injectionStrategy"]) ? value["injectionStrategy"] : {};
  const type = strategy["type"];
  const config = strategy["depthConfig"];
  const depth = strategy["depth"];
  if (type === "default") return { kind: "order" };
  if (type === "advanced_depth" && config !== undefined) return { kind: "depth", points: String(config) };
  if (type === "depth" && depth !== undefined) return { kind: "depth", points: String(depth) };
  if (type === "anchor")
    return anchored(
      strategy["anchorTarget"] ?? value["anchorTarget"],
      strategy["anchorPosition"] ?? value["anchorPoint"],
    );
  if (typeof config === "string") return { kind: "depth", points: config };
  if (typeof depth === "number") return { kind: "depth", points: String(depth) };
  if (typeof value["insertionPoint"] === "number") return { kind: "index", index: value["insertionPoint"] };
  if (strategy["anchorTarget"] !== undefined) return anchored(strategy["anchorTarget"], strategy["anchorPosition"]);
  if (value["anchorTarget"] !== undefined) return anchored(value["anchorTarget"], value["anchorPoint"]);
  return { kind: "order" };
}

function anchored(target: unknown, side: unknown): Placement {
  return {
    kind: "anchor",
    target: typeof target === "string" ? target : "chat_history",
    side: side === "before" ? "before" : "after",
  };
}

export function orderOf({ value }: Entry): number | undefined {
  const strategy = isObject(value["injectionStrategy"]) ? value["injectionStrategy"] : {};
  const order = strategy["order"] ?? value["order"];
  return typeof order === "number" ? order : undefined;
}

const POINT = /^\d+(~[1-9]\d*)?$/;

/** What is wrong with the points of a depth: the first part that is none. */
export function wrongPoint(points: string): string | undefined {
  if (points.trim() === "") return "";
  return points
    .split(",")
    .map((point) => point.trim())
    .find((point) => !POINT.test(point));
}

/** The edits that give an entry a placement; its order stays. */
export function placementEdits(entry: Entry, next: Placement): Edit[] {
  const { value, pointer } = entry;
  const old = isObject(value["injectionStrategy"]) ? value["injectionStrategy"] : undefined;
  const edits: Edit[] = [];
  const drop = (...names: string[]) => {
    for (const name of names) if (value[name] !== undefined) edits.push({ op: "remove", pointer: join(pointer, name) });
  };
  const put = (name: string, item: unknown) => {
    if (value[name] !== item) edits.push({ op: "set", pointer: join(pointer, name), value: item });
  };
  const order = orderOf(entry);
  const { lane } = old ?? {};
  switch (next.kind) {
    case "order":
      drop("injectionStrategy", "insertionPoint", "anchorTarget", "anchorPoint");
      break;
    case "depth": {
      drop("insertionPoint", "anchorTarget", "anchorPoint");
      const isSingle = /^\s*\d+\s*$/.test(next.points);
      const strategy = {
        ...(isSingle
          ? { type: "depth", depth: Number(next.points) }
          : { type: "advanced_depth", depthConfig: next.points.trim() }),
        ...(old?.["order"] === undefined ? {} : { order: old["order"] }),
        ...(lane === undefined ? {} : { lane }),
      };
      edits.push({ op: "set", pointer: join(pointer, "injectionStrategy"), value: strategy });
      break;
    }
    case "index":
      drop("injectionStrategy", "anchorTarget", "anchorPoint");
      put("insertionPoint", next.index);
      break;
    case "anchor":
      drop("injectionStrategy", "insertionPoint");
      put("anchorTarget", next.target);
      put("anchorPoint", next.side);
      break;
  }
  const isOrderLost = order !== undefined && old?.["order"] !== undefined && next.kind !== "depth";
  if (isOrderLost) put("order", order);
  return edits;
}

export function orderEdits(entry: Entry, order: number | undefined): Edit[] {
  const strategy = entry.value["injectionStrategy"];
  const isInside = isObject(strategy) && (strategy["order"] !== undefined || entry.value["order"] === undefined);
  const pointer = isInside ? join(entry.pointer, "injectionStrategy", "order") : join(entry.pointer, "order");
  if (order !== undefined) return [{ op: "set", pointer, value: order }];
  return orderOf(entry) === undefined ? [] : [{ op: "remove", pointer }];
}
