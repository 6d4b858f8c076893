/** Compares the configuration with the chains and the database before the service starts. */
import { privateKeyToAddress } from "viem/accounts";
import { checkChains, type StartReport } from "@/lib/chain/start-checks";
import type { Config } from "@/lib/platform/config/env";
import type { Database } from "@/lib/platform/db/client";
import { roleFaults } from "@/lib/platform/db/roles/app-role";
import { serverVersionFault } from "@/lib/platform/db/migrate";
import type { Routing } from "@/lib/money/ports/routing";

const NOTHING: StartReport = { faults: [], warnings: [] };

const OWNER_IS_READABLE =
  "DATABASE_OWNER_URL is in the environment of the service, which does not need it: whoever takes this process over could remove history";

const checkVersion = async ({ pool }: Database): Promise<StartReport> => {
  const fault = await serverVersionFault(pool);
  return fault === null ? NOTHING : { faults: [fault], warnings: [] };
};

/**
 * Checks the rights of the database role. Insufficient rights are always a fault. The right to
 * delete history is a fault in production, and a warning elsewhere.
 */
const checkRole = async (
  { env, databaseOwnerUrl }: Config,
  { pool }: Database,
): Promise<StartReport> => {
  const { tooStrong, tooWeak } = await roleFaults(pool);
  const weak = tooWeak === null ? [] : [tooWeak];
  const strong = tooStrong === null ? [] : [tooStrong];
  const readable = databaseOwnerUrl === null ? [] : [OWNER_IS_READABLE];
  return env === "production"
    ? { faults: [...weak, ...strong], warnings: readable }
    : { faults: weak, warnings: [...strong, ...readable] };
};

/**
 * Compares the configuration with the chains and the database. Checks of a database that does not
 * answer are skipped.
 */
export const checkStart = async (
  config: Config,
  database: Database,
  providerContracts: Routing["contracts"],
): Promise<StartReport> => {
  const reports = await Promise.all([
    checkVersion(database).catch(() => NOTHING),
    checkRole(config, database).catch(() => NOTHING),
    checkChains({
      chains: config.chains,
      providerContracts,
      executor:
        config.executorPrivateKey === null
          ? null
          : privateKeyToAddress(config.executorPrivateKey),
      bundlerChainIds: new Set(config.bundlerUrls.keys()),
    }),
  ]);
  return {
    faults: reports.flatMap(({ faults }) => faults),
    warnings: reports.flatMap(({ warnings }) => warnings),
  };
};
