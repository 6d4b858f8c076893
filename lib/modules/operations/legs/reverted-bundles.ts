/** Counts the network fees of reverted bundles to the project whose operation made them revert. Only owners outside of the service can do so. */
import type { LegChange } from "@/lib/modules/operations/leg";
import type { Step } from "./step";
import { feeChange } from "./wallet-receipt";

/**
 * The fee of the reverted bundles with the leg's operation. EntryPoint reverts the whole bundle when an operation is invalid, so nobody is paid
 * back; an owner who makes operations invalid on purpose would drain the executor. Such an operation is bundled alone, so all of the
 * cost is its own. Only the latest of its bundles is known, and stands for the earlier ones.
 * @throws DomainError `chain_unavailable`
 */
const revertedWei = async (step: Step): Promise<bigint> => {
  const { leg, operation, smartAccounts, bundles } = step;
  if (leg.sponsorReservedWei === null || leg.userOpHash === null) return 0n;
  const account = await step.managedAccount(operation.projectId, leg.executorWalletId ?? leg.walletId);
  if (account !== null) return 0n;
  const carried = await bundles.bundleTransactionsOf(leg.sourceChainId, [leg.userOpHash, ...leg.earlierUserOpHashes]);
  let costWei = 0n;
  for (const { attempts, transaction } of carried.values()) {
    if (transaction.minedHash === null) continue;
    const receipt = await smartAccounts.sent.receipt(leg.sourceChainId, transaction.minedHash);
    if (receipt?.success === false) costWei += receipt.costWei * BigInt(attempts);
  }
  return costWei;
};

/**
 * The network fees of a leg whose operation can never be executed: `replacedWei` and the fees of its reverted bundles. They count to the budget
 * of the leg's project.
 */
export const lostFeeChange = async (step: Step, replacedWei: bigint): Promise<LegChange> => {
  const costWei = replacedWei + (await revertedWei(step));
  return costWei === 0n ? {} : feeChange({ costWei, paidBy: "sponsor" });
};
