/** An installation whose database the restore drills restore to a backup in another folder. */
import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import type { Services } from "@/lib/composition";
import { restoreBackup } from "@/lib/stack/postgres/restore";
import { startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { startWorker } from "@/lib/workers/runner";
import { afterFile } from "./after-file";
import { balanceOnChain } from "./journey";
import { otherServices } from "./other-services";
import { ownInstallation } from "./own-installation";

const CONFIRMATIONS = 2;
/** Number of seconds by which `letTimePass` moves time. It is longer than an operation is valid. */
const LATER_SECONDS = 1_000;

export const DRILL_WAIT = { timeout: 60_000, interval: 50 };
export const DRILL_REQUEST = { by: "operator:test", reason: "restore drill", accept: [] };

interface RestoreDrillOptions {
  /** Whether deposits into privacy pools are approved. Default: false. */
  readonly hasAssociation?: boolean;
}

export const restoreDrill = async ({ hasAssociation = false }: RestoreDrillOptions = {}) => {
  const installation = await ownInstallation({ confirmations: CONFIRMATIONS, hasAssociation });
  const { devnet, postgres, one, registry, api } = installation;
  const executor = await devnet.serve(api.services.config);
  const usdc = registry.resolveToken(one.chainId, "USDC").address;
  return {
    ...installation,
    usdc,
    balanceOf: (token: `0x${string}` | "native", owner: `0x${string}`): Promise<bigint> =>
      balanceOnChain(one.rpcUrl, token, owner),
    sentByExecutor: (): Promise<number> =>
      one.client.getTransactionCount({ address: executor }),

    /** Moves time until everything signed before can no longer be executed on any chain. */
    letTimePass: async (): Promise<void> => {
      await Promise.all(
        devnet.chains.map(async ({ client }) => {
          await client.increaseTime({ seconds: LATER_SECONDS });
          await client.mine({ blocks: CONFIRMATIONS + 1 });
        }),
      );
    },

    /**
     * Restores the backup to another server, and starts an instance with a worker and the same keys
     * on it. Signing is off in this instance.
     */
    beginElsewhere: async (backup: string): Promise<Services> => {
      const dataDir = postgres.elsewhere(`restored-${randomUUID()}`);
      await restoreBackup({ from: backup, dataDir, database: "causeway" });
      const restored = await startEmbeddedPostgres({ dataDir });
      afterFile(async () => {
        await restored.stop();
      });
      const services = otherServices(api.services, restored.appUrl("causeway"), registry);
      const worker = startWorker(services, { searchesDeposits: false });
      afterFile(() => worker.stop());
      return services;
    },

    payoutEnds: async (
      { database }: Services,
      payoutId: string,
      status: string,
    ): Promise<void> => {
      await vi.waitFor(async () => {
        const found = await database.prisma.payout.findUniqueOrThrow({
          where: { id: payoutId },
        });
        expect(found.status).toBe(status);
      }, DRILL_WAIT);
    },
  };
};
