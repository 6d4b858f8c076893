import type { Step } from "./step";

/**
 * Whether the chain's network fee is above its configured cap. Stores the fee on the payout's
 * record while the payout waits, and clears it afterwards.
 */
export const waitsForGas = async (
  step: Pick<Step, "payout" | "smartAccounts" | "gasWaits" | "clock" | "chains">,
): Promise<boolean> => {
  const { payout, smartAccounts, gasWaits, clock, chains } = step;
  if (!chains.hasFeeCap(payout.chainId)) return false;
  const excess = await smartAccounts.feeExcess(payout.chainId);
  if (excess === null) await gasWaits.end(payout);
  else await gasWaits.note(payout, excess, clock.now());
  return excess !== null;
};
