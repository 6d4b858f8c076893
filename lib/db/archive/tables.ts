/** The tables of which a closed month is written to files, and which of their rows may leave the database then. */
import { firstIdAt } from "@/lib/core/ids";

/** A closed month in UTC. */
export interface Month {
  /** `2026-01`. */
  readonly name: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

export interface ArchivedTable {
  readonly table: string;
  /** Names the project first, as every index of a distributed table does: statements over a batch of rows find them by it on each node. */
  readonly key: readonly string[];
  /** SQL: whether the row `d` belongs to the month. */
  readonly isIn: (month: Month) => string;
  /** SQL: whether nothing needs the row `d` any more. Null: the rows always stay, and the file is a copy. */
  readonly mayLeave: string | null;
}

// The values are made here, and a cursor takes no parameters.
const between = (column: string, from: string, to: string): string => `${column} >= '${from}' AND ${column} < '${to}'`;
const within = (column: string, { startsAt, endsAt }: Month): string =>
  between(column, startsAt.toISOString(), endsAt.toISOString());

/** By the ids of transactions, so that a transaction and its entries are of one month, and an index finds them. */
const byTransaction = (column: string, { startsAt, endsAt }: Month): string => {
  const first = (time: Date): string =>
    `${firstIdAt("ledgerTransaction", time).slice("ltx_".length)}-0000-0000-000000000000`;
  return between(column, first(startsAt), first(endsAt));
};

const WAITS = "w.status = 'pending'";

/** In the order in which rows leave: attempts before their delivery, deliveries before their event. They come back in the other order. */
export const ARCHIVED_TABLES: readonly ArchivedTable[] = [
  {
    table: "webhook_attempt",
    key: ["project_id", "delivery_id", "number"],
    isIn: (month) => `EXISTS (SELECT FROM webhook_delivery w WHERE w.project_id = d.project_id AND w.id = d.delivery_id
      AND ${within("w.created_at", month)})`,
    mayLeave: `NOT EXISTS (SELECT FROM webhook_delivery w WHERE w.project_id = d.project_id AND w.id = d.delivery_id AND ${WAITS})`,
  },
  {
    table: "webhook_delivery",
    key: ["project_id", "id"],
    isIn: (month) => within("d.created_at", month),
    mayLeave: "d.status <> 'pending'",
  },
  {
    table: "event",
    key: ["project_id", "sequence"],
    isIn: (month) => within("d.created_at", month),
    // The newest event of each object stays: the next one of the object is numbered after it.
    mayLeave: `EXISTS (SELECT FROM event n WHERE n.project_id = d.project_id AND n.object_id = d.object_id
        AND n.object_sequence > d.object_sequence)
      AND NOT EXISTS (SELECT FROM webhook_delivery w WHERE w.project_id = d.project_id AND w.sequence = d.sequence AND ${WAITS})`,
  },
  // The ledger keeps everything: see docs/decisions/growth.md.
  {
    table: "ledger_entry",
    key: ["project_id", "account_id", "seq"],
    isIn: (month) => byTransaction("d.transaction_id", month),
    mayLeave: null,
  },
  {
    table: "ledger_transaction",
    key: ["project_id", "id"],
    isIn: (month) => byTransaction("d.id", month),
    mayLeave: null,
  },
];

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** @throws Error where the text is no month such as `2026-01` */
export const parseMonth = (name: string): Month => {
  const [, year, month] = MONTH.exec(name) ?? [];
  if (year === undefined || month === undefined) throw new Error(`"${name}" is no month. Write it as 2026-01.`);
  const at = (plus: number): Date => new Date(Date.UTC(Number(year), Number(month) - 1 + plus, 1));
  return { name, startsAt: at(0), endsAt: at(1) };
};
