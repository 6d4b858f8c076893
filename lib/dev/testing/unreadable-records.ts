/** Records in an unknown form, like records that a later version has written. */
import type { Address } from "viem";
import { expect, vi } from "vitest";
import { isFinal, type Status } from "@/lib/core/status";
import type { TestApi } from "./api";
import { testAccount } from "./factories";
import { fundedCustomer, sendUsdc } from "./funded-customer";
import { balanceOnChain, waitUntilFinal } from "./journey";
import { idOf, pay, PAYOUT_CHAIN, read, row } from "./payout-requests";

const WAIT = { timeout: 60_000, interval: 100 };
const ONE_USDC = 1_000_000n;
/**
 * Value for the columns with the reason of a failure. This version expects a code and a message
 * there, or nothing.
 */
const LATER_FORM = JSON.stringify({ form: "next" });

export interface UnreadableRecords {
  /** Gives the records the form of a later version. */
  makeUnreadable(): Promise<void>;
  /**
   * Waits until a worker has tried and failed to read each record twice, and checks that no
   * operation or payout has ended.
   */
  expectLeftAlone(): Promise<void>;
  /** Restores the form of this version, and makes the jobs of the records due. */
  makeReadable(): Promise<void>;
  expectPaidOnce(at: TestApi): Promise<void>;
}

type Customer = Awaited<ReturnType<typeof fundedCustomer>>;

const acceptBoth = async (api: TestApi, customer: Customer) => {
  const [payee, recipient] = [testAccount().address, testAccount().address];
  const [{ operationId }, payout] = await Promise.all([
    sendUsdc(customer, "3", payee),
    pay(customer.client, [row(recipient, "4")]),
  ]);
  return { api, customer, payee, recipient, operationId, payoutId: idOf(payout) };
};

type Accepted = Awaited<ReturnType<typeof acceptBoth>>;

const write = async (
  { api, operationId, payoutId }: Accepted,
  failure: string | null,
): Promise<void> => {
  const { pool } = api.services.database;
  await Promise.all([
    pool.query("UPDATE operation_leg SET failure = $2::jsonb WHERE operation_id = $1", [
      operationId,
      failure,
    ]),
    pool.query("UPDATE payout SET failure = $2::jsonb WHERE id = $1", [payoutId, failure]),
  ]);
};

const expectLeftAlone = async ({ api, operationId, payoutId }: Accepted): Promise<void> => {
  const { prisma } = api.services.database;
  await vi.waitFor(async () => {
    const jobs = await prisma.job.findMany({ where: { id: { in: [operationId, payoutId] } } });
    expect(jobs.map(({ failures, parkedAt }) => failures > 1 && parkedAt === null)).toEqual([
      true,
      true,
    ]);
  }, WAIT);
  const [operation, payout] = await Promise.all([
    prisma.operation.findUniqueOrThrow({ where: { id: operationId } }),
    prisma.payout.findUniqueOrThrow({ where: { id: payoutId } }),
  ]);
  expect([operation, payout].map(({ status }) => isFinal(status as Status))).toEqual([
    false,
    false,
  ]);
};

const expectPaidOnce = async (accepted: Accepted, at: TestApi): Promise<void> => {
  const { api, customer, payee, recipient, operationId, payoutId } = accepted;
  const { registry } = api.services;
  const client = at.client({ authorization: `Bearer ${customer.session.accessToken}` });
  expect((await waitUntilFinal(client, operationId, WAIT.timeout)).status).toBe("completed");
  await vi.waitFor(
    async () => expect((await read(client, payoutId)).status).toBe("completed"),
    WAIT,
  );
  const usdc = registry.resolveToken(PAYOUT_CHAIN, "USDC").address;
  const rpcUrl = registry.get(PAYOUT_CHAIN).rpcUrls[0] ?? "";
  const usdcOf = (owner: Address) => balanceOnChain(rpcUrl, usdc, owner);
  const balances = await Promise.all([payee, recipient, customer.treasury].map(usdcOf));
  expect(balances).toEqual([3n, 4n, 993n].map((amount) => amount * ONE_USDC));
};

/**
 * Creates a customer with money. `accept` starts the transfer and the payout whose records are then
 * made unreadable.
 */
export const prepareUnreadable = async (
  api: TestApi,
): Promise<{ accept: () => Promise<UnreadableRecords> }> => {
  const customer = await fundedCustomer(api);
  return {
    accept: async () => {
      const accepted = await acceptBoth(api, customer);
      const { prisma } = api.services.database;
      return {
        makeUnreadable: () => write(accepted, LATER_FORM),
        expectLeftAlone: () => expectLeftAlone(accepted),
        makeReadable: async () => {
          await write(accepted, null);
          const where = { id: { in: [accepted.operationId, accepted.payoutId] } };
          await prisma.job.updateMany({ where, data: { runAt: new Date() } });
        },
        expectPaidOnce: (at) => expectPaidOnce(accepted, at),
      };
    },
  };
};
