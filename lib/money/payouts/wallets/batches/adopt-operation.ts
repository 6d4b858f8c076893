import { isAddressEqual } from "viem";
import { coinsIn } from "@/lib/chain/erc4337/account-payments";
import type { Clock } from "@/lib/core/clock";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { PayableRow } from "./payout-batch";
import type { BatchRepository } from "./repository";

/**
 * A signed user operation of a batch that the chain has executed, with the nonce key of one of the
 * batch's attempts.
 */
interface Executed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

interface AdoptDeps {
  readonly repository: Pick<BatchRepository, "find" | "open" | "rowsOf" | "retry" | "sign">;
  readonly clock: Clock;
}

/**
 * Returns a function that stores an executed operation in its batch, for a database that was
 * restored from a backup made before the operation was signed. The driver then reads from the
 * operation's logs which rows were paid. Payments of native coins leave no logs, so such an
 * operation is stored only when it pays all rows of the batch. The function returns false when the
 * batch has ended or is mined, or when the operation paid other rows.
 */
export const createAdoptBatch =
  ({ repository, clock }: AdoptDeps) =>
  async (
    at: { readonly projectId: string; readonly payoutId: string; readonly number: number },
    attempt: number,
    executed: Executed,
  ): Promise<boolean> => {
    const payout = await repository.find(at.projectId, at.payoutId);
    const current = async () =>
      (await repository.open(payout)).find(({ number }) => number === at.number);
    const batch = await current();
    if (batch === undefined || batch.state === "mined") return false;
    if (
      batch.token === "native" &&
      !paysAll(executed.operation, await repository.rowsOf(batch))
    )
      return false;
    // The batch has stored an attempt that was not executed and can never be executed any more, so
    // the batch is queued before the executed operation is stored.
    if (batch.state !== "queued" && !(await repository.retry({ batch, now: clock.now() })))
      return false;
    const queued = batch.state === "queued" ? batch : await current();
    if (queued === undefined) return false;
    const maxGasWei = (queued.sponsorReservedWei ?? queued.formerGasWei) - queued.formerGasWei;
    const { operation, userOpHash, validUntil, fromBlock } = executed;
    const signed = { operation, userOpHash, validUntil, fromBlock };
    const before = { ...queued, attempt: attempt - 1 };
    return repository.sign({ payout, batch: before, signed, maxGasWei, now: clock.now() });
  };

/**
 * Whether the operation sends every row its amount in native coins. Each transfer counts for one
 * row, so a recipient of two rows must get two transfers.
 */
export const paysAll = (
  { callData }: Pick<UserOperation, "callData">,
  rows: readonly Pick<PayableRow, "recipient" | "amountBase">[],
): boolean => {
  const sent = coinsIn(callData);
  return rows.every(({ recipient, amountBase }) => {
    const at = sent.findIndex(
      ({ to, valueWei }) => isAddressEqual(to, recipient) && valueWei === amountBase,
    );
    if (at >= 0) sent.splice(at, 1);
    return at >= 0;
  });
};
