/** Evaluates what was accepted before policies existed, once, so that the signer can carry it on. */
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { Secrets } from "@/lib/modules/encryption/service";
import type { StoredEvaluation } from "./repository";
import { sealOf } from "./seal";
import { BY_UPGRADE, readPending, storeOnce, type UpgradeSubject } from "./upgrade-repository";

export interface UpgradeDeps {
  readonly database: Database;
  readonly secrets: Pick<Secrets, "hash">;
  readonly clock: Clock;
  /** SHA-256 of what may move, as it is stored now; null when there is no such subject. */
  readonly digestOf: (subject: UpgradeSubject) => Promise<Uint8Array | null>;
  readonly log: { error(fields: object, message: string): void };
}

const AT_ONCE = 200;

const evaluationOf = (
  { secrets, clock }: UpgradeDeps,
  { projectId, type, id }: UpgradeSubject,
  digest: Uint8Array,
): StoredEvaluation => {
  const at = clock.now();
  const sealed = {
    id: `evl_${id.slice(id.indexOf("_") + 1)}`,
    projectId,
    subjectType: type,
    subjectId: id,
    digest,
    decision: "allow",
  };
  return {
    ...sealed,
    mac: sealOf(secrets, sealed),
    facts: { at: at.toISOString(), kind: BY_UPGRADE },
    policies: [],
    rules: [],
    code: "not",
    createdBy: BY_UPGRADE,
    createdAt: at,
  };
};

/** An operation or payout that cannot be read is left without an evaluation: the signer refuses it, and its money stays. */
const evaluateOne = async (deps: UpgradeDeps, subject: UpgradeSubject): Promise<void> => {
  const digest = await deps.digestOf(subject).catch((error: unknown) => {
    deps.log.error({ err: error, ...subject }, "what was accepted before the upgrade cannot be read");
    return null;
  });
  if (digest === null) return;
  const row = evaluationOf(deps, subject, digest);
  await deps.database.transaction((tx) => storeOnce(sqlOf(tx), subject, row));
};

/**
 * Returns a function that evaluates everything that the migration has listed. It may be called before each job: it works once in this
 * process, and does nothing where another instance has done it. A failed call is made again by the next one.
 */
export const createPolicyUpgrade = (deps: UpgradeDeps): (() => Promise<void>) => {
  const reader = sqlOf(deps.database.prisma);
  const run = async (): Promise<void> => {
    let after = { projectId: "", id: "" };
    for (;;) {
      const subjects = await readPending(reader, after, AT_ONCE);
      for (const subject of subjects) await evaluateOne(deps, subject);
      const last = subjects.at(-1);
      if (last === undefined) return;
      after = last;
    }
  };
  let done: Promise<void> | null = null;
  return () => {
    done ??= run().catch((error: unknown) => {
      done = null;
      throw error;
    });
    return done;
  };
};
