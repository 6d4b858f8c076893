/** Records of screenings that let money move or stopped it. */
import type { Sql } from "@/lib/db/sql";
import type { ScreeningState } from "@/lib/ports/screening";

export interface ScreeningRecord {
  readonly id: string;
  readonly projectId: string;
  /** request: it was stopped before anything was stored. */
  readonly subjectType: "operation" | "payout" | "funding" | "deposit" | "request";
  readonly subjectId: string | null;
  /** The leg, or the payout's batch, that was about to be signed; null: the whole subject was accepted. */
  readonly part: string | null;
  readonly phase: "accept" | "sign" | "broadcast" | "credit";
  readonly mode: string;
  /** passed; stopped; sent_by_wallet: a wallet had sent it before it was screened; quarantined */
  readonly outcome: "passed" | "stopped" | "sent_by_wallet" | "quarantined";
  /** How many addresses were screened. */
  readonly addresses: number;
  /** The verdicts of each source, counted. */
  readonly sources: readonly {
    readonly source: string;
    readonly listVersion: string | null;
    readonly state: ScreeningState;
    readonly count: number;
  }[];
  /** Addresses that were not clear, the first of them. */
  readonly findings: readonly {
    readonly address: string;
    readonly state: ScreeningState;
    readonly source: string;
    readonly listVersion: string | null;
  }[];
  readonly createdAt: Date;
}

const INSERT = `
  INSERT INTO screening_record (project_id, id, subject_type, subject_id, part, phase, mode, outcome, addresses, sources, findings, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::int, $10::jsonb, $11::jsonb, $12::timestamptz)`;

export const insertRecord = async (sql: Sql, row: ScreeningRecord): Promise<void> => {
  const { projectId, id, subjectType, subjectId, part, phase, mode, outcome, addresses, createdAt } = row;
  const json = [JSON.stringify(row.sources), JSON.stringify(row.findings)];
  const values = [projectId, id, subjectType, subjectId, part, phase, mode, outcome, addresses, ...json, createdAt];
  await sql.change(INSERT, values);
};
