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

/** The facts of accounts, in the order of `ids`; null where an id is no account of the project. */
const factsOf = async (
  { query }: LedgerRepository,
  kept: LRUCache<string, Facts>,
  projectId: string,
  ids: readonly string[],
): Promise<readonly (Facts | null)[]> => {
  const known = ids.map((id) => {
    const facts = kept.get(id);
    return facts?.projectId === projectId ? facts : null;
  });
  const readable = ids.filter((id, index) => known[index] === null && isId("globalAccount", id));
  if (readable.length === 0) return known;
  const rows = await query<{ id: string; currency: string }>(READ_FACTS, [projectId, idArray(readable)]);
  // The accounts of one project and currency share one object.
  const shared = new Map<string, Facts>();
  const read = new Map<string, Facts>();
  for (const { id, currency } of rows) {
    const facts = shared.get(currency) ?? { projectId, currency };
    shared.set(currency, facts);
    kept.set(`ga_${id}`, facts);
    read.set(`ga_${id}`, facts);
  }
  return ids.map((id, index) => known[index] ?? read.get(id) ?? null);
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
    const [notActive, [source = null, ...recipients]] = await Promise.all([
      notActiveAmong(repository, projectId, accountIds),
      factsOf(repository, kept, projectId, [sourceId, ...accountIds]),
    ]);
    if (source === null) return unfit;
    for (const [index, id] of accountIds.entries()) {
      const facts = recipients[index] ?? null;
      if (facts === null) unfit.set(id, "missing");
      else if (facts.currency !== source.currency) unfit.set(id, "currency");
      else if (notActive.has(id)) unfit.set(id, "frozen");
    }
    return unfit;
  };
};
