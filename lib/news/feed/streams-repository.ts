import { announce, keptSqlOn } from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import type { Database, Tx } from "@/lib/platform/db/client";
import { indexes } from "./rows";

/** An API key, and the scope that it needs while the stream is open. */
export interface KeyCredential {
  readonly kind: "apiKey";
  readonly keyId: string;
  readonly projectId: string;
  readonly scope: string;
}

export interface SessionCredential {
  readonly kind: "session";
  readonly sessionId: string;
  readonly userId: string;
  readonly projectId: string;
}

export type Credential = KeyCredential | SessionCredential;

type Numbered<Kind extends Credential["kind"]> = Extract<Credential, { kind: Kind }> & {
  /** Index in the list of credentials. */
  readonly n: number;
};

interface Checked {
  readonly keys: readonly Numbered<"apiKey">[];
  readonly sessions: readonly Numbered<"session">[];
}

const selectEnded = ({ keys, sessions }: Checked, now: Date): Statement => sql`
  SELECT c.n
  FROM unnest(
    ${keys.map(({ n }) => n)}::int[],
    ${keys.map(({ keyId }) => keyId)}::text[],
    ${keys.map(({ projectId }) => projectId)}::text[],
    ${keys.map(({ scope }) => scope)}::text[]
  ) AS c (n, key_id, project_id, scope)
  WHERE NOT EXISTS (
    SELECT 1 FROM api_key k
    WHERE k.id = c.key_id
      AND k.project_id = c.project_id
      AND c.scope = ANY (k.scopes)
      AND k.revoked_at IS NULL
      AND k.suspended_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > ${now}::timestamptz)
  )
  UNION ALL
  SELECT p.n
  FROM unnest(
    ${sessions.map(({ n }) => n)}::int[],
    ${sessions.map(({ sessionId }) => sessionId)}::text[],
    ${sessions.map(({ userId }) => userId)}::text[],
    ${sessions.map(({ projectId }) => projectId)}::text[]
  ) AS p (n, session_id, user_id, project_id)
  WHERE NOT EXISTS (
    SELECT 1 FROM session s
    JOIN membership m ON m.project_id = p.project_id AND m.user_id = s.user_id
    WHERE s.id = p.session_id
      AND s.user_id = p.user_id
      AND s.revoked_at IS NULL
      AND s.expires_at > ${now}::timestamptz
  )`;

export const createStreamsRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = keptSqlOn(pool);
  return {
    ended: async (
      credentials: readonly Credential[],
      now: Date,
    ): Promise<readonly Credential[]> => {
      const keys = credentials.flatMap((each, n) =>
        each.kind === "apiKey" ? [{ ...each, n }] : [],
      );
      const sessions = credentials.flatMap((each, n) =>
        each.kind === "session" ? [{ ...each, n }] : [],
      );
      const ended = await indexes.all(db, selectEnded({ keys, sessions }, now));
      return ended.flatMap(({ n }) => credentials[n] ?? []);
    },
  };
};

export type StreamsRepository = ReturnType<typeof createStreamsRepository>;

export const CREDENTIAL_CHANNEL = "credential_ended";

export const notifyEnded = (tx: Tx, id: string): void => {
  announce(tx, { channel: CREDENTIAL_CHANNEL, payload: id });
};
