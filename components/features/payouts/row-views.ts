import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleX,
  LoaderCircle,
  SearchX,
  type LucideIcon,
} from "lucide-react";
import type { Tone } from "@/components/ui/badge";
import type { RowState } from "./payout";

interface RowStateView {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
  /** Of its cell in the picture. */
  readonly cell: string;
  /** The same as a CSS colour, for the canvas. */
  readonly color: string;
}

/** Icon, word and colour of each state of a row. */
export const ROW_VIEWS = {
  paid: { word: "Paid", tone: "success", icon: CircleCheck, cell: "bg-success", color: "var(--success)" },
  confirmed: { word: "Confirmed", tone: "info", icon: CircleDot, cell: "bg-accent", color: "var(--accent)" },
  sent: { word: "Sent", tone: "info", icon: LoaderCircle, cell: "bg-sent", color: "var(--sent)" },
  unknown: { word: "Being checked", tone: "warning", icon: SearchX, cell: "bg-warning", color: "var(--warning)" },
  queued: { word: "Queued", tone: "neutral", icon: CircleDashed, cell: "bg-border", color: "var(--border)" },
  failed: { word: "Failed", tone: "danger", icon: CircleX, cell: "bg-danger", color: "var(--danger)" },
  cancelled: { word: "Not sent", tone: "neutral", icon: Ban, cell: "bg-control", color: "var(--control)" },
} as const satisfies Record<RowState, RowStateView>;
