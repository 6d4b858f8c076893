/** Checks all of a new payout that does not depend on who asks for it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Assets } from "@/lib/chains/assets";
import { handledLater } from "@/lib/core/handled-later";
import type { SqlReader } from "@/lib/db/sql";
import type { LedgerService } from "@/lib/modules/ledger/service";
import { requireRows } from "../limits";
import { withAvailable, type PayoutSource } from "./available-funds";
import { openPayoutTotals } from "./repository";
import { readRows, readRowsEarly, requirePayable, type PayoutRowInput, type ReadRows } from "./check-rows";

interface CheckDeps {
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<LedgerService, "payer">;
  readonly assets: Assets;
}

export interface Checked extends PayoutSource, Omit<ReadRows, "amountFaults"> {
  readonly totalBase: bigint;
}

/** @throws DomainError `invalid_request` (every bad row by index), `not_found`, `batch_too_large` */
export const checkPayout = async (
  deps: CheckDeps,
  projectId: string,
  { sourceAccountId, transfers }: { readonly sourceAccountId: string; readonly transfers: readonly PayoutRowInput[] },
): Promise<Checked> => {
  requireRows(transfers.length);
  // The rows are read while the database works. `nextTurn` gives the event loop a turn, so that a statement is sent before that work begins.
  const readingOpen = handledLater(openPayoutTotals(deps.reader, projectId, sourceAccountId));
  await nextTurn();
  const recipients = [...new Set(transfers.map(({ recipientAccountId }) => recipientAccountId))];
  const open = await readingOpen;
  const readingPayer = handledLater(deps.ledger.payer(projectId, sourceAccountId, recipients));
  await nextTurn();
  const early = readRowsEarly(transfers, deps.assets);
  const { source, unfit } = await readingPayer;
  const { availableBase } = withAvailable(source, open);
  const asset = deps.assets.resolve(source.currency, "sourceAccountId");
  const read = early?.asset === asset ? early : readRows(transfers, asset);
  requirePayable(transfers, { read, source, unfit, assets: deps.assets });
  const { items, rows } = read;
  const totalBase = items.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  return { source, availableBase, asset, items, rows, totalBase };
};
