import type { Sealed } from "@/lib/platform/ports/encryption";
import { MissingKeysError } from "./errors";
import type { EncryptedRow, EncryptedRows, Keyring } from "./service";

export interface KeyUse {
  readonly rows: string;
  readonly kekId: string;
  readonly count: number;
  readonly is: "current" | "previous" | "unknown";
}

export const checkKeys = async (
  keyring: Keyring,
  tables: readonly EncryptedRows[],
): Promise<KeyUse[]> => {
  const uses: KeyUse[] = [];
  for (const table of tables) {
    for (const [kekId, count] of await table.count()) {
      const isKnown = keyring.ids.includes(kekId);
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

/**
 * Checks at the start that every key that the database needs is configured.
 * @throws MissingKeysError that names each missing key
 */
export const requireKeys = async (
  keyring: Keyring,
  tables: readonly EncryptedRows[],
): Promise<void> => {
  const problems: string[] = [];
  for (const table of tables) {
    for (const kekId of await table.keyIds())
      if (!keyring.ids.includes(kekId))
        problems.push(
          `The database has ${table.name} under key ${kekId}, which is not configured.`,
        );
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

/**
 * Decrypts the row's value, and encrypts it under the current key.
 * @throws UnreadableError when the row was changed, or is encrypted under a different key than its
 * id says
 */
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

const rotateKey = async (
  options: RotateOptions,
  table: EncryptedRows,
  kekId: string,
): Promise<number> => {
  const { keyring, batchSize = BATCH } = options;
  let encrypted = 0;
  let afterId = "";
  for (;;) {
    const rows = await table.batch({ kekId, afterId, limit: batchSize });
    for (const row of rows)
      if (await table.replace(row, encryptAnew(keyring, row))) encrypted += 1;
    afterId = rows.at(-1)?.id ?? afterId;
    options.onBatch?.(table.name, encrypted);
    if (rows.length < batchSize) return encrypted;
  }
};

/**
 * Re-encrypts every row whose key is not the current one. Each row changes in a separate
 * transaction, so the rotation may be killed and repeated at any time, even while instances serve
 * and while another rotation runs.
 */
export const rotateKeys = async (options: RotateOptions): Promise<Rotation[]> => {
  const { keyring, tables } = options;
  const results: Rotation[] = [];
  for (const table of tables) {
    const previous = (await table.keyIds()).filter(
      (kekId) => kekId !== keyring.currentId && keyring.ids.includes(kekId),
    );
    let encrypted = 0;
    for (const kekId of previous) encrypted += await rotateKey(options, table, kekId);
    results.push({ rows: table.name, encrypted });
  }
  return results;
};
