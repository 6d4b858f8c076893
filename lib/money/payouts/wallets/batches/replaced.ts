import { gasOfReplaced } from "@/lib/chain/smart-accounts/service";
import { REPLACED } from "./failures";
import { namesOf, type Failure } from "./payout-batch";
import type { Step, StepResult } from "./step";

/**
 * Fails a batch because another operation was executed in its place, and counts the sponsor's fee
 * for that operation. Does not search under the names of the earlier attempts, because their costs
 * are counted already.
 */
export const replaced = async (
  step: Step,
  failure: Failure = REPLACED,
): Promise<StepResult> => {
  const { payout, batch, account, repository, smartAccounts, clock } = step;
  const attemptsKnown = batch.state === "queued" ? batch.attempt : batch.attempt - 1;
  const replacements = {
    ...{
      chainId: payout.chainId,
      account: account.address,
      names: namesOf(batch).slice(attemptsKnown),
    },
    since: await repository.createdAt(payout),
  };
  const now = clock.now();
  const replacedWei = await gasOfReplaced(smartAccounts, replacements, {
    since: batch.updatedAt,
    now,
  });
  await repository.fail({ payout, batch, failure, replacedWei, now });
  return "moved";
};
