/** Compares the rows of a mined batch with the `Transfer` events (ERC-20) in its logs. */
import { decodeEventLog, erc20Abi } from "viem";
import type { ReceiptLog } from "@/lib/core/evm";
import type { PayableRow } from "./payout-batch";

interface Moved {
  readonly recipient: string;
  readonly amountBase: bigint;
}

export interface RowProof {
  readonly row: PayableRow;
  /**
   * The amount of the event that belongs to this row, in base units; 0 when there is no such event.
   */
  readonly movedBase: bigint;
  /** The sum of all events of the batch to the row's recipient, in base units. */
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
    // The log is no transfer: it belongs to another event, or to an event with this name and
    // different fields.
    return null;
  }
};

/** Removes and returns the first element that fits; null when no element fits. */
const take = (moved: Moved[], fits: (one: Moved) => boolean): Moved | null => {
  const at = moved.findIndex(fits);
  return at < 0 ? null : (moved.splice(at, 1)[0] ?? null);
};

/**
 * Returns the rows for which the token's `Transfer` events show another amount, or none. Each event
 * is matched to one row: first to a row with exactly its amount, then to another row of its
 * recipient. A missing event does not prove that nothing was paid, because a token may emit other
 * events. Native coins have no events; a successful call proves their payment.
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
    [...byRecipient].map(([recipient, all]) => [
      recipient,
      all.reduce((sum, { amountBase }) => sum + amountBase, 0n),
    ]),
  );
  const movedTo = ({ recipient }: PayableRow): Moved[] =>
    byRecipient.get(recipient.toLowerCase()) ?? [];
  return rows
    .filter(
      (row) => take(movedTo(row), ({ amountBase }) => amountBase === row.amountBase) === null,
    )
    .map((row) => ({
      row,
      movedBase: take(movedTo(row), () => true)?.amountBase ?? 0n,
      loggedBase: logged.get(row.recipient.toLowerCase()) ?? 0n,
    }));
};
