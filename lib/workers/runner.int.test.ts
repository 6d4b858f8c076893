import { afterAll, expect, test, vi } from "vitest";
import { createServices } from "@/lib/composition";
import { testServices } from "@/lib/dev/testing/services";
import { startWorker, type Worker } from "./runner";

const CHAIN_ID = 31337;
const services = await testServices({ devnet: false });
const others = [1, 2].map(() => createServices(services.config));
afterAll(() => Promise.all(others.map((one) => one.close())));

test("of three workers one at a time compares the service's transactions with a chain, and another goes on after it", async () => {
  const workers: Worker[] = [];
  const comparing = { now: 0, most: 0, ended: 0 };
  const refused = new Set<number>();
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  const reconcile = async (chainId: number): Promise<number> => {
    if (chainId !== CHAIN_ID) return 0;
    comparing.now += 1;
    comparing.most = Math.max(comparing.most, comparing.now);
    await isReleased;
    comparing.now -= 1;
    comparing.ended += 1;
    return 0;
  };
  for (const [index, one] of [services, ...others].entries()) {
    const runAlone: typeof one.runAlone = async (task, work) => {
      const ran = await one.runAlone(task, work);
      if (!ran && task.name === `reconcile:${String(CHAIN_ID)}`) refused.add(index);
      return ran;
    };
    workers.push(
      startWorker({ ...one, runAlone, transactions: { ...one.transactions, reconcile } }),
    );
  }
  try {
    // Both other workers tried while the first one was still comparing.
    await vi.waitFor(() => expect([comparing.now, refused.size]).toEqual([1, 2]), {
      timeout: 30_000,
      interval: 20,
    });
    release();
    await vi.waitFor(() => expect(comparing.ended).toBeGreaterThanOrEqual(3), {
      timeout: 30_000,
      interval: 20,
    });
    expect(comparing.most).toBe(1);
  } finally {
    release();
    await Promise.all(workers.map((worker) => worker.stop()));
  }
});
