// A placement in a few words.
import { t } from "../language";
import type { Placement } from "./placement";

export function placeName(place: Placement): string {
  switch (place.kind) {
    case "order":
      return t().inOrder;
    case "depth":
      return t().atDepth(place.points);
    case "index":
      return t().atIndex(place.index);
    case "anchor":
      return place.side === "before" ? t().beforeAnchor(place.target) : t().afterAnchor(place.target);
  }
}
