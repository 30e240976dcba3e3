// A placement in a few words.
import { t } from "../language";
import { anchorLabel } from "./label";
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
      return place.side === "before"
        ? t().beforeAnchor(anchorLabel(place.target))
        : t().afterAnchor(anchorLabel(place.target));
  }
}
