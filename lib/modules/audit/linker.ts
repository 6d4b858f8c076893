import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import type { Secrets } from "@/lib/modules/encryption/service";
import { chainOf, EMPTY, HEAD_PURPOSE, headText, linkAfter, type Head } from "./chain";
import {
  insertLinks,
  lockHeads,
  lockLinking,
  lockOldHeads,
  queueLeftOut,
  takeUnlinked,
  writeHeads,
  type Link,
  type StoredHead,
} from "./link-repository";

export interface AuditLinker {
  /**
   * Gives every committed audit row its place in the chain of its project. Several instances may call it at once: one links, the
   * others return.
   */
  link(): Promise<void>;
}

export interface AuditLinkerDeps {
  readonly database: Pick<Database, "rawTransaction">;
  readonly secrets: Pick<Secrets, "id" | "hash" | "matches">;
  readonly clock: Clock;
}

const BATCH = 500;
const TIDY_EVERY_MS = 5 * 60_000;
/** How old a row may be that a process without the chain has written. */
const LOOK_MS = 60 * 60_000;
const FIRST_LOOK_MS = 7 * 24 * 60 * 60_000;

/** Links rows of the audit log; see `chain.ts` for what a link proves. */
export const createAuditLinker = ({ database, secrets, clock }: AuditLinkerDeps): AuditLinker => {
  const withMac = (chain: string, head: Head): Omit<StoredHead, "keyId"> => ({
    chain,
    ...head,
    mac: secrets.hash(HEAD_PURPOSE, headText(chain, head)),
  });

  /** Whether the head's code was made under a configured application secret, over exactly this head. */
  const isOurs = ({ chain, seq, hash, mac }: StoredHead): boolean =>
    secrets.matches(HEAD_PURPOSE, headText(chain, { seq, hash }), mac);

  /** @returns whether more rows may wait */
  const linkBatch = (): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      if (!(await lockLinking(sql))) return false;
      const rows = await takeUnlinked(sql, BATCH);
      if (rows.length === 0) return false;
      const chains = [...new Set(rows.map(({ projectId }) => chainOf(projectId)))];
      const stored = await lockHeads(sql, chains);
      const heads = new Map<string, Head>(stored.map(({ chain, seq, hash }) => [chain, { seq, hash }]));
      const links: Link[] = [];
      for (const row of rows) {
        const chain = chainOf(row.projectId);
        const head = linkAfter(heads.get(chain) ?? EMPTY, row);
        heads.set(chain, head);
        links.push({ chain, eventId: row.id, ...head });
      }
      await insertLinks(sql, links);
      await writeHeads(
        sql,
        [...heads].map(([chain, head]) => {
          const before = stored.find((one) => one.chain === chain);
          // A chain whose head was forged gets no valid code by going on, so `npm run audit:verify` goes on reporting it.
          return before === undefined || isOurs(before) ? withMac(chain, head) : { chain, ...head, mac: before.mac };
        }),
        secrets.id,
      );
      return rows.length === BATCH;
    });

  /** Heads of chains that nothing was added to since the application secret changed get their code under the new one. */
  const renewHeads = (): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      const old = await lockOldHeads(sql, secrets.id, BATCH);
      // A code that no configured secret explains stays as it is, for `npm run audit:verify` to report.
      const valid = old.filter(isOurs);
      if (valid.length === 0) return false;
      await writeHeads(
        sql,
        valid.map(({ chain, seq, hash }) => withMac(chain, { seq, hash })),
        secrets.id,
      );
      return old.length === BATCH;
    });

  let lookedAt: number | null = null;
  /** Queues rows and renews heads that only an upgrade or a changed secret leaves behind; at long intervals. */
  const tidy = async (): Promise<void> => {
    const now = clock.now().getTime();
    if (lookedAt !== null && now - lookedAt < TIDY_EVERY_MS) return;
    if (lookedAt === null) while (await renewHeads());
    const since = new Date(now - (lookedAt === null ? FIRST_LOOK_MS : LOOK_MS));
    const looked = await database.rawTransaction(async (sql) => {
      if (!(await lockLinking(sql))) return false;
      await queueLeftOut(sql, since);
      return true;
    });
    if (looked) lookedAt = now;
  };

  return {
    link: async () => {
      await tidy();
      while (await linkBatch());
    },
  };
};
