import type { Step } from "./step";

type GasStep = Pick<Step, "leg" | "operation" | "smartAccounts" | "gasWaits" | "clock">;

/** Ends what the operation's record says about a wait for the source chain's network fee. */
export const endGasWait = async ({ leg, operation, gasWaits, clock }: GasStep): Promise<void> => {
  const chainId = leg.sourceChainId;
  if (operation.gasWaits.some((wait) => wait.chainId === chainId)) await gasWaits.end(operation, chainId, clock.now());
};

/** Whether the source chain asks for more than its cap. Notes the price on the operation's record, and the end of the wait. */
export const waitsForGas = async (step: GasStep): Promise<boolean> => {
  const { leg, operation, smartAccounts, gasWaits, clock } = step;
  const excess = await smartAccounts.feeExcess(leg.sourceChainId);
  if (excess === null) await endGasWait(step);
  else await gasWaits.note(operation, leg.sourceChainId, excess, clock.now());
  return excess !== null;
};
