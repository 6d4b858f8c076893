/** Checks all of a new payout that does not depend on who asks for it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Assets } from "@/lib/chains/assets";
import { handledLater } from "@/lib/core/handled-later";
import type { Database } from "@/lib/db/client";
import type { LedgerService } from "@/lib/modules/ledger/service";
import { requireRows } from "../limits";
import { withAvailable, type PayoutSource } from "./available-funds";
import { openPayoutTotals } from "./repository";
import { readRows, readRowsEarly, requirePayable, type PayoutRowInput, type ReadRows } from "./check-rows";

interface CheckDeps {
  readonly database: Pick<Database, "reading">;
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
  const accountIds = transfers.map(({ recipientAccountId }) => recipientAccountId);
  const reading = handledLater(
    deps.database.reading((sql) =>
      sql.together(() =>
        Promise.all([
          openPayoutTotals(sql, projectId, sourceAccountId),
          deps.ledger.payer(sql, projectId, { sourceId: sourceAccountId, accountIds }),
        ]),
      ),
    ),
  );
  // The rows are read while the database works. The event loop gets a turn, so that the statements are sent before that work begins.
  await nextTurn();
  const early = readRowsEarly(transfers, deps.assets);
  const [open, { source, unfit }] = await reading;
  const { availableBase } = withAvailable(source, open);
  const asset = deps.assets.resolve(source.currency, "sourceAccountId");
  const read = early?.asset === asset ? early : readRows(transfers, asset);
  requirePayable(transfers, { read, source, unfit, assets: deps.assets });
  const { items, rows } = read;
  const totalBase = items.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  return { source, availableBase, asset, items, rows, totalBase };
};
