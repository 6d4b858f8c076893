import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleHelp,
  CircleX,
  LoaderCircle,
  SearchX,
  type LucideIcon,
} from "lucide-react";
import type { Tone } from "@/components/ui/badge";
import type { RowState } from "./payout";
import type { PayoutRow } from "./rows-file";

export interface RowStateView {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
  /** Of its cell in the picture. */
  readonly cell: string;
  /** The same as a CSS colour, for the canvas. */
  readonly color: string;
  /** Its edge there, where it has one. */
  readonly edge?: string;
}

/** Icon, word and colour of each state of a row. */
export const ROW_VIEWS = {
  paid: { word: "Paid", tone: "success", icon: CircleCheck, cell: "bg-success", color: "var(--success)" },
  confirmed: { word: "Confirmed", tone: "info", icon: CircleDot, cell: "bg-accent", color: "var(--accent)" },
  sent: { word: "Sent", tone: "info", icon: LoaderCircle, cell: "bg-sent", color: "var(--sent)" },
  unknown: { word: "Being checked", tone: "warning", icon: SearchX, cell: "bg-warning", color: "var(--warning)" },
  queued: { word: "Queued", tone: "neutral", icon: CircleDashed, cell: "bg-border", color: "var(--border)" },
  failed: { word: "Failed", tone: "danger", icon: CircleX, cell: "bg-danger", color: "var(--danger)" },
  doubt: {
    ...{ word: "In doubt", tone: "warning", icon: CircleHelp },
    // Hollow, because the cells of rows that are being checked are filled with the same colour.
    ...{ cell: "border border-warning bg-warning-tint", color: "var(--warning-tint)", edge: "var(--warning)" },
  },
  cancelled: { word: "Not sent", tone: "neutral", icon: Ban, cell: "bg-control", color: "var(--control)" },
} as const satisfies Record<RowState, RowStateView>;

/** The reason of a failure, else the word for the state. Rows in doubt have one reason, which the page gives once. */
export const stateText = ({ state, failure }: Pick<PayoutRow, "state" | "failure">): string =>
  failure === "" || state === "doubt" ? ROW_VIEWS[state].word : failure;
