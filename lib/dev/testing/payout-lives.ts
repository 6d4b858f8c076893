/** Runs worker processes that pay payouts to wallets and are killed at steps of that work. */
import { expect, vi } from "vitest";
import type { Services } from "@/lib/composition";
import { startLife, type LifeOptions, type Point } from "./worker-life";

const SETTLE_MS = 90_000;

/**
 * For each step of a batch, a function that returns true for the points of that step. Points are
 * named after writes and broadcasts.
 */
export const PAYOUT_STEPS = {
  reserve: ({ label }: Point) => label === "UPDATE sponsor_usage",
  sign: ({ stage, label }: Point) =>
    stage === "before" && label.startsWith("COMMIT wallet_payout_batch signed"),
  store: ({ stage, label }: Point) =>
    stage === "after" && label.startsWith("COMMIT wallet_payout_batch signed"),
  broadcast: ({ label }: Point) =>
    label.startsWith("eth_sendRawTransaction") || label === "COMMIT chain_transaction signed",
  offered: ({ label }: Point) => label === "UPDATE wallet_payout_batch sent",
  receipt: ({ label }: Point) => label.startsWith("COMMIT wallet_payout_batch mined"),
  settle: ({ label }: Point) => label.startsWith("COMMIT wallet_payout_batch paid"),
  finish: ({ label }: Point) => label === "COMMIT payout" || label === "DELETE FROM job",
} as const;

interface Plan {
  is: (point: Point) => boolean;
  nth: number;
  met: number;
}

export const createPayoutLives = ({
  services: {
    database: { prisma, pool },
  },
  life,
}: {
  readonly services: Services;
  readonly life: Omit<LifeOptions, "dieAt">;
}) => {
  const openCount = (): Promise<number> =>
    prisma.payout.count({ where: { status: { in: ["pending", "processing"] } } });

  const waitUntilAllFinal = (): Promise<void> =>
    vi.waitFor(
      async () => {
        expect(await openCount()).toBe(0);
        expect(await prisma.job.count()).toBe(0);
      },
      { timeout: SETTLE_MS, interval: 100 },
    );

  /**
   * Ends the leases of a killed worker's jobs immediately. Otherwise they end after eight seconds.
   */
  const endLeasesOf = async (pid: number): Promise<void> => {
    await pool.query(
      "UPDATE job SET locked_until = now() - interval '1 second' WHERE locked_by LIKE $1",
      [`%:${String(pid)}:%`],
    );
  };

  /**
   * A loaded worker that waits. When it begins it gets a step, and is killed at the n-th occurrence
   * of that step.
   */
  const loadLife = () => {
    const plan: Plan = { is: () => false, nth: 1, met: 0 };
    return {
      plan,
      life: startLife({
        ...life,
        dieAt: (point) => plan.is(point) && (plan.met += 1) >= plan.nth,
      }),
    };
  };

  return {
    openCount,
    waitUntilAllFinal,
    endLeasesOf,
    loadLife,

    /** Starts a last worker that completes all work. */
    finishAll: async (): Promise<void> => {
      const last = await startLife({ ...life, dieAt: () => false });
      await last.begin();
      await waitUntilAllFinal();
      last.kill();
      await last.ended;
    },

    /**
     * Lets a loaded worker work until it is killed at the n-th occurrence of a step. Returns false
     * when everything was paid before that.
     */
    liveUntil: async (
      loaded: ReturnType<typeof loadLife>,
      { is, nth }: { is: (point: Point) => boolean; nth: number },
    ): Promise<boolean> => {
      Object.assign(loaded.plan, { is, nth });
      const one = await loaded.life;
      await one.begin();
      const isOver = { yes: false };
      const ended = one.ended.then((point) => {
        isOver.yes = true;
        return point;
      });
      while (!isOver.yes && (await openCount()) > 0)
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 200))]);
      one.kill();
      const point = await ended;
      await endLeasesOf(one.pid);
      return point !== null;
    },
  };
};
