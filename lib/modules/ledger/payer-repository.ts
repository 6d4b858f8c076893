/** Reads the account that pays a payout, and which of the recipients it cannot pay. The currency of an account never changes, so it is kept in memory. */
import { LRUCache } from "lru-cache";
import { notFound } from "@/lib/core/errors";
import { handledLater } from "@/lib/core/handled-later";
import { isId } from "@/lib/core/ids";
import type { SqlReader } from "@/lib/db/sql";
import { ACCOUNT_COLUMNS, accountOf, type AccountRecord, type AccountRow } from "./account-reads";
import { bare, idArray } from "./sql";

/** Why an account cannot be paid: it is none of the project's, in another currency, or frozen or closed. */
export type UnfitRecipient = "missing" | "currency" | "frozen";

/** Accounts whose fields are kept; about 20 MB. */
const KEPT_MAX = 100_000;
/** A project with more frozen and closed accounts than this has the recipients of each payout looked up one by one instead. */
const NOT_ACTIVE_MAX = 1000;

const READ_FACTS = `
  SELECT id, currency FROM ledger_account WHERE project_id = $1 AND kind = 'customer' AND id = ANY($2::uuid[])`;

const IS_NOT_ACTIVE = "project_id = $1 AND kind = 'customer' AND status <> 'active'";
// The partial index `ledger_account_not_active_idx` covers the list.
const READ_PAYER = `
  SELECT ${ACCOUNT_COLUMNS},
    ARRAY(SELECT id::text FROM ledger_account WHERE ${IS_NOT_ACTIVE} LIMIT ${String(NOT_ACTIVE_MAX + 1)}) AS not_active
  FROM ledger_account WHERE project_id = $1 AND id = $2 AND kind = 'customer'`;
const READ_NOT_ACTIVE_AMONG = `SELECT id FROM ledger_account WHERE ${IS_NOT_ACTIVE} AND id = ANY($2::uuid[])`;

/** Safe to keep in memory: the project, kind and currency of an account never change, and no account is ever deleted. */
interface Facts {
  readonly projectId: string;
  readonly currency: string;
}

interface PayerRow extends AccountRow {
  readonly not_active: readonly string[];
}

/** @param notActive ids without prefix of accounts that are not active, of which there may be more */
const notActiveAmong = async (
  reader: SqlReader,
  projectId: string,
  { notActive, ids }: { readonly notActive: readonly string[]; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> => {
  let found = notActive;
  if (found.length > NOT_ACTIVE_MAX) {
    const readable = ids.filter((id) => isId("globalAccount", id));
    const rows = await reader.query<{ id: string }>(READ_NOT_ACTIVE_AMONG, [projectId, idArray(readable)]);
    found = rows.map(({ id }) => id);
  }
  return new Set(found.map((id) => `ga_${id}`));
};

/**
 * Project and currency of accounts, from memory where they are kept, else from the database. In the order of `ids`; null for an id that is no
 * customer's account of the project.
 */
const factsOf = async (
  reader: SqlReader,
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
  const rows = await reader.query<{ id: string; currency: string }>(READ_FACTS, [projectId, idArray(readable)]);
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

/** An account and the recipients that it cannot pay, each with the reason. */
export interface Payer {
  readonly source: AccountRecord;
  readonly unfit: ReadonlyMap<string, UnfitRecipient>;
}

export const createPayers = () => {
  const kept = new LRUCache<string, Facts>({ max: KEPT_MAX });
  /**
   * @param reader gets the statement that reads the source's balance before this returns its promise
   * @param accountIds of the recipients; may be of any shape
   * @throws DomainError `not_found` for the source
   */
  return async (
    reader: SqlReader,
    projectId: string,
    { sourceId, accountIds }: { readonly sourceId: string; readonly accountIds: readonly string[] },
  ): Promise<Payer> => {
    if (!isId("globalAccount", sourceId)) throw notFound();
    const reading = handledLater(reader.query<PayerRow>(READ_PAYER, [projectId, bare(sourceId)]));
    const recipients = await factsOf(reader, kept, projectId, accountIds);
    const [row] = await reading;
    if (row === undefined) throw notFound();
    const source = accountOf(row);
    const notActive = await notActiveAmong(reader, projectId, { notActive: row.not_active, ids: accountIds });
    const unfit = new Map<string, UnfitRecipient>();
    for (const [index, id] of accountIds.entries()) {
      const facts = recipients[index] ?? null;
      if (facts === null) unfit.set(id, "missing");
      else if (facts.currency !== source.currency) unfit.set(id, "currency");
      else if (notActive.has(id)) unfit.set(id, "frozen");
    }
    return { source, unfit };
  };
};
