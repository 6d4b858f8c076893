/**
 * A process that scripts/bench/instances.ts starts. It has a ledger service on the shared database,
 * and keeps a number of transfers in flight during the measurement.
 */
import { randomUUID } from "node:crypto";
import { systemClock } from "../../lib/core/clock";
import { createLedgerRepository } from "../../lib/books/ledger/repository";
import { createLedgerService } from "../../lib/books/ledger/service";

export interface LedgerOrder {
  readonly url: string;
  readonly measureMs: number;
  readonly inFlight: number;
  readonly projects: readonly {
    readonly projectId: string;
    readonly accounts: readonly string[];
  }[];
}

const anyOf = <T>(list: readonly T[]): T => {
  const one = list[Math.floor(Math.random() * list.length)];
  if (one === undefined) throw new Error("There is nothing to choose from.");
  return one;
};

const run = async ({ url, measureMs, inFlight, projects }: LedgerOrder): Promise<number> => {
  const ledger = createLedgerService({
    repository: createLedgerRepository(url),
    clock: systemClock,
  });
  let done = 0;
  const until = performance.now() + measureMs;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      const { projectId, accounts } = anyOf(projects);
      const from = anyOf(accounts);
      const to = anyOf(accounts.filter((account) => account !== from));
      await ledger.transfer({
        projectId,
        key: randomUUID(),
        by: "bench",
        from,
        to,
        amountBase: 1n,
        currency: "usdc",
      });
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  await ledger.close();
  return done;
};

process.on("message", (order: LedgerOrder) => {
  run(order).then(
    (done) => process.send?.({ done }),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once("disconnect", () => process.exit(0));
process.send?.("ready");
