import type { Database } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import type { Sealed } from "@/lib/platform/ports/encryption";
import { secrets } from "./rows";

// The signing secrets of endpoints, which are stored encrypted.

type StoredSecret = RowOf<typeof secrets>;

export type SecretKey = Pick<StoredSecret, "projectId" | "endpointId" | "id">;

export interface SecretRow extends Omit<StoredSecret, "encrypted" | "kekId"> {
  readonly sealed: Sealed;
}

/** Associated data of the encryption: the ciphertext cannot be decrypted in another row. */
export const secretContext = ({ projectId, endpointId, id }: SecretKey): string =>
  JSON.stringify(["webhook-secret", projectId, endpointId, id]);

/** The secrets that sign at `now`, the current one first. */
export const signingSecrets = async (
  db: SqlReader,
  { projectId, endpointId }: Omit<SecretKey, "id">,
  now: Date,
): Promise<SecretRow[]> => {
  const rows = await secrets.all(
    db,
    sql`
      SELECT ${secrets.columns("s")} FROM webhook_secret s
      WHERE s.project_id = ${projectId}
        AND s.endpoint_id = ${endpointId}
        AND (s.expires_at IS NULL OR s.expires_at > ${now}::timestamptz)
      ORDER BY s.expires_at DESC NULLS FIRST`,
  );
  return rows.map(({ encrypted, kekId, ...row }) => ({
    ...row,
    sealed: { bytes: encrypted, kekId },
  }));
};

/** Stores the new secret. Earlier secrets expire at `overlapUntil` at the latest. */
export const replaceSecret = async (
  db: Sql,
  { projectId, endpointId, id, sealed, createdAt }: Omit<SecretRow, "expiresAt">,
  overlapUntil: Date,
): Promise<void> => {
  await db.change(sql`
    UPDATE webhook_secret SET
      expires_at = least(
        coalesce(expires_at, ${overlapUntil}::timestamptz),
        ${overlapUntil}::timestamptz
      )
    WHERE project_id = ${projectId} AND endpoint_id = ${endpointId}`);
  await db.change(sql`
    INSERT INTO webhook_secret (project_id, endpoint_id, id, encrypted, kek_id, created_at)
    VALUES (
      ${projectId},
      ${endpointId},
      ${id},
      ${Buffer.from(sealed.bytes)}::bytea,
      ${sealed.kekId},
      ${createdAt}::timestamptz
    )`);
};

/**
 * The encrypted signing secrets. `npm run keys:rotate` encrypts each of them again under the newest
 * key.
 */
export const encryptedWebhookSecrets = ({
  prisma,
}: Pick<Database, "prisma">): EncryptedRows => ({
  name: "webhook secrets",
  count: async () => {
    const groups = await prisma.webhookSecret.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.webhookSecret.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.webhookSecret.findMany({
      where: { kekId, id: { gt: afterId } },
      orderBy: { id: "asc" },
      take: limit,
    });
    return rows.map((row) => ({
      id: row.id,
      context: secretContext(row),
      sealed: { kekId, bytes: row.encrypted },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.webhookSecret.updateMany({
      where: { id, kekId: sealed.kekId, encrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, encrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
