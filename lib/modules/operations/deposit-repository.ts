/** Operations of kind `deposit`: money that came from outside. They have no legs and no job; the module `deposits` sets their state. */
import type { Status, SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { Sql } from "@/lib/db/sql";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedText } from "@/lib/ports/routing-json";
import { DEPOSIT_KIND } from "./deposit-kind";
import { announceEvents } from "./event-repository";
import { OPERATION_COLUMNS } from "./accept-repository";
import { columnOf } from "./row-repository";
import { searchTermsOf } from "./search";

interface DepositOperationState {
  readonly projectId: string;
  readonly id: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  /** Of the operation's own list of events. */
  readonly event: string;
}

interface NewDepositOperation extends DepositOperationState {
  readonly wallet: { readonly id: string; readonly address: EvmAddress };
  /** Null: not known. */
  readonly sender: EvmAddress | null;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
}

interface DepositMove extends DepositOperationState {
  readonly failure: { readonly code: string; readonly message: string } | null;
}

// A deposit that a reorganisation removed comes back as the same operation, with what its log says now.
const REVIVE = `
  UPDATE operation o SET status = n.status, sub_status = n.sub_status, failure = NULL, request = n.request, quoted = n.quoted,
    minimum_base = n.minimum_base, search_terms = n.search_terms, version = o.version + 1, updated_at = n.updated_at
  FROM jsonb_populate_recordset(NULL::operation, $1::jsonb) AS n
  WHERE o.project_id = $2 AND o.id = n.id`;

const INSERT = `
  INSERT INTO operation (${OPERATION_COLUMNS})
  SELECT ${OPERATION_COLUMNS} FROM jsonb_populate_recordset(NULL::operation, $1::jsonb)
  ON CONFLICT DO NOTHING`;

const MOVE = `
  UPDATE operation o SET status = m.status, sub_status = m.sub_status, failure = m.failure, version = o.version + 1,
    updated_at = $2::timestamptz
  FROM jsonb_to_recordset($1::jsonb) AS m (id text, status text, sub_status text, failure jsonb)
  WHERE o.project_id = $3 AND o.id = m.id`;

const EVENTS = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  SELECT $3, n.id, coalesce((SELECT max(e.seq) FROM operation_event e WHERE e.project_id = $3 AND e.operation_id = n.id), 0) + 1,
    n.type, n.data, $2::timestamptz
  FROM jsonb_to_recordset($1::jsonb) AS n (id text, type text, data jsonb)`;

/** The rows of each project, because a statement names one. */
const byProject = <Row extends { readonly projectId: string }>(rows: readonly Row[]): [string, Row[]][] =>
  [...new Set(rows.map(({ projectId }) => projectId))].map((projectId) => [
    projectId,
    rows.filter((row) => row.projectId === projectId),
  ]);

const noteEvents = async (
  sql: Sql,
  projectId: string,
  states: readonly DepositOperationState[],
  now: Date,
): Promise<void> => {
  const rows = states.map(({ id, status, subStatus, event }) => ({ id, type: event, data: { status, subStatus } }));
  await sql.change(EVENTS, [JSON.stringify(rows), now, projectId]);
  for (const { id } of states) announceEvents(sql, id);
};

const rowOf = (deposit: NewDepositOperation, now: Date): object => {
  const { id, projectId, status, subStatus, wallet, sender, token, amountBase, txHash } = deposit;
  const request = {
    sources: sender === null ? [] : [{ owner: sender, token, amountBase }],
    destination: { token, recipient: wallet.address },
    slippageBps: 0,
  };
  const row = {
    ...{ id, projectId, status, subStatus, request, createdBy: DEPOSIT_KIND, kind: DEPOSIT_KIND },
    quoted: { expectedBase: amountBase, receivedBase: amountBase },
    minimumBase: amountBase,
    searchTerms: searchTermsOf(request, [wallet], [txHash]),
    ...{ acceptedAt: now, createdAt: now, updatedAt: now },
  };
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [columnOf(field), value as unknown]));
};

/** Stores operations of deposits with their first event. The caller's transaction holds the deposits' rows. */
export const storeDepositOperations = async (
  sql: Sql,
  deposits: readonly NewDepositOperation[],
  now: Date,
): Promise<void> => {
  for (const [projectId, own] of byProject(deposits)) {
    const rows = storedText(own.map((deposit) => rowOf(deposit, now)));
    await sql.change(REVIVE, [rows, projectId]);
    await sql.change(INSERT, [rows]);
    await noteEvents(sql, projectId, own, now);
  }
};

/** Sets the states of operations of deposits. The caller's transaction has changed the deposits' rows by compare-and-set. */
export const moveDepositOperations = async (sql: Sql, moves: readonly DepositMove[], now: Date): Promise<void> => {
  for (const [projectId, own] of byProject(moves)) {
    const rows = own.map(({ id, status, subStatus, failure }) => ({ id, status, sub_status: subStatus, failure }));
    await sql.change(MOVE, [JSON.stringify(rows), now, projectId]);
    await noteEvents(sql, projectId, own, now);
  }
};
