import { isAddressEqual } from "viem";
import { coinsIn } from "@/lib/chains/erc4337/account-payments";
import type { Clock } from "@/lib/core/clock";
import type { UserOperation } from "@/lib/ports/bundler";
import type { PayableRow } from "./payout-batch";
import type { BatchRepository } from "./repository";

/** The signed user operation with which the chain has paid a batch, under the nonce key of one of its attempts. */
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
 * Lets a batch name the operation that the chain executed with the nonce key of an attempt, when the database was taken back to before that
 * attempt was signed. The driver then reads from its logs which rows it paid. Payments of coins leave no logs, so a batch of coins is
 * adopted only with all its rows.
 * @returns false where the batch has ended, or was paid with other rows
 */
export const createAdoptBatch =
  ({ repository, clock }: AdoptDeps) =>
  async (
    at: { readonly projectId: string; readonly payoutId: string; readonly number: number },
    attempt: number,
    executed: Executed,
  ): Promise<boolean> => {
    const payout = await repository.find(at.projectId, at.payoutId);
    const current = async () => (await repository.open(payout)).find(({ number }) => number === at.number);
    const batch = await current();
    if (batch === undefined || batch.state === "mined") return false;
    if (batch.token === "native" && !paysAll(executed.operation, await repository.rowsOf(batch))) return false;
    // An attempt that the row names, and that is not the one that was executed, can never be executed any more.
    if (batch.state !== "queued" && !(await repository.retry({ batch, now: clock.now() }))) return false;
    const queued = batch.state === "queued" ? batch : await current();
    if (queued === undefined) return false;
    const maxGasWei = (queued.sponsorReservedWei ?? queued.formerGasWei) - queued.formerGasWei;
    const { operation, userOpHash, validUntil, fromBlock } = executed;
    const signed = { operation, userOpHash, validUntil, fromBlock };
    const before = { ...queued, attempt: attempt - 1 };
    return repository.sign({ payout, batch: before, signed, maxGasWei, now: clock.now() });
  };

/** Whether the operation's call sends each row its coins; a recipient with two rows is sent coins twice. */
export const paysAll = (
  { callData }: Pick<UserOperation, "callData">,
  rows: readonly Pick<PayableRow, "recipient" | "amountBase">[],
): boolean => {
  const sent = coinsIn(callData);
  return rows.every(({ recipient, amountBase }) => {
    const at = sent.findIndex(({ to, valueWei }) => isAddressEqual(to, recipient) && valueWei === amountBase);
    if (at >= 0) sent.splice(at, 1);
    return at >= 0;
  });
};
