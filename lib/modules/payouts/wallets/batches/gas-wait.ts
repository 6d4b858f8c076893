import type { Step } from "./step";

/** Whether the chain asks for more than its cap. Notes the price on the payout's record, and the end of the wait. */
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
