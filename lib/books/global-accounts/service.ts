import { bindDeps } from "@/lib/core/bind-deps";
import { type Actor, actorName, type UserActor } from "@/lib/core/actor";
import type { Asset, Assets } from "@/lib/chain/assets";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount, parseAmount } from "@/lib/core/money";
import type { XmlText } from "@/lib/core/xml";
import type { Sql } from "@/lib/platform/db/sql";
import { doneBy, recordAuditOn } from "@/lib/news/audit/service";
import {
  LEDGER_DECIMALS,
  type AccountRecord,
  type EntryRecord,
  type LedgerService,
} from "@/lib/books/ledger/service";
import { type ReservesService, toLedgerUnits } from "@/lib/books/reserves/service";
import type { GlobalAccount } from "./global-account";
import { postFunding, type FundingReserves } from "./post-funding";
import { CAMT_DECIMALS, camtCurrency, toCamt053 } from "./camt053";
import {
  type AccountStatement,
  accountStatement,
  allEntries,
  type BookStatement,
  firstEntries,
  requireExact,
  reserveStatement,
  type StatementQuery,
} from "./statements";

export interface Funding extends GlobalAccount {
  readonly fundingId: string;
  readonly transactionId: string;
  readonly amountBase: bigint;
  readonly at: Date;
  readonly reserves: FundingReserves;
}

export interface Reversal extends GlobalAccount {
  readonly transactionId: string;
  /** Id of the funding's ledger transaction. */
  readonly reversesId: string;
  readonly amountBase: bigint;
  readonly at: Date;
}

export interface GlobalAccountsDeps {
  readonly ledger: LedgerService;
  readonly reserves: ReservesService;
  /**
   * The amounts that open payouts will still take, in ledger units, by account id. `accountId` null
   * asks for all accounts of the project.
   */
  readonly openPayouts: (
    projectId: string,
    accountId: string | null,
  ) => Promise<ReadonlyMap<string, bigint>>;
  readonly assets: Assets;
  readonly clock: Clock;
}

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const globalAccount = (
  deps: GlobalAccountsDeps,
  account: AccountRecord,
  openBase: bigint,
): GlobalAccount => ({
  account,
  pendingBase: openBase < account.postedBase ? openBase : account.postedBase,
  asset: deps.assets.find(account.currency),
});

const get = async (
  deps: GlobalAccountsDeps,
  projectId: string,
  accountId: string,
): Promise<GlobalAccount> => {
  const open = await deps.openPayouts(projectId, accountId);
  return globalAccount(
    deps,
    await deps.ledger.account(projectId, accountId),
    open.get(accountId) ?? 0n,
  );
};

/**
 * Opens an account. A second call with the same idempotency key returns the account of the first.
 * @throws DomainError `unsupported_token`, `idempotency_mismatch`
 */
const open = async (
  deps: GlobalAccountsDeps,
  actor: Actor,
  input: { currency: string; name?: string | undefined; key: string | null },
): Promise<GlobalAccount> => {
  const asset = deps.assets.resolve(input.currency, "currency");
  const accountId = await deps.ledger.openAccount({
    projectId: actor.projectId,
    currency: asset.assetId,
    ...(input.name === undefined ? {} : { name: input.name }),
    key: input.key ?? newId("globalAccount"),
    by: actorName(actor),
  });
  return get(deps, actor.projectId, accountId);
};

const list = async (
  deps: GlobalAccountsDeps,
  projectId: string,
  query: {
    limit: number;
    cursor?: string | undefined;
    currency?: string | undefined;
    q?: string | undefined;
  },
): Promise<{ data: GlobalAccount[]; nextCursor: string | null }> => {
  const open = await deps.openPayouts(projectId, null);
  const rows = await deps.ledger.accounts(projectId, {
    limit: query.limit + 1,
    before: query.cursor,
    currency:
      query.currency === undefined
        ? undefined
        : deps.assets.resolve(query.currency, "currency").assetId,
    search: query.q,
  });
  const data = rows.slice(0, query.limit);
  return {
    data: data.map((account) => globalAccount(deps, account, open.get(account.id) ?? 0n)),
    nextCursor: rows.length > query.limit ? (data.at(-1)?.id ?? null) : null,
  };
};

/**
 * The amount in ledger units (18 decimals).
 * @throws DomainError `invalid_request`, `amount_precision` naming the invalid field
 */
const amountOf = (
  deps: GlobalAccountsDeps,
  account: AccountRecord,
  input: { amount: string; currency: string },
): { asset: Asset; base: bigint } => {
  const asset = deps.assets.resolve(input.currency, "currency");
  if (asset.assetId !== account.currency) {
    const message = `The account is in ${deps.assets.find(account.currency)?.symbol ?? account.currency}, not in ${asset.symbol}.`;
    throw invalidRequest([{ path: "currency", message }]);
  }
  return { asset, base: toLedgerUnits(asset, parseAmount(input.amount, asset.decimals)) };
};

/**
 * Credits the account from the project's reserves. The sum of all accounts of a currency never
 * exceeds the treasury's balance at final blocks minus the amounts that accepted operations will
 * still take from it. Both sums are read under the same locks.
 * @throws DomainError `not_found`, `invalid_request`, `amount_precision`, `insufficient_reserves`;
 * `chain_unavailable` when money on chains that do not answer would have been enough
 */
const fund = async (
  deps: GlobalAccountsDeps,
  actor: Actor,
  accountId: string,
  input: { amount: string; currency: string; key: string | null },
): Promise<Funding> => {
  const { asset, base } = amountOf(
    deps,
    await deps.ledger.account(actor.projectId, accountId),
    input,
  );
  const key = input.key ?? newId("funding");
  const { posted, reserves: weighed } = await postFunding(deps, actor, {
    accountId,
    asset,
    base,
    key,
  });
  const { transactionId, at } = posted;
  const fundingId = `fnd_${transactionId.slice(transactionId.indexOf("_") + 1)}`;
  const own = await get(deps, actor.projectId, accountId);
  return { ...own, fundingId, transactionId, amountBase: base, at, reserves: weighed };
};

/**
 * Checks that open payouts from the account do not need the money of a funding that is to be
 * reversed.
 * @throws DomainError `insufficient_balance`
 */
const requireAvailable = async (
  deps: GlobalAccountsDeps,
  projectId: string,
  accountId: string,
  amountBase: bigint,
): Promise<void> => {
  const { account, pendingBase } = await get(deps, projectId, accountId);
  const availableBase = account.postedBase - pendingBase;
  if (availableBase >= amountBase) return;
  const pending =
    pendingBase === 0n
      ? ""
      : ` Open payouts from it will take ${units(pendingBase)}; cancel them first.`;
  const message = `The account has ${units(availableBase)} available, less than the funding's ${units(amountBase)}. Nothing was moved.${pending}`;
  throw new DomainError("insufficient_balance", message);
};

/**
 * Reverses a funding. Debits the account, which frees the reserves. A repeated call returns the
 * first result.
 * @throws DomainError `not_found`; `invalid_state` when the transaction is not a funding, or the
 * account is frozen; `insufficient_balance` when the money was spent or open payouts will take it
 */
const reverse = async (
  deps: GlobalAccountsDeps,
  actor: UserActor,
  accountId: string,
  input: { transactionId: string; key: string | null },
): Promise<Reversal> => {
  const { projectId } = actor;
  const { transactionId } = input;
  const funding = await deps.ledger.entryOf(projectId, accountId, transactionId);
  if (funding === null) throw notFound();
  if (funding.kind !== "fund")
    throw new DomainError(
      "invalid_state",
      "Only a funding can be taken back. To return a payment, pay it back with a payout. Nothing was moved.",
    );
  if (funding.reversedById === null)
    await requireAvailable(deps, projectId, accountId, funding.amountBase);
  const key = input.key ?? newId("funding");
  const by = actorName(actor);
  const data = { amount: units(funding.amountBase), currency: funding.currency, transactionId };
  const audit = {
    ...doneBy(actor),
    action: "global_account.funding_reversed",
    subject: accountId,
    data,
  };
  const record = (sql: Sql): Promise<void> =>
    recordAuditOn(sql, { ...audit, at: deps.clock.now() });
  const reversalId =
    funding.reversedById ??
    (
      await deps.ledger.reverse(
        { projectId, transactionId, key, scope: `reverse:${by}`, by },
        record,
      )
    ).transactionId;
  const [own, entry] = await Promise.all([
    get(deps, projectId, accountId),
    deps.ledger.entryOf(projectId, accountId, reversalId),
  ]);
  if (entry === null) throw new Error("The ledger does not know its own transaction.");
  return {
    ...own,
    transactionId: reversalId,
    reversesId: transactionId,
    amountBase: funding.amountBase,
    at: entry.createdAt,
  };
};

const entries = async (
  deps: GlobalAccountsDeps,
  projectId: string,
  accountId: string,
  query: { limit: number; cursor?: string | undefined },
): Promise<GlobalAccount & { data: EntryRecord[]; nextCursor: string | null }> => {
  const own = await get(deps, projectId, accountId);
  const before = query.cursor === undefined ? {} : { before: BigInt(query.cursor) };
  const rows = await deps.ledger.entries(projectId, accountId, {
    limit: query.limit + 1,
    ...before,
  });
  const data = rows.slice(0, query.limit);
  return {
    ...own,
    data,
    nextCursor: rows.length > query.limit ? (data.at(-1)?.seq.toString() ?? null) : null,
  };
};

const statement = async (
  deps: GlobalAccountsDeps,
  projectId: string,
  accountId: string,
  period: StatementQuery,
): Promise<AccountStatement> =>
  accountStatement(deps, projectId, await get(deps, projectId, accountId), period);

/**
 * A statement as camt.053.
 * @throws DomainError `invalid_request` when the asset has no ISO 4217 code; `amount_precision` when
 * an amount does not fit the standard
 */
const camt053 = async (
  deps: GlobalAccountsDeps,
  statement: BookStatement,
  entries: AsyncIterable<EntryRecord> = allEntries(deps, statement),
): Promise<AsyncGenerator<XmlText>> => {
  const currency = camtCurrency(statement);
  await requireExact(deps, statement, CAMT_DECIMALS);
  return toCamt053(statement, entries, { currency, madeAt: deps.clock.now() });
};

/**
 * Accounts of a project's customers. Their balances are in the ledger, and the treasury's balances
 * on chain back them.
 */
export const createGlobalAccountsService = (deps: GlobalAccountsDeps) => ({
  open: bindDeps(deps, open),
  get: bindDeps(deps, get),
  list: bindDeps(deps, list),
  fund: bindDeps(deps, fund),
  reverse: bindDeps(deps, reverse),
  entries: bindDeps(deps, entries),
  /** @see accountStatement */
  statement: bindDeps(deps, statement),
  reserveStatement: bindDeps(deps, reserveStatement),
  camt053: bindDeps(deps, camt053),
  firstEntries: bindDeps(deps, firstEntries),
  allEntries: bindDeps(deps, allEntries),
});

export { LEDGER_DECIMALS };
export type { GlobalAccount } from "./global-account";
export type { AccountStatement, BookStatement, ReserveStatement } from "./statements";
export type GlobalAccountsService = ReturnType<typeof createGlobalAccountsService>;
