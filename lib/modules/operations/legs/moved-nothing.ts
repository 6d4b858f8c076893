import type { RouteLeg, SourceOutcome } from "@/lib/ports/routing";
import type { Failure } from "@/lib/modules/operations/leg";

/** A token's contract may return false or true without moving anything, and the chain calls both a success, so its logs are read. */
export const movedNothing = ({ kind }: RouteLeg, { spentBase, receivedBase }: SourceOutcome): boolean =>
  kind === "transfer" && spentBase === 0n && receivedBase === 0n;

export const NOTHING_MOVED: Failure = {
  code: "nothing_moved",
  message:
    "The token's contract ran without an error, and its logs show that it moved nothing: the money should still be in the wallet. It would do the same again.",
  retryable: false,
};
