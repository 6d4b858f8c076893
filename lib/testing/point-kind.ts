import type { Point } from "./worker-life";

/** The kinds of points at which a worker that moves money over chains can die. The table in lib/faults/README.md explains them. */
export const POINT_KINDS = [
  "before a broadcast",
  "after a broadcast",
  "before the commit of a leg's step",
  "after the commit of a leg's step",
  "before the commit of an operation's step",
  "after the commit of an operation's step",
  "before a transaction's status is stored",
  "after a transaction's status is stored",
  "before the end of an operation",
  "after the end of an operation",
  "before the statement of a leg's step",
  "after the statement of a leg's step",
  "before a write inside a transaction",
  "before a question to a node",
] as const;

export type PointKind = (typeof POINT_KINDS)[number] | "another point";

const STEPS: readonly (readonly [RegExp, string])[] = [
  [/^eth_sendRawTransaction/, "a broadcast"],
  // The job is removed with it.
  [/^(?:COMMIT|INSERT INTO) operation_event .*, the end$/, "the end of an operation"],
  [/^COMMIT operation_event leg\./, "the commit of a leg's step"],
  [/^COMMIT operation_event operation\./, "the commit of an operation's step"],
  [/^UPDATE chain_transaction (?:broadcast|mined|final)/, "a transaction's status is stored"],
  // A step of an operation that the worker knows is one statement without a transaction around it.
  [/^INSERT INTO operation_event leg\./, "the statement of a leg's step"],
  [/^(?:INSERT INTO|UPDATE|DELETE FROM) /, "a write inside a transaction"],
  [/^eth_/, "a question to a node"],
];

const isKind = (text: string): text is PointKind => POINT_KINDS.some((kind) => kind === text);

/** Classifies a point by what the worker does there, without chain, leg or table. */
export const pointKind = ({ stage, label, hasEffect }: Point): PointKind => {
  const [, step = ""] = STEPS.find(([pattern]) => pattern.test(label)) ?? [];
  // A single statement outside a transaction takes effect by itself; only those of a transaction are undone by a crash.
  if (step === "a write inside a transaction" && hasEffect) return "another point";
  const kind = `${stage} ${step}`;
  return isKind(kind) ? kind : "another point";
};
