import type { RouteLeg, SourceOutcome } from "@/lib/ports/routing";
import type { Failure } from "@/lib/modules/operations/leg";

/**
 * Whether a mined transfer moved no tokens. A token's contract may return without moving anything, and its transaction
 * still succeeds, so its logs are checked.
 */
export const movedNothing = ({ kind }: RouteLeg, { spentBase, receivedBase }: SourceOutcome): boolean =>
  kind === "transfer" && spentBase === 0n && receivedBase === 0n;

export const NOTHING_MOVED: Failure = {
  code: "nothing_moved",
  message:
    "The token's contract ran without an error, and its logs show that it moved nothing: the money should still be in the wallet. It would do the same again.",
  retryable: false,
};
