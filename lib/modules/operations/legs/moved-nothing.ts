import type { RouteLeg, SourceOutcome } from "@/lib/ports/routing";
import type { Failure } from "./step";

/** A token's contract may return false, or true, without moving anything, and the chain calls both a success. Its logs tell. */
export const movedNothing = ({ kind }: RouteLeg, { spentBase, receivedBase }: SourceOutcome): boolean =>
  kind === "transfer" && spentBase === 0n && receivedBase === 0n;

export const NOTHING_MOVED: Failure = {
  code: "nothing_moved",
  message: "The token's contract ran without an error and moved nothing. The money is in the wallet.",
  retryable: false,
};
