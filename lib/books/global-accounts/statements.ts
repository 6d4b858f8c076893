/** Reads statements of customers' accounts and of the reserve account of a currency. */
import type { Asset, Assets } from "@/lib/chain/assets";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import {
  LEDGER_DECIMALS,
  systemAccountId,
  type EntryRecord,
  type LedgerService,
  type Statement,
} from "@/lib/books/ledger/service";
import type { StatementOwner } from "./entry-kind";
import type { GlobalAccount } from "./global-account";

/**
 * A statement for a period, without its entries. The entries are read separately, because their
 * number is unlimited.
 */
export interface BookStatement extends Statement {
  readonly projectId: string;
  /** The account of the ledger: a customer's account, or the reserve account of a currency. */
  readonly accountId: string;
  readonly owner: StatementOwner;
  readonly name: string | null;
  readonly assetId: string;
  /** Null when no configured chain lists the asset any more. */
  readonly asset: Asset | null;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

export interface AccountStatement extends GlobalAccount, BookStatement {
  readonly asset: Asset | null;
}

/**
 * The reserve account of a currency: its balance is the negated sum of the amounts that the project
 * owes to its accounts and of withdrawals in transit.
 */
export interface ReserveStatement extends BookStatement {
  readonly asset: Asset;
}

export interface StatementQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface Deps {
  readonly ledger: LedgerService;
  readonly assets: Assets;
  readonly clock: Clock;
}

type Range = Pick<BookStatement, "projectId" | "accountId" | "firstSeq" | "endSeq">;

const ENTRIES_MAX = 10_000;
const PAGE = 1000;

/**
 * The period of a statement. By default it begins on the first of this month (UTC) and ends now.
 * @throws DomainError `invalid_request` when the period ends before it begins
 */
const periodOf = ({ clock }: Deps, query: StatementQuery): { from: Date; to: Date } => {
  const now = clock.now();
  const from =
    query.from === undefined
      ? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))
      : new Date(query.from);
  const to = query.to === undefined ? now : new Date(query.to);
  if (from > to) throw invalidRequest([{ path: "to", message: "lies before `from`" }]);
  return { from, to };
};

/**
 * Reads an account's statement without its entries.
 * @throws DomainError `not_found`; `invalid_request` when the period ends before it begins
 */
export const accountStatement = async (
  deps: Deps,
  projectId: string,
  own: GlobalAccount,
  query: StatementQuery,
): Promise<AccountStatement> => {
  const { account } = own;
  const period = periodOf(deps, query);
  return {
    ...own,
    projectId,
    accountId: account.id,
    owner: "customer",
    name: account.name,
    assetId: account.currency,
    ...period,
    ...(await deps.ledger.statement(projectId, account.id, period)),
  };
};

/**
 * Reads the statement of a currency's reserve account without its entries.
 * @throws DomainError `unsupported_token`; `invalid_request` when the period ends before it begins
 */
export const reserveStatement = async (
  deps: Deps,
  projectId: string,
  currency: string,
  query: StatementQuery,
): Promise<ReserveStatement> => {
  const asset = deps.assets.resolve(currency, "currency");
  const { assetId } = asset;
  const period = periodOf(deps, query);
  return {
    projectId,
    accountId: systemAccountId(projectId, assetId, "treasury_reserve"),
    owner: "reserve",
    name: `${asset.symbol} reserve`,
    assetId,
    asset,
    ...period,
    ...(await deps.ledger.reserveStatement(projectId, assetId, period)),
  };
};

/** The first entries of a statement that fit in one response, oldest first. */
export const firstEntries = (
  { ledger }: Deps,
  { projectId, accountId, firstSeq, endSeq }: Range,
): Promise<readonly EntryRecord[]> =>
  ledger.entriesBetween({ projectId, accountId }, { firstSeq, endSeq, limit: ENTRIES_MAX });

/** Yields all entries of a statement, oldest first. */
export const allEntries = async function* (
  { ledger }: Deps,
  { projectId, accountId, firstSeq, endSeq }: Range,
): AsyncGenerator<EntryRecord> {
  for (let next = firstSeq; next < endSeq;) {
    const page = await ledger.entriesBetween(
      { projectId, accountId },
      { firstSeq: next, endSeq, limit: PAGE },
    );
    yield* page;
    next = (page.at(-1)?.seq ?? endSeq) + 1n;
  }
};

/**
 * Checks that the opening balance and every entry can be written with `decimals` decimals.
 * @throws DomainError `amount_precision`, which names the first entry that cannot
 */
export const requireExact = async (
  { ledger }: Deps,
  statement: BookStatement,
  decimals: number,
): Promise<void> => {
  const stepBase = 10n ** BigInt(LEDGER_DECIMALS - decimals);
  const refuse = (what: string, base: bigint): never => {
    const unit = statement.asset?.symbol ?? statement.assetId;
    const message = `${what} is ${formatAmount(base, LEDGER_DECIMALS)} ${unit}. The format allows ${String(decimals)} decimals, and nothing is rounded. Download CSV or PDF instead.`;
    throw new DomainError("amount_precision", message, {
      details: [{ path: "amount", message, code: "amount_precision" }],
    });
  };
  if (statement.openingBase % stepBase !== 0n)
    refuse("The opening balance", statement.openingBase);
  const { projectId, accountId, firstSeq, endSeq } = statement;
  const finer = await ledger.firstFinerEntry(
    { projectId, accountId },
    { firstSeq, endSeq, stepBase },
  );
  if (finer !== null) refuse(`Entry ${finer.seq.toString()}`, finer.amountBase);
};
