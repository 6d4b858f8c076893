import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import type { Secrets } from "@/lib/platform/encryption/service";
import {
  databaseTime,
  insertLinks,
  insertSeal,
  lockHeads,
  lockLinking,
  lockOldHeads,
  lockUnsealedHeads,
  newestSeal,
  queueLeftOut,
  takeUnlinked,
  writeHeads,
} from "./chain-repository";
import {
  chainOf,
  EMPTY,
  HEAD_PURPOSE,
  headText,
  linkAfter,
  SEAL_PURPOSE,
  sealAfter,
  sealText,
} from "./rules";
import type { Head, Link, StoredHead, StoredSeal } from "./rows";

interface AuditSealer {
  /**
   * Seals the heads of the changed chains, at most once per interval over all instances. Safe to
   * call on several instances: one seals, the others return.
   */
  sealWhenDue(): Promise<void>;
}

interface AuditSealerDeps {
  readonly database: Pick<Database, "rawTransaction">;
  readonly secrets: Pick<Secrets, "id" | "hash" | "matches">;
  readonly clock: Clock;
  /**
   * Minimum time between two seals, unless one seal cannot contain every head. Default: a minute.
   */
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;
const HEADS_MAX = 1000;

const createAuditSealer = ({
  database,
  secrets,
  clock,
  everyMs = EVERY_MS,
}: AuditSealerDeps): AuditSealer => {
  const isOurs = (seal: StoredSeal): boolean =>
    secrets.matches(SEAL_PURPOSE, sealText(seal), seal.mac);

  const sealOnce = (isFurther: boolean): Promise<"busy" | "more" | "done"> =>
    database.rawTransaction(async (sql) => {
      // The lock also keeps the linker from moving heads at the same time.
      if (!(await lockLinking(sql))) return "busy";
      const before = await newestSeal(sql);
      const now = await databaseTime(sql);
      // After a change of the application secret, one more seal is made with the new secret. It
      // confirms all earlier seals.
      const isRenewal = before !== null && before.keyId !== secrets.id && isOurs(before);
      const isEarly = before !== null && now.getTime() - before.at.getTime() < everyMs;
      if (isEarly && !isFurther && !isRenewal) return "done";
      const heads = await lockUnsealedHeads(sql, HEADS_MAX);
      if (heads.length === 0 && !isRenewal) return "done";
      const seal = sealAfter(before, heads, now);
      // The successor of a forged seal gets no valid code, so that `npm run audit:verify` still
      // reports the forgery.
      const mac =
        before === null || isOurs(before)
          ? secrets.hash(SEAL_PURPOSE, sealText(seal))
          : before.mac;
      await insertSeal(sql, { ...seal, mac, keyId: secrets.id }, heads);
      return heads.length === HEADS_MAX ? "more" : "done";
    });

  let askedAt: number | null = null;
  return {
    sealWhenDue: async () => {
      const now = clock.now().getTime();
      if (askedAt !== null && now - askedAt < everyMs) return;
      let result = await sealOnce(false);
      while (result === "more") result = await sealOnce(true);
      if (result === "done") askedAt = now;
    },
  };
};

interface AuditLinker {
  /**
   * Links every committed audit row to the chain of its project, then seals the heads of the chains
   * when that is due. Safe to call on several instances: one links, the others return.
   */
  link(): Promise<void>;
}

interface AuditLinkerDeps {
  readonly database: Pick<Database, "rawTransaction">;
  readonly secrets: Pick<Secrets, "id" | "hash" | "matches">;
  readonly clock: Clock;
  readonly sealEveryMs?: number;
}

const BATCH = 500;
const TIDY_EVERY_MS = 5 * 60_000;
/**
 * Maximum age in milliseconds of rows that are checked for a missing link; `FIRST_LOOK_MS` at the
 * first check. An old process without audit chains may have written such rows.
 */
const LOOK_MS = 60 * 60_000;
const FIRST_LOOK_MS = 7 * 24 * 60 * 60_000;

/** Links rows of the audit log; `rules.ts` explains what a link proves. */
export const createAuditLinker = ({
  database,
  secrets,
  clock,
  sealEveryMs,
}: AuditLinkerDeps): AuditLinker => {
  const sealer = createAuditSealer({
    database,
    secrets,
    clock,
    ...(sealEveryMs === undefined ? {} : { everyMs: sealEveryMs }),
  });
  const withMac = (chain: string, head: Head): Omit<StoredHead, "keyId"> => ({
    chain,
    ...head,
    mac: secrets.hash(HEAD_PURPOSE, headText(chain, head)),
  });

  /**
   * Whether the head's code was made with a configured application secret for exactly this head.
   */
  const isOurs = ({ chain, seq, hash, mac }: StoredHead): boolean =>
    secrets.matches(HEAD_PURPOSE, headText(chain, { seq, hash }), mac);

  /** @returns whether more rows may be waiting */
  const linkBatch = (): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      if (!(await lockLinking(sql))) return false;
      const rows = await takeUnlinked(sql, BATCH);
      if (rows.length === 0) return false;
      const chains = [...new Set(rows.map(({ projectId }) => chainOf(projectId)))];
      const stored = await lockHeads(sql, chains);
      const heads = new Map<string, Head>(
        stored.map(({ chain, seq, hash }) => [chain, { seq, hash }]),
      );
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
          // The successor of a forged head gets no valid code, so that `npm run audit:verify` still
          // reports the forgery.
          return before === undefined || isOurs(before)
            ? withMac(chain, head)
            : { chain, ...head, mac: before.mac };
        }),
        secrets.id,
      );
      return rows.length === BATCH;
    });

  /** Renews the codes of heads whose chains did not grow since the application secret changed. */
  const renewHeads = (): Promise<boolean> =>
    database.rawTransaction(async (sql) => {
      const old = await lockOldHeads(sql, secrets.id, BATCH);
      // A code that matches no configured secret is not replaced, so that `npm run audit:verify`
      // reports it.
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
  /**
   * Queues left-out rows and renews heads. Only an upgrade or a changed secret causes such work, so
   * it runs at long intervals.
   */
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
      await sealer.sealWhenDue();
    },
  };
};
