import { expect, test } from "vitest";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
const LEASE_MS = 60_000;

// Without a worker: the tests attach one of their own, which runs nothing.
const api = await testApi();
const { handover, jobs, database } = api.services;
const customer = await newCustomer(api);
await fund(customer.session.client, customer.treasury, {
  chainId: CHAIN,
  token: "USDC",
  amount: "10",
});
const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });

const transfer = (amount: string) => {
  const place = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN };
  const tokens = {
    fromToken: "USDC",
    toToken: "USDC",
    amount,
    recipient: testAccount().address,
  };
  return key.client.call(swapAndTransfer, { body: { ...place, ...tokens } });
};

/** A worker with room for any number of jobs. @returns the jobs that it was handed */
const attached = () => {
  const ran: string[] = [];
  const places = { taken: 0, left: 0 };
  const detach = handover.attach({
    take: () => {
      places.taken += 1;
      return {
        ...{ workerId: "own", leaseMs: LEASE_MS },
        run: ({ id, queue }) => void ran.push(`${queue} ${id}`),
        leave: () => void (places.left += 1),
      };
    },
  });
  return { ran, places, detach };
};

test("an accepted operation is handed to the worker of its process, with the lease that keeps other workers from it", async () => {
  const own = attached();
  const { operationId } = await transfer("1");
  own.detach();
  expect(own).toMatchObject({
    ran: [`operation ${operationId}`],
    places: { taken: 1, left: 0 },
  });
  const job = await database.prisma.job.findUniqueOrThrow({ where: { id: operationId } });
  expect(job).toMatchObject({ lockedBy: "own", attempts: 1 });
  const claim = () =>
    jobs.claim({ workerId: "other", leaseMs: LEASE_MS, limit: 100, queues: ["operation"] });
  expect((await claim()).map(({ id }) => id)).not.toContain(operationId);
  // The worker's process ended before it ran the job.
  await database.prisma.job.update({
    where: { id: operationId },
    data: { lockedUntil: new Date(0) },
  });
  expect((await claim()).map(({ id }) => id)).toContain(operationId);
});

test("without a worker in the process, the job is there for all", async () => {
  const { operationId } = await transfer("1");
  const job = await database.prisma.job.findUniqueOrThrow({ where: { id: operationId } });
  expect(job).toMatchObject({ lockedBy: null, lockedUntil: null, attempts: 0 });
});

test("an operation that is not accepted leaves its place", async () => {
  const own = attached();
  await expect(transfer("1000")).rejects.toMatchObject({ code: "insufficient_balance" });
  const all = await Promise.allSettled(Array.from({ length: 4 }, () => transfer("3")));
  own.detach();
  const accepted = all.filter(({ status }) => status === "fulfilled");
  expect(accepted).toHaveLength(2);
  expect(own.ran).toHaveLength(2);
  expect(own.places.left).toBe(own.places.taken - own.ran.length);
});
