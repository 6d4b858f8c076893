/** How much of its source account a new payout may use. */
import type { Asset } from "@/lib/chains/assets";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { SqlReader } from "@/lib/db/sql";
import { LEDGER_DECIMALS, type AccountRecord, type LedgerService } from "@/lib/modules/ledger/service";
import type { AccountsPayout } from "../payout";
import { openPayoutTotals } from "./repository";

export interface PayoutSource {
  readonly source: AccountRecord;
  /** The source's balance less what its open payouts will still take, in ledger units; not below 0. */
  readonly availableBase: bigint;
}

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

/** @throws DomainError `not_found` */
export const readSource = async (
  deps: { readonly reader: SqlReader; readonly ledger: Pick<LedgerService, "account"> },
  projectId: string,
  accountId: string,
): Promise<PayoutSource> => {
  const open = await openPayoutTotals(deps.reader, projectId, accountId);
  return withAvailable(await deps.ledger.account(projectId, accountId), open);
};

/** @param open from `openPayoutTotals`, read before the account */
export const withAvailable = (source: AccountRecord, open: ReadonlyMap<string, bigint>): PayoutSource => {
  const leftBase = source.postedBase - (open.get(source.id) ?? 0n);
  return { source, availableBase: leftBase > 0n ? leftBase : 0n };
};

interface Wanted extends PayoutSource {
  readonly asset: Asset;
  readonly totalBase: bigint;
}

const notEnough = ({ source, availableBase, asset, totalBase }: Wanted): DomainError => {
  const pendingBase = source.postedBase - availableBase;
  const [available, missing] = [units(availableBase), units(totalBase - availableBase)];
  const pending =
    pendingBase === 0n
      ? ""
      : ` Open payouts from it will take ${units(pendingBase)} ${asset.symbol}; cancel one of them, or fund the account.`;
  const message = `The account has ${available} ${asset.symbol} available, ${missing} less than the payout's total. Nothing was paid.${pending}`;
  return new DomainError("insufficient_balance", message, { details: [{ path: "sourceAccountId", message }] });
};

/**
 * Checks that an atomic payout fits beside the open payouts of its source. Two payouts that are created at the same moment may both pass;
 * the ledger then refuses the one that it posts last. Independent rows are refused one by one, when they are posted.
 * @throws DomainError `insufficient_balance`
 */
export const requireFunds = (checked: Wanted, mode: AccountsPayout["mode"]): void => {
  if (mode === "atomic" && checked.availableBase < checked.totalBase) throw notEnough(checked);
};
