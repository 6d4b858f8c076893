import type { Point } from "./worker-life";

/**
 * The kinds of points at which a worker that moves money over chains can crash. The table in
 * lib/dev/faults/README.md explains them.
 */
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
  "before a write inside a transaction",
  "before a question to a node",
] as const;

export type PointKind = (typeof POINT_KINDS)[number] | "another point";

const STEPS: readonly (readonly [RegExp, string])[] = [
  [/^eth_sendRawTransaction/, "a broadcast"],
  // The end of an operation includes the end of its job, because the same transaction removes the
  // job.
  [/^COMMIT operation_event .*, the end$/, "the end of an operation"],
  [/^COMMIT operation_event leg\./, "the commit of a leg's step"],
  [/^COMMIT operation_event operation\./, "the commit of an operation's step"],
  [/^UPDATE chain_transaction (?:broadcast|mined|final)/, "a transaction's status is stored"],
  [/^(?:INSERT INTO|UPDATE|DELETE FROM) /, "a write inside a transaction"],
  [/^eth_/, "a question to a node"],
];

const isKind = (text: string): text is PointKind => POINT_KINDS.some((kind) => kind === text);

/** Classifies a point by the worker's action, independent of chain, leg or table. */
export const pointKind = ({ stage, label, hasEffect }: Point): PointKind => {
  const [, step = ""] = STEPS.find(([pattern]) => pattern.test(label)) ?? [];
  // A crash undoes only writes inside a transaction. A single statement outside of a transaction
  // takes effect immediately, so it is not of this kind.
  if (step === "a write inside a transaction" && hasEffect) return "another point";
  const kind = `${stage} ${step}`;
  return isKind(kind) ? kind : "another point";
};
