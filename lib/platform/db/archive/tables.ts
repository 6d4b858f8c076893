import { firstIdAt } from "@/lib/core/ids";
import pg from "pg";
import { createLayout } from "@/lib/platform/db/sql";
import { connectionOf } from "@/lib/platform/db/pool";
import { requireOwner } from "@/lib/platform/db/roles/app-role";

// The tables whose closed months are written to files, and which of their rows may then be removed.

/** A closed month in UTC. */
export interface Month {
  /** The month in the form `2026-01`. */
  readonly name: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

export interface ArchivedTable {
  readonly table: string;
  /**
   * Columns of the key. The key begins with the project, as every index of a distributed table
   * does, so that statements over a batch of rows can use the index on each node.
   */
  readonly key: readonly string[];
  /** SQL: whether the row `d` belongs to the month. */
  readonly isIn: (month: Month) => string;
  /**
   * SQL: whether nothing needs the row `d` any more. Null when the rows always stay and the file is
   * only a copy.
   */
  readonly mayLeave: string | null;
}

// The values are inserted as text, because they are created here and a cursor takes no parameters.
const between = (column: string, from: string, to: string): string =>
  `${column} >= '${from}' AND ${column} < '${to}'`;
const within = (column: string, { startsAt, endsAt }: Month): string =>
  between(column, startsAt.toISOString(), endsAt.toISOString());

/**
 * Selects by transaction id, so that a transaction and its entries are in the same month, and an
 * index can be used.
 */
const byTransaction = (column: string, { startsAt, endsAt }: Month): string => {
  const first = (time: Date): string =>
    `${firstIdAt("ledgerTransaction", time).slice("ltx_".length)}-0000-0000-000000000000`;
  return between(column, first(startsAt), first(endsAt));
};

const WAITS = "w.status = 'pending'";

/**
 * The archived tables in the order of removal: attempts before their delivery, deliveries before
 * their event. Restoring uses the reverse order.
 */
export const ARCHIVED_TABLES: readonly ArchivedTable[] = [
  {
    table: "webhook_attempt",
    key: ["project_id", "delivery_id", "number"],
    isIn: (
      month,
    ) => `EXISTS (SELECT FROM webhook_delivery w WHERE w.project_id = d.project_id AND w.id = d.delivery_id
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
    // The newest event of each object stays, because the object's next event is numbered after it.
    mayLeave: `EXISTS (SELECT FROM event n WHERE n.project_id = d.project_id AND n.object_id = d.object_id
        AND n.object_sequence > d.object_sequence)
      AND NOT EXISTS (SELECT FROM webhook_delivery w WHERE w.project_id = d.project_id AND w.sequence = d.sequence AND ${WAITS})`,
  },
  // The ledger keeps all rows: see docs/decisions/growth.md.
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

/** Reads a month such as `2026-01`. @throws Error for any other text */
export const parseMonth = (name: string): Month => {
  const [, year, month] = MONTH.exec(name) ?? [];
  if (year === undefined || month === undefined)
    throw new Error(`"${name}" is no month. Write it as 2026-01.`);
  const at = (plus: number): Date =>
    new Date(Date.UTC(Number(year), Number(month) - 1 + plus, 1));
  return { name, startsAt: at(0), endsAt: at(1) };
};

// The connection of `npm run archive`. Only one command at a time may work on archives.

/**
 * Time limits of the archive's connection. They are generous, because statements read whole
 * tables, and files are written between two statements.
 */
const LIMITS = { idleInTransactionMs: 600_000, lockMs: 10_000, statementMs: 0 };
/** The key of an advisory lock: any number that no other lock uses. */
const LOCK = 0x43_57_41_52;
const LOCK_NOT_AVAILABLE = "55P03";

export interface Column {
  readonly name: string;
  /** As in the database's catalogue, for example `timestamp(3) with time zone`. */
  readonly type: string;
}

/**
 * Takes the lock of the archives. Waits for a short time, because a server needs some time to
 * notice that the connection of a killed command has ended.
 */
const takeLock = async (client: pg.Client): Promise<void> => {
  await client.query("SELECT pg_advisory_lock($1::bigint)", [LOCK]).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
    throw new Error("Another `npm run archive` is at work on this database.", { cause: error });
  });
};

/**
 * Runs `work` on a connection that holds the lock of the archives.
 * @throws Error when another command works on archives, or the role does not own the tables
 */
export const withSession = async <T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    ...connectionOf(url, LIMITS),
    application_name: "causeway archive",
  });
  client.on("error", () => undefined); // The pending statement reports the error.
  await client.connect();
  try {
    // Values are compared by their text, so the settings that affect it are fixed.
    await client.query(
      "SET TIME ZONE 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1",
    );
    await requireOwner(client);
    await takeLock(client);
    await createLayout(client)();
    return await work(client);
  } finally {
    await client.end();
  }
};

export const inTransaction = async <T>(
  client: pg.Client,
  begin: string,
  work: () => Promise<T>,
): Promise<T> => {
  await client.query(begin);
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
};

export const columnsOf = async (
  client: pg.Client,
  table: string,
): Promise<readonly Column[]> => {
  const { rows } = await client.query<Column>(
    `SELECT quote_ident(attname) AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  return rows;
};

export const schemaOf = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query<{ name: string | null }>(
    "SELECT max(migration_name) AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL",
  );
  return rows[0]?.name ?? "";
};
