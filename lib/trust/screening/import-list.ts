import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { recordAudit } from "@/lib/news/audit/service";
import { ListRefusedError } from "./errors";
import { readListFile, type SignedList } from "./list-file";
import { insertList, lockNewestVersion } from "./repository";

interface ImportDeps {
  readonly database: Pick<Database, "transaction">;
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly clock: Clock;
}

/**
 * Imports a signed list in one transaction, with an audit entry. Every instance uses it within
 * seconds.
 * @param by who imports the list, for the audit entry
 * @returns the list, and whether it was stored now; importing the same version with the same
 * content again has no effect
 * @throws ListRefusedError for a wrong signature, an outdated list, and a version that is not
 * higher than the stored one
 */
export const importList = async (
  { database, keys, clock }: ImportDeps,
  { text, by }: { readonly text: string; readonly by: string },
): Promise<{ readonly list: SignedList; readonly isNew: boolean }> => {
  const at = clock.now();
  const list = readListFile(text, keys, at);
  const { name, version, source, keyId, digest, validUntil, entries } = list;
  return database.transaction(async (tx) => {
    const sql = sqlOf(tx);
    const newest = await lockNewestVersion(sql, name);
    if (newest?.version === version && Buffer.from(newest.digest).equals(digest))
      return { list, isNew: false };
    if (newest !== null && newest.version >= version)
      throw new ListRefusedError(
        `Version ${String(version)} of the list ${name} is not higher than the stored version ${String(newest.version)}. Nothing was imported.`,
      );
    await insertList(sql, list, { by, at });
    const data = {
      ...{ version, before: newest?.version ?? null, source, keyId, entries: entries.size },
      ...{ digest: Buffer.from(digest).toString("hex"), validUntil: validUntil.toISOString() },
    };
    const entry = {
      projectId: null,
      actor: by,
      action: "screening_list.imported",
      subject: name,
      data,
      at,
    };
    await recordAudit(tx, { ...entry, request: null });
    return { list, isNew: true };
  });
};
