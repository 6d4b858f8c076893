import type { Sealed } from "@/lib/ports/encryption";
import { MissingKeysError } from "./errors";
import { KEY_WITHOUT_ID, type EncryptedRow, type EncryptedRows, type Keyring } from "./service";

/** How many rows of a table are encrypted under a key. */
export interface KeyUse {
  readonly rows: string;
  readonly kekId: string;
  readonly count: number;
  readonly is: "current" | "previous" | "unknown";
}

/** How many rows are encrypted under each key. Rows from before keys had ids count as rows of a previous key. */
export const checkKeys = async (keyring: Keyring, tables: readonly EncryptedRows[]): Promise<KeyUse[]> => {
  const uses: KeyUse[] = [];
  for (const table of tables) {
    for (const [kekId, count] of await table.count()) {
      const isKnown = keyring.ids.includes(kekId) || kekId === KEY_WITHOUT_ID;
      uses.push({
        rows: table.name,
        kekId,
        count,
        is: kekId === keyring.currentId ? "current" : isKnown ? "previous" : "unknown",
      });
    }
  }
  return uses;
};

const firstOpens = async (keyring: Keyring, table: EncryptedRows): Promise<boolean> => {
  const [row] = await table.batch({ kekId: KEY_WITHOUT_ID, afterId: "", limit: 1 });
  if (row === undefined) return true;
  try {
    keyring.open(row.sealed, row.context).fill(0);
    return true;
  } catch {
    return false;
  }
};

const problemOf = async (keyring: Keyring, table: EncryptedRows, kekId: string): Promise<string | null> => {
  if (keyring.ids.includes(kekId)) return null;
  if (kekId !== KEY_WITHOUT_ID) return `The database has ${table.name} under key ${kekId}, which is not configured.`;
  // There was one key at a time before keys had ids, so the key that opens one of these rows opens all of them.
  return (await firstOpens(keyring, table)) ? null : `The database has ${table.name} that no configured key decrypts.`;
};

/**
 * Checks at the start that every key that the database needs is configured.
 * @throws MissingKeysError that names each missing key
 */
export const requireKeys = async (keyring: Keyring, tables: readonly EncryptedRows[]): Promise<void> => {
  const problems: string[] = [];
  for (const table of tables) {
    for (const kekId of await table.keyIds()) {
      const problem = await problemOf(keyring, table, kekId);
      if (problem !== null) problems.push(problem);
    }
  }
  if (problems.length > 0) throw new MissingKeysError(problems);
};

export interface Rotation {
  readonly rows: string;
  readonly encrypted: number;
}

interface RotateOptions {
  readonly keyring: Keyring;
  readonly tables: readonly EncryptedRows[];
  readonly batchSize?: number;
  readonly onBatch?: (table: string, encrypted: number) => void;
}

const BATCH = 500;

/** @throws UnreadableError when the row was changed, or is encrypted under another key than its id names */
const encryptAnew = (keyring: Keyring, row: EncryptedRow): Sealed => {
  const plain = keyring.open(row.sealed, row.context);
  try {
    const next = keyring.seal(plain, row.context);
    // A value that cannot be read back must not replace the only copy.
    const again = keyring.open(next, row.context);
    if (!again.equals(plain)) throw new Error(`Row ${row.id} could not be encrypted anew.`);
    again.fill(0);
    return next;
  } finally {
    plain.fill(0);
  }
};

const rotateKey = async (options: RotateOptions, table: EncryptedRows, kekId: string): Promise<number> => {
  const { keyring, batchSize = BATCH } = options;
  let encrypted = 0;
  let afterId = "";
  for (;;) {
    const rows = await table.batch({ kekId, afterId, limit: batchSize });
    for (const row of rows) if (await table.replace(row, encryptAnew(keyring, row))) encrypted += 1;
    afterId = rows.at(-1)?.id ?? afterId;
    options.onBatch?.(table.name, encrypted);
    if (rows.length < batchSize) return encrypted;
  }
};

/**
 * Encrypts every row again whose key is not the current one. Each row changes in a transaction of its own, so the rotation may be
 * killed and repeated at any time, also while instances serve and while another rotation runs.
 */
export const rotateKeys = async (options: RotateOptions): Promise<Rotation[]> => {
  const { keyring, tables } = options;
  const results: Rotation[] = [];
  for (const table of tables) {
    const previous = (await table.keyIds()).filter(
      (kekId) => kekId === KEY_WITHOUT_ID || (kekId !== keyring.currentId && keyring.ids.includes(kekId)),
    );
    let encrypted = 0;
    for (const kekId of previous) encrypted += await rotateKey(options, table, kekId);
    results.push({ rows: table.name, encrypted });
  }
  return results;
};
