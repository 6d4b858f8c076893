import { z } from "zod";
import type { EvmAddress } from "@/lib/core/evm";
import type { Status, SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { json, type RowOf, table, text } from "@/lib/platform/db/table";
import { DEPOSIT_KIND } from "./operation";
import { newOperations } from "./rows";
import { searchTermsOf } from "./search";
import { announceEvents } from "./state-repository";

// Operations of kind `deposit`: money that came from outside. They have no legs and no job; the
// module `deposits` changes their state.

interface DepositOperationState {
  readonly projectId: string;
  readonly id: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly event: string;
}

interface NewDepositOperation extends DepositOperationState {
  readonly wallet: { readonly id: string; readonly address: EvmAddress };
  /** The address that sent the money; null when it is unknown. */
  readonly sender: EvmAddress | null;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
}

interface DepositMove extends DepositOperationState {
  readonly failure: { readonly code: string; readonly message: string } | null;
}

const depositEvents = table({ id: text, type: text, data: json(z.unknown()) });
const depositMoves = table({
  id: text,
  status: text,
  subStatus: text,
  failure: json(z.unknown()),
});

const byProject = <Row extends { readonly projectId: string }>(
  rows: readonly Row[],
): [string, Row[]][] =>
  [...new Set(rows.map(({ projectId }) => projectId))].map((projectId) => [
    projectId,
    rows.filter((row) => row.projectId === projectId),
  ]);

const noteEvents = async (
  db: Sql,
  projectId: string,
  states: readonly DepositOperationState[],
  now: Date,
): Promise<void> => {
  const rows = states.map(({ id, status, subStatus, event }) => ({
    id,
    type: event,
    data: { status, subStatus },
  }));
  await db.change(sql`
    INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
    SELECT
      ${projectId},
      n.id,
      coalesce(
        (
          SELECT max(e.seq) FROM operation_event e
          WHERE e.project_id = ${projectId} AND e.operation_id = n.id
        ),
        0
      ) + 1,
      n.type,
      n.data,
      ${now}::timestamptz
    FROM ${depositEvents.list(rows)} AS n`);
  for (const { id } of states) announceEvents(db, id);
};

const rowOf = (
  { id, projectId, status, subStatus, ...deposit }: NewDepositOperation,
  now: Date,
): RowOf<typeof newOperations> => {
  const { wallet, sender, token, amountBase, txHash } = deposit;
  const request = {
    sources: sender === null ? [] : [{ owner: sender, token, amountBase }],
    destination: { token, recipient: wallet.address },
    slippageBps: 0,
  };
  return {
    id,
    projectId,
    kind: DEPOSIT_KIND,
    status,
    subStatus,
    request,
    quoted: { expectedBase: amountBase, receivedBase: amountBase },
    minimumBase: amountBase,
    createdBy: DEPOSIT_KIND,
    retryOf: null,
    acceptedAt: now,
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    evaluationId: null,
    searchTerms: searchTermsOf(request, [wallet], [txHash]),
  };
};

/**
 * Stores the operations of deposits with their first events. The caller holds the locks of the
 * deposits' rows.
 */
export const storeDepositOperations = async (
  db: Sql,
  deposits: readonly NewDepositOperation[],
  now: Date,
): Promise<void> => {
  for (const [projectId, own] of byProject(deposits)) {
    const list = newOperations.list(own.map((deposit) => rowOf(deposit, now)));
    // A deposit that a reorganisation removed keeps its operation when it is mined again. The
    // operation then gets the fields of the new log.
    await db.change(sql`
      UPDATE operation o SET
        status = n.status,
        sub_status = n.sub_status,
        failure = NULL,
        request = n.request,
        quoted = n.quoted,
        minimum_base = n.minimum_base,
        search_terms = n.search_terms,
        version = o.version + 1,
        updated_at = n.updated_at
      FROM ${list} AS n
      WHERE o.project_id = ${projectId} AND o.id = n.id`);
    await db.change(sql`
      INSERT INTO operation (${newOperations.names})
      SELECT ${newOperations.names} FROM ${list} AS n
      ON CONFLICT DO NOTHING`);
    await noteEvents(db, projectId, own, now);
  }
};

/**
 * Sets the states of deposits' operations. The caller changes the deposits' rows by compare-and-set
 * in the same transaction.
 */
export const moveDepositOperations = async (
  db: Sql,
  moves: readonly DepositMove[],
  now: Date,
): Promise<void> => {
  for (const [projectId, own] of byProject(moves)) {
    await db.change(sql`
      UPDATE operation o SET
        status = m.status,
        sub_status = m.sub_status,
        failure = m.failure,
        version = o.version + 1,
        updated_at = ${now}::timestamptz
      FROM ${depositMoves.list(own)} AS m
      WHERE o.project_id = ${projectId} AND o.id = m.id`);
    await noteEvents(db, projectId, own, now);
  }
};
