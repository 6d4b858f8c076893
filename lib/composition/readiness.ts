import { databaseProbes } from "@/lib/db/readiness-probes";
import { createHeadProbe } from "@/lib/chains/head-probe";
import { createReadinessService } from "@/lib/core/readiness";
import { createPool } from "@/lib/db/pool";
import { createJobsRepository } from "@/lib/modules/jobs/repository";
import type { Mailer } from "@/lib/ports/mail";
import type { Platform } from "./platform";

const OVERDUE_MS = 15_000;

/** The parts that `/ready` asks, over a connection of its own. */
export const buildReadiness = (platform: Platform, mailer: Mailer) => {
  const { config, registry, shares } = platform;
  const pool = createPool(config.databaseUrl, { max: shares.readiness, isPooled: config.isDatabasePooled });
  const jobs = createJobsRepository({ pool });
  const mail = { name: "mail", check: () => Promise.resolve(mailer.id === "inbox" ? "development inbox" : mailer.id) };
  const readiness = createReadinessService([
    ...databaseProbes({
      pool,
      databaseUrl: config.databaseUrl,
      overdueJobs: () => jobs.overdue(OVERDUE_MS),
      folders: [process.cwd()],
    }),
    mail,
    ...registry.list().map((chain) => createHeadProbe(platform, chain.id)),
  ]);
  return { readiness, closeReadiness: () => pool.end() };
};
