import type { Database } from "@/lib/db/client";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import type { Sealed } from "@/lib/ports/encryption";

export interface SecretKey {
  readonly projectId: string;
  readonly endpointId: string;
  readonly id: string;
}

export interface SecretRow extends SecretKey {
  readonly sealed: Sealed;
  readonly createdAt: Date;
  /** Null: the current one. */
  readonly expiresAt: Date | null;
}

/** Authenticated with the secret: in another row it does not open. */
export const secretContext = ({ projectId, endpointId, id }: SecretKey): string =>
  JSON.stringify(["webhook-secret", projectId, endpointId, id]);

interface StoredRow extends SecretKey {
  readonly encrypted: Uint8Array;
  readonly kekId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** The secrets that sign at this time, the current one first. */
export const signingSecrets = async (
  sql: SqlReader,
  { projectId, endpointId }: Omit<SecretKey, "id">,
  now: Date,
): Promise<SecretRow[]> => {
  const rows = await sql.query<StoredRow>(
    `SELECT project_id AS "projectId", endpoint_id AS "endpointId", id, encrypted, kek_id AS "kekId",
       created_at AS "createdAt", expires_at AS "expiresAt"
     FROM webhook_secret
     WHERE project_id = $1 AND endpoint_id = $2 AND (expires_at IS NULL OR expires_at > $3::timestamptz)
     ORDER BY expires_at DESC NULLS FIRST`,
    [projectId, endpointId, now.toISOString()],
  );
  return rows.map(({ encrypted: bytes, kekId, ...row }) => ({ ...row, sealed: { bytes, kekId } }));
};

/** Stores the new secret; those before it end at `overlapUntil` at the latest. */
export const replaceSecret = async (
  sql: Sql,
  secret: Omit<SecretRow, "expiresAt">,
  overlapUntil: Date,
): Promise<void> => {
  const { projectId, endpointId, id, sealed, createdAt } = secret;
  await sql.change(
    `UPDATE webhook_secret SET expires_at = least(coalesce(expires_at, $3::timestamptz), $3::timestamptz)
     WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId, overlapUntil.toISOString()],
  );
  await sql.change(
    `INSERT INTO webhook_secret (project_id, endpoint_id, id, encrypted, kek_id, created_at)
     VALUES ($1, $2, $3, $4::bytea, $5, $6::timestamptz)`,
    [projectId, endpointId, id, Buffer.from(sealed.bytes), sealed.kekId, createdAt.toISOString()],
  );
};

/** For the rotation of key-encryption keys. */
export const encryptedWebhookSecrets = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
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
