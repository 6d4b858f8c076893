import { gasOfReplaced } from "@/lib/modules/smart-accounts/service";
import { REPLACED } from "./failures";
import { namesOf, type Failure } from "./payout-batch";
import type { Step, StepResult } from "./step";

/**
 * Fails a batch in whose place another operation of it was executed, and counts what the sponsor paid for that one. The cost of attempts
 * that the row knows is counted already.
 */
export const replaced = async (step: Step, failure: Failure = REPLACED): Promise<StepResult> => {
  const { payout, batch, account, repository, smartAccounts, clock } = step;
  const known = batch.state === "queued" ? batch.attempt : batch.attempt - 1;
  const asked = {
    ...{ chainId: payout.chainId, account: account.address, names: namesOf(batch).slice(known) },
    since: await repository.createdAt(payout),
  };
  const now = clock.now();
  const replacedWei = await gasOfReplaced(smartAccounts, asked, { since: batch.updatedAt, now });
  await repository.fail({ payout, batch, failure, replacedWei, now });
  return "moved";
};
