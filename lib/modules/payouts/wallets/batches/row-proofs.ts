/** What the logs of a mined batch prove about its rows. */
import { decodeEventLog, erc20Abi } from "viem";
import type { ReceiptLog } from "@/lib/ports/routing";
import type { PayableRow } from "./payout-batch";

interface Moved {
  readonly recipient: string;
  readonly amountBase: bigint;
}

export interface RowProof {
  readonly row: PayableRow;
  /** What the token says that it moved: 0 when there is no log for the row. */
  readonly movedBase: bigint;
  /** What it says that it moved to the row's recipient, for all rows of the batch. */
  readonly loggedBase: bigint;
}

const transferOf = (log: ReceiptLog, from: string): Moved | null => {
  try {
    const { args } = decodeEventLog({
      abi: erc20Abi,
      eventName: "Transfer",
      topics: [...log.topics] as [`0x${string}`, ...`0x${string}`[]],
      data: log.data,
    });
    if (args.from.toLowerCase() !== from) return null;
    return { recipient: args.to.toLowerCase(), amountBase: args.value };
  } catch {
    // Another event, or one that is named like it and has other fields.
    return null;
  }
};

/** Takes the first of the list that fits. */
const take = (moved: Moved[], fits: (one: Moved) => boolean): Moved | null => {
  const at = moved.findIndex(fits);
  return at < 0 ? null : (moved.splice(at, 1)[0] ?? null);
};

/**
 * Rows for which the token's `Transfer` events name another amount, or none. Each event counts for one row: first for a row of exactly
 * its amount, then for another one of its recipient. A missing event is a suspicion and no proof, because a token may have events of
 * its own kind. Coins have no events; there the success of the call is the proof.
 */
export const rowsThatDiffer = (
  { token, account }: { token: string; account: string },
  rows: readonly PayableRow[],
  logs: readonly ReceiptLog[],
): readonly RowProof[] => {
  if (token === "native") return [];
  const byRecipient = new Map<string, Moved[]>();
  for (const log of logs) {
    if (log.address.toLowerCase() !== token.toLowerCase()) continue;
    const moved = transferOf(log, account.toLowerCase());
    if (moved === null) continue;
    byRecipient.set(moved.recipient, [...(byRecipient.get(moved.recipient) ?? []), moved]);
  }
  const logged = new Map(
    [...byRecipient].map(([recipient, all]) => [recipient, all.reduce((sum, { amountBase }) => sum + amountBase, 0n)]),
  );
  const movedTo = ({ recipient }: PayableRow): Moved[] => byRecipient.get(recipient.toLowerCase()) ?? [];
  return rows
    .filter((row) => take(movedTo(row), ({ amountBase }) => amountBase === row.amountBase) === null)
    .map((row) => ({
      row,
      movedBase: take(movedTo(row), () => true)?.amountBase ?? 0n,
      loggedBase: logged.get(row.recipient.toLowerCase()) ?? 0n,
    }));
};
