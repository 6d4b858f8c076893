import { databaseProbes, NotReadyError } from "@/lib/platform/db/readiness-probes";
import { createHeadProbe } from "@/lib/chain/blocks";
import { createReadinessService } from "@/lib/core/readiness";
import { createPool } from "@/lib/platform/db/pool";
import { createJobsRepository } from "@/lib/platform/jobs/repository";
import { createSigningRepository } from "@/lib/money/signing/repository";
import { createSigningGate, type SigningGate } from "@/lib/money/signing/service";
import type { Mailer } from "@/lib/platform/ports/mail";
import type { Platform } from "./platform";

const OVERDUE_MS = 15_000;

/**
 * The state of signing in a word, for `/ready`.
 * @throws NotReadyError while signing is off
 */
const describeSigning = async ({ state }: SigningGate): Promise<string> => {
  const found = await state();
  if (found.isAllowed) return "allowed";
  throw new NotReadyError(
    `Nothing is signed since ${found.since.toISOString()}: ${found.reason}. Accepted payments wait. The operator has to run “npm run reconcile”.`,
  );
};

/** The dependencies that `/ready` checks, with a separate database connection. */
export const buildReadiness = (platform: Platform, mailer: Mailer) => {
  const { config, registry, shares } = platform;
  const pool = createPool(config.databaseUrl, {
    max: shares.readiness,
    isPooled: config.isDatabasePooled,
  });
  const jobs = createJobsRepository({ pool });
  const mail = {
    name: "mail",
    check: () => Promise.resolve(mailer.id === "inbox" ? "development inbox" : mailer.id),
  };
  // The check of signing is optional, because the instance can still serve reads without it.
  const gate = createSigningGate(
    createSigningRepository({ pool, rawTransaction: platform.database.rawTransaction }),
  );
  const signing = { name: "signing", optional: true, check: () => describeSigning(gate) };
  const readiness = createReadinessService([
    ...databaseProbes({
      pool,
      databaseUrl: config.databaseUrl,
      overdueJobs: () => jobs.overdue(OVERDUE_MS),
      folders: [process.cwd()],
    }),
    signing,
    mail,
    ...registry.list().map((chain) => createHeadProbe(platform, chain.id)),
  ]);
  return { readiness, closeReadiness: () => pool.end() };
};
