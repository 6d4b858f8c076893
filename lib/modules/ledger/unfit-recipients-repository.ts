/** Finds the recipients of a payout that cannot be paid. Fields of an account that never change are read once and kept. */
import { LRUCache } from "lru-cache";
import { isId } from "@/lib/core/ids";
import type { LedgerRepository } from "./repository";
import { idArray } from "./sql";

/** Why an account cannot be paid: it is none of the project's, in another currency, or frozen or closed. */
export type UnfitRecipient = "missing" | "currency" | "frozen";

/** Accounts whose fields are kept; about 20 MB. */
const KEPT_MAX = 100_000;
/** A project with more frozen and closed accounts than this has the recipients of each payout looked up one by one instead. */
const NOT_ACTIVE_MAX = 1000;

const READ_FACTS = `
  SELECT id, currency FROM ledger_account WHERE project_id = $1 AND kind = 'customer' AND id = ANY($2::uuid[])`;

const IS_NOT_ACTIVE = "project_id = $1 AND kind = 'customer' AND status <> 'active'";
// The partial index `ledger_account_not_active_idx` covers it.
const READ_NOT_ACTIVE = `SELECT id FROM ledger_account WHERE ${IS_NOT_ACTIVE} LIMIT ${String(NOT_ACTIVE_MAX + 1)}`;
const READ_NOT_ACTIVE_AMONG = `SELECT id FROM ledger_account WHERE ${IS_NOT_ACTIVE} AND id = ANY($2::uuid[])`;

/** An account's project, kind and currency never change, and no account is ever deleted. */
interface Facts {
  readonly projectId: string;
  readonly currency: string;
}

const notActiveAmong = async (
  { query }: LedgerRepository,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  let rows = await query<{ id: string }>(READ_NOT_ACTIVE, [projectId]);
  if (rows.length > NOT_ACTIVE_MAX) {
    const readable = ids.filter((id) => isId("globalAccount", id));
    rows = await query<{ id: string }>(READ_NOT_ACTIVE_AMONG, [projectId, idArray(readable)]);
  }
  return new Set(rows.map(({ id }) => `ga_${id}`));
};

/** Reads the currencies of accounts. The map has no entry for an id that is no account of the project. */
const currenciesOf = async (
  { query }: LedgerRepository,
  kept: LRUCache<string, Facts>,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const currencies = new Map<string, string>();
  const unknown: string[] = [];
  for (const id of ids) {
    const facts = kept.get(id);
    if (facts?.projectId === projectId) currencies.set(id, facts.currency);
    else unknown.push(id);
  }
  const readable = unknown.filter((id) => isId("globalAccount", id));
  if (readable.length === 0) return currencies;
  const rows = await query<{ id: string; currency: string }>(READ_FACTS, [projectId, idArray(readable)]);
  // The accounts of one project and currency share one object.
  const shared = new Map<string, Facts>();
  for (const { id, currency } of rows) {
    const facts = shared.get(currency) ?? { projectId, currency };
    shared.set(currency, facts);
    kept.set(`ga_${id}`, facts);
    currencies.set(`ga_${id}`, currency);
  }
  return currencies;
};

export const createUnfitRecipients = (repository: LedgerRepository) => {
  const kept = new LRUCache<string, Facts>({ max: KEPT_MAX });

  /**
   * The recipients among `accountIds` that the source account cannot pay, each with the reason. Without such a source none is named.
   * @param accountIds may be of any shape
   */
  return async (
    projectId: string,
    sourceId: string,
    accountIds: readonly string[],
  ): Promise<ReadonlyMap<string, UnfitRecipient>> => {
    const unfit = new Map<string, UnfitRecipient>();
    const [notActive, currencies] = await Promise.all([
      notActiveAmong(repository, projectId, accountIds),
      currenciesOf(repository, kept, projectId, [sourceId, ...accountIds]),
    ]);
    const sourceCurrency = currencies.get(sourceId);
    if (sourceCurrency === undefined) return unfit;
    for (const id of accountIds) {
      const currency = currencies.get(id);
      if (currency === undefined) unfit.set(id, "missing");
      else if (currency !== sourceCurrency) unfit.set(id, "currency");
      else if (notActive.has(id)) unfit.set(id, "frozen");
    }
    return unfit;
  };
};
