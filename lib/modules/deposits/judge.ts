/** Screens transfers that were seen for the first time. */
import type { ScreeningService } from "@/lib/modules/screening/service";
import type { Found } from "./apply";
import type { Deposit } from "./deposit";
import { keyOf, rowOf, type Incoming } from "./incoming";
import type { Origin } from "./origins";
import { screenSenders } from "./screen";

/**
 * New deposits with their screening. Moves of the project's own are left out. Those that may be its own are screened too, so that a listed
 * sender's money is kept back at once; they get no operation and no event until their origin is known.
 */
export const judged = async (
  screening: Pick<ScreeningService, "screen" | "isActive">,
  incoming: readonly Incoming[],
  { origins, known, now }: { origins: readonly Origin[]; known: ReadonlyMap<string, Deposit>; now: Date },
): Promise<Found[]> => {
  const foreign = incoming.flatMap((each, index) => {
    const origin = origins[index] ?? "open";
    return origin === "own" ? [] : [{ each, origin }];
  });
  const results = await screenSenders(
    screening,
    foreign.map(({ each: { transfer, wallet } }) => ({
      ...{ chainId: transfer.token.chainId, sender: transfer.from, mode: wallet.mode },
    })),
    now,
  );
  return foreign.flatMap(({ each, origin }, index): Found[] => {
    const result = results[index];
    if (result === undefined) return [];
    const row = rowOf(each, { known: known.get(keyOf(each)), detectedAt: now });
    const { isStopped, verdict, verdictSource, listVersion, screenedAt } = result;
    const screened = { verdict, verdictSource, listVersion, screenedAt, usdMicro: null };
    if (origin === "open") {
      // Money of which nothing is known yet may not move where the policy lets screened money alone move.
      const isHeld = isStopped || each.wallet.mode === "require_clear";
      return [{ deposit: { ...row, ...screened, againAt: null, state: "unclear", isHeld }, result }];
    }
    const state = isStopped ? "quarantined" : "pending";
    return [{ deposit: { ...row, ...screened, againAt: result.againAt, state, isHeld: isStopped }, result }];
  });
};
