import pg from "pg";

/**
 * The rights of the service's role on every table. After the migrations the owner grants exactly
 * the rights in this list. The role gets no rights on a table that is not listed.
 */

/**
 * - `read`: SELECT. Only the owner writes.
 * - `append`: also INSERT. A row never changes.
 * - `keep`: also UPDATE. A row may change but is never deleted.
 * - `change`: also DELETE.
 */
type Rights = "read" | "append" | "keep" | "change";

type Privilege = "SELECT" | "INSERT" | "UPDATE" | "DELETE";

const PRIVILEGES: Readonly<Record<Rights, readonly Privilege[]>> = {
  read: ["SELECT"],
  append: ["SELECT", "INSERT"],
  keep: ["SELECT", "INSERT", "UPDATE"],
  change: ["SELECT", "INSERT", "UPDATE", "DELETE"],
};

export const TABLE_RIGHTS: Readonly<Record<string, Rights>> = {
  _prisma_migrations: "read",
  account_deployment: "keep",
  annotation: "keep",
  api_key: "keep",
  api_request: "change",
  app_user: "keep",
  approval: "change",
  archive_month: "read",
  archived_events: "read",
  audit_anchor: "append",
  audit_event: "append",
  audit_head: "keep",
  audit_link: "append",
  audit_seal: "append",
  audit_seal_head: "append",
  audit_unlinked: "change",
  backup_record: "read",
  balance_guard: "keep",
  balance_hold: "change",
  balance_snapshot: "change",
  bundle_operation: "keep",
  bundler_queue: "change",
  callback: "change",
  chain_head: "keep",
  chain_transaction: "keep",
  code_limit: "change",
  contact: "change",
  decision_request: "keep",
  decision_vote: "append",
  // Rows of dust in final blocks are added to the sums in `deposit_dust` and deleted.
  deposit: "change",
  deposit_coins: "keep",
  deposit_dust: "keep",
  deposit_scan: "keep",
  dev_mail: "change",
  email_code: "change",
  event: "append",
  event_counter: "keep",
  event_outbox: "change",
  // Records of exports are deleted 30 days after their creation, and the parts of their files
  // after 8 days.
  export: "change",
  export_chunk: "change",
  gas_alert: "change",
  idempotency_key: "change",
  instance: "change",
  invitation: "keep",
  job: "change",
  ledger_account: "append",
  ledger_entry: "append",
  ledger_transaction: "append",
  mail_outbox: "change",
  managed_key: "keep",
  membership: "change",
  notification: "change",
  notification_box: "keep",
  notification_channel: "change",
  notification_channel_message: "change",
  notification_due: "change",
  notification_preference: "keep",
  operation: "keep",
  operation_event: "append",
  operation_leg: "keep",
  otp: "change",
  passkey: "change",
  passkey_challenge: "change",
  payout: "keep",
  payout_item: "append",
  payout_row_key: "change",
  payout_rows: "append",
  payout_schedule: "keep",
  payout_schedule_run: "keep",
  periodic_task: "keep",
  policy: "append",
  policy_evaluation: "append",
  policy_recipient: "append",
  policy_spend: "keep",
  policy_usage: "keep",
  privacy_pool_segment: "change",
  privacy_quote: "keep",
  privacy_slot: "keep",
  privacy_step: "keep",
  privacy_transfer: "keep",
  privacy_wallet: "keep",
  project: "keep",
  project_spend: "keep",
  push_subscription: "change",
  quote: "change",
  rate_window: "change",
  recovery_code: "change",
  refund_claim: "change",
  refund_payment: "keep",
  reserve_reading: "keep",
  rpc_budget: "keep",
  screening_list: "append",
  screening_list_entry: "append",
  screening_record: "append",
  session: "keep",
  signer_nonce: "keep",
  signing_state: "keep",
  siwe_nonce: "change",
  sponsor_budget: "keep",
  sponsor_usage: "keep",
  token_key: "change",
  totp_factor: "change",
  unknown_move: "keep",
  wallet: "keep",
  wallet_link: "change",
  wallet_payout: "keep",
  wallet_payout_batch: "keep",
  wallet_payout_item: "keep",
  wallet_transaction: "append",
  webhook_attempt: "change",
  webhook_delivery: "change",
  webhook_endpoint: "change",
  webhook_lane: "keep",
  webhook_secret: "change",
};

/** Columns that may change in tables whose other columns never change. */
export const COLUMN_RIGHTS: Readonly<Record<string, readonly string[]>> = {
  ledger_account: [
    "name",
    "status",
    "status_reason",
    "balance",
    "held",
    "version",
    "last_seq",
    "updated_at",
  ],
};

export const privilegesOn = (table: string): readonly Privilege[] => {
  const rights = TABLE_RIGHTS[table];
  return rights === undefined ? [] : PRIVILEGES[rights];
};

// Grants the service's role the rights of `TABLE_RIGHTS`, and detects a role with more rights.

type Client = Pick<pg.ClientBase, "query">;

const ALL = [
  "SELECT",
  "INSERT",
  "UPDATE",
  "DELETE",
  "TRUNCATE",
  "REFERENCES",
  "TRIGGER",
] as const;
/**
 * Privileges that change rows or a table. SELECT is left out, because reading destroys nothing.
 */
const CHANGING = ALL.filter((privilege) => privilege !== "SELECT");
const NAMES_SHOWN = 5;
const DOCS = "docs/operations.md#database-roles";

interface Granted {
  readonly table: string;
  /** Privileges that the role itself was granted on the table, sorted. */
  readonly own: readonly string[];
  readonly ownColumns: readonly string[];
  /** Whether PUBLIC (every role) has any privilege on the table. */
  readonly hasPublic: boolean;
}

// The rights that the role has on each table. When a table's ACL is NULL, only the owner has
// rights on the table, and `aclexplode` returns no rows.
const GRANTED = `
  SELECT c.relname AS table,
    array(SELECT x.privilege_type::text FROM aclexplode(c.relacl) x WHERE x.grantee = r.oid ORDER BY 1) AS own,
    array(SELECT a.attname::text FROM pg_attribute a, aclexplode(a.attacl) x
      WHERE a.attrelid = c.oid AND x.grantee = r.oid ORDER BY 1) AS "ownColumns",
    EXISTS (SELECT FROM aclexplode(c.relacl) x WHERE x.grantee = 0) AS "hasPublic"
  FROM pg_class c, pg_roles r
  WHERE r.rolname = $1 AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY($2::text[]) AND c.relkind IN ('r', 'p')`;

// The sequences that the role may not use. CASE is needed, because the function fails for
// relations that are not sequences, and conditions run in any order.
const SEQUENCES = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace
    AND CASE WHEN c.relkind = 'S' THEN NOT has_sequence_privilege($1::text, c.oid, 'USAGE') ELSE false END`;

const SCHEMA = `
  SELECT has_schema_privilege($1::text, 'public', 'USAGE') AS "isUsable",
    EXISTS (SELECT FROM pg_namespace n, aclexplode(n.nspacl) x
      WHERE n.nspname = 'public' AND x.grantee = 0 AND x.privilege_type = 'CREATE' AND pg_has_role(n.nspowner, 'USAGE')) AS "isOpen"`;

// Finds the role of the ledger's connections if the service's role is not a member of it and the
// current user can grant it. This role has no right that the service's role lacks. A user who did
// not create the role may be unable to grant it.
const LEDGER_ROLE = `
  SELECT FROM pg_roles WHERE rolname = 'causeway_ledger' AND NOT pg_has_role($1::text, oid, 'MEMBER')
    AND pg_has_role(current_user, oid, 'MEMBER WITH ADMIN OPTION')`;

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value) => other.includes(value));

const fits = ({ table, own, ownColumns, hasPublic }: Granted): boolean =>
  !hasPublic &&
  isSame(own, privilegesOn(table)) &&
  isSame(ownColumns, COLUMN_RIGHTS[table] ?? []);

const statementsFor = (table: string, role: string): readonly string[] => {
  const name = pg.escapeIdentifier(table);
  const columns = COLUMN_RIGHTS[table];
  return [
    `REVOKE ALL ON ${name} FROM PUBLIC, ${role}`,
    `GRANT ${privilegesOn(table).join(", ")} ON ${name} TO ${role}`,
    ...(columns === undefined
      ? []
      : [`GRANT UPDATE (${columns.join(", ")}) ON ${name} TO ${role}`]),
  ];
};

/**
 * Gives `roleName` exactly the rights of `TABLE_RIGHTS`, in one transaction. The owner of the
 * tables calls it after the migrations. Rights that are correct already are not touched.
 */
export const grantAppRole = async (client: Client, roleName: string): Promise<void> => {
  const role = pg.escapeIdentifier(roleName);
  const granted = await client.query<Granted>(GRANTED, [roleName, Object.keys(TABLE_RIGHTS)]);
  const statements = granted.rows
    .filter((one) => !fits(one))
    .flatMap(({ table }) => statementsFor(table, role));
  const { rows: sequences } = await client.query<{ name: string }>(SEQUENCES, [roleName]);
  for (const { name } of sequences)
    statements.push(`GRANT USAGE ON SEQUENCE ${pg.escapeIdentifier(name)} TO ${role}`);
  const [schema] = (
    await client.query<{ isUsable: boolean; isOpen: boolean }>(SCHEMA, [roleName])
  ).rows;
  if (schema?.isUsable === false) statements.push(`GRANT USAGE ON SCHEMA public TO ${role}`);
  if (schema?.isOpen === true) statements.push("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  if ((await client.query(LEDGER_ROLE, [roleName])).rows.length > 0)
    statements.push(`GRANT causeway_ledger TO ${role}`);
  // All statements are sent as one text, which PostgreSQL runs in one transaction.
  if (statements.length > 0) await client.query(statements.join(";\n"));
};

// Selects every role that the connected role is a member of, itself included.
const ABLE = "SELECT r.* FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')";

const POWERS = `
  WITH able AS (${ABLE}), tables AS (
    SELECT c.oid, c.relname::text AS name, c.relowner FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY($1::text[])
  )
  SELECT current_user::text AS role,
    EXISTS (SELECT FROM able WHERE rolsuper) AS "isSuperuser",
    EXISTS (SELECT FROM able WHERE rolcreaterole) AS "makesRoles",
    EXISTS (SELECT FROM able WHERE rolname IN ('pg_execute_server_program', 'pg_write_server_files', 'pg_write_all_data')) AS "writesAll",
    array(SELECT t.name FROM tables t JOIN able ON able.oid = t.relowner ORDER BY 1) AS owned,
    EXISTS (SELECT FROM pg_namespace n JOIN able ON able.oid = n.nspowner WHERE n.nspname = 'public') AS "ownsSchema",
    EXISTS (SELECT FROM pg_database d JOIN able ON able.oid = d.datdba WHERE d.datname = current_database()) AS "ownsDatabase",
    has_schema_privilege('public', 'CREATE') AS creates`;

const HELD = `
  WITH able AS (${ABLE})
  SELECT t.name AS table, p.name AS privilege,
    EXISTS (SELECT FROM able WHERE has_table_privilege(able.oid, c.oid, p.name)) AS held
  FROM unnest($1::text[]) t (name) JOIN pg_class c ON c.oid = to_regclass('public.' || quote_ident(t.name)), unnest($2::text[]) p (name)
  ORDER BY t.name COLLATE "C", p.name`;

interface Powers {
  readonly role: string;
  readonly isSuperuser: boolean;
  readonly makesRoles: boolean;
  readonly writesAll: boolean;
  readonly owned: readonly string[];
  readonly ownsSchema: boolean;
  readonly ownsDatabase: boolean;
  readonly creates: boolean;
}

const some = (names: readonly string[]): string =>
  names.length > NAMES_SHOWN
    ? `${names.slice(0, NAMES_SHOWN).join(", ")} and others`
    : names.join(", ");

const powersOf = (powers: Powers): readonly string[] => {
  if (powers.isSuperuser) return ["is a superuser"];
  return [
    ...(powers.owned.length > 0 ? [`owns tables (${some(powers.owned)})`] : []),
    ...(powers.ownsSchema ? ["owns the schema public"] : []),
    ...(powers.ownsDatabase ? ["owns the database"] : []),
    ...(powers.makesRoles ? ["may make roles"] : []),
    ...(powers.writesAll ? ["has a role of PostgreSQL that writes past all rights"] : []),
    ...(powers.creates ? ["may create objects in the schema public"] : []),
  ];
};

interface RoleFaults {
  /**
   * How the role can remove or rewrite history; null when it cannot. Production refuses such a
   * role.
   */
  readonly tooStrong: string | null;
  /** Which part of the service's work the role cannot do; null when it can do all of it. */
  readonly tooWeak: string | null;
}

/** Examines the role of the connection. Reports no faults for a database without tables. */
export const roleFaults = async (client: Client): Promise<RoleFaults> => {
  const tables = Object.keys(TABLE_RIGHTS);
  const [powers] = (await client.query<Powers>(POWERS, [tables])).rows;
  if (powers === undefined) return { tooStrong: null, tooWeak: null };
  const { rows } = await client.query<{ table: string; privilege: string; held: boolean }>(
    HELD,
    [tables, ALL],
  );
  const wanted = ({ table, privilege }: (typeof rows)[number]): boolean =>
    privilegesOn(table).some((one) => one === privilege);
  const excess = rows.filter(
    (row) => row.held && !wanted(row) && CHANGING.some((one) => one === row.privilege),
  );
  const missing = rows.filter((row) => !row.held && wanted(row));
  const found = [...powersOf(powers)];
  if (found.length === 0 && excess.length > 0)
    found.push(`has ${some(excess.map(({ table, privilege }) => `${privilege} on ${table}`))}`);
  const advice = `Let DATABASE_URL name a role that owns nothing, and DATABASE_OWNER_URL the owner, for the migrations: ${DOCS}`;
  return {
    tooStrong:
      found.length === 0 || rows.length === 0
        ? null
        : `The role ${powers.role} of DATABASE_URL ${found.join(", ")}, so whoever has it can remove history unseen. ${advice}`,
    tooWeak:
      missing.length === 0
        ? null
        : `The role ${powers.role} of DATABASE_URL lacks ${some(missing.map(({ table, privilege }) => `${privilege} on ${table}`))}. ` +
          `Run the migrations as the owner of the tables, which grant it: ${DOCS}`,
  };
};

const OWNS = `SELECT current_user::text AS role, pg_has_role(relowner, 'USAGE') AS owns
  FROM pg_class WHERE oid = to_regclass('public.audit_event')`;

/**
 * Requires the owner of the tables, for commands that change what the service's role may not
 * change.
 * @throws Error when the connection's role does not own the tables
 */
export const requireOwner = async (client: Client): Promise<void> => {
  const [found] = (await client.query<{ role: string; owns: boolean }>(OWNS)).rows;
  if (found?.owns === false)
    throw new Error(
      `The role ${found.role} does not own the tables. Set DATABASE_OWNER_URL to the owner: ${DOCS}`,
    );
};
