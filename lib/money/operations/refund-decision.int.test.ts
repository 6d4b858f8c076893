import { parseUnits, zeroAddress, type Address, type Hex } from "viem";
import { afterAll, describe, expect, test, vi } from "vitest";
import { createServices } from "@/lib/composition";
import { decideRefund, getOperation } from "@/lib/contracts/operations";
import { executeSwap } from "@/lib/contracts/swap";
import type { UserActor } from "@/lib/core/actor";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { payLeaf } from "@/lib/dev/testing/across-hub";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { startWorker } from "@/lib/workers/runner";

const [ONE, TWO] = [31337, 31338] as const;
const FILL_DEADLINE_SECONDS = 6;
const WAIT = { timeout: 60_000, interval: 100 };
const USDC = 1_000_000n;

// Without a solver, only the test fills or refunds deposits.
const devnet = await ownDevnet();
devnet.solver.pause();
const chainsFile = changedChainsFile(({ contracts }) => {
  if (contracts.across) contracts.across.fillDeadlineSeconds = FILL_DEADLINE_SECONDS;
});
const rpcVariables = Object.fromEntries(
  devnet.chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl]),
);
const api = await testApi({
  devnet: false,
  variables: { CHAINS_FILE: chainsFile, DEVNET: "1", ...rpcVariables },
});
const { registry, database, config } = api.services;
await devnet.serve(config);
const second = createServices(config);
const worker = { current: startWorker(api.services) };
afterAll(async () => {
  await worker.current.stop();
  await second.close();
});

const rpcUrl = devnet.rpcUrls[String(ONE)] ?? "";
const usdc = registry.resolveToken(ONE, "USDC").address as Address;
const spokePool = registry.get(ONE).contracts.across?.spokePool ?? zeroAddress;
/** The bridge pays the wallet. */
const pay = (to: Address, amount: bigint, leafId = 0): Promise<Hex> =>
  payLeaf(rpcUrl, spokePool, ONE, { token: usdc, refunds: [[to, amount]], leafId });

interface Bridged {
  readonly customer: Customer;
  readonly operationId: string;
  readonly legId: string;
  readonly depositId: number;
}

const legOf = (operationId: string) =>
  database.prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
const untilState = ({ operationId }: Pick<Bridged, "operationId">, state: string) =>
  vi.waitFor(async () => {
    const leg = await legOf(operationId);
    if (leg.state !== state) throw new Error(`The leg is ${leg.state}, not ${state}.`);
    return leg;
  }, WAIT);

const customerWith = async (amount: string): Promise<Customer> => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount });
  // Funds the bridge, because it also pays amounts that no deposit brought in.
  await fund(client, spokePool, { chainId: ONE, token: "USDC", amount: "100" });
  return customer;
};

/** A deposit of this many USDC that nobody fills, driven until it waits for its refund. */
const expired = async (customer: Customer, amount: string): Promise<Bridged> => {
  const { client } = customer.session;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: testAccount().address,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  const leg = await untilState({ operationId }, "refunding");
  const { depositId } = leg.deposit as { depositId: string };
  return { customer, operationId, legId: leg.id, depositId: Number(depositId) };
};

const params = ({ operationId: id, legId }: Bridged) => ({ id, legId });
const refundedBy = (one: Bridged, txHash: Hex) =>
  one.customer.session.client.call(decideRefund, {
    params: params(one),
    body: { decision: "refunded", txHash },
  });
const keepWaiting = (one: Bridged) =>
  one.customer.session.client.call(decideRefund, {
    params: params(one),
    body: { decision: "not_refunded_keep_waiting" },
  });
const shown = ({ customer, operationId: id }: Bridged) =>
  customer.session.client.call(getOperation, { params: { id } });
const claims = async (txHash: Hex) => {
  const rows = await database.prisma.refundClaim.findMany({
    where: { txHash },
    orderBy: { legId: "asc" },
  });
  const payment = await database.prisma.refundPayment.findFirst({ where: { txHash } });
  const sum = rows.reduce((total, { amountBase }) => total + BigInt(amountBase.toFixed(0)), 0n);
  expect(BigInt(payment?.claimedBase.toFixed(0) ?? 0)).toBe(sum);
  return rows.map(({ legId, amountBase }) => [legId, BigInt(amountBase.toFixed(0))] as const);
};
const audits = ({ operationId: subject }: Bridged) =>
  database.prisma.auditEvent.findMany({
    where: { subject, action: "operation.refund_decided" },
  });
const actorOf = async ({ customer }: Bridged): Promise<UserActor> => {
  const { projectId } = await database.prisma.wallet.findFirstOrThrow({
    where: { address: customer.treasury },
  });
  const { userId } = await database.prisma.membership.findFirstOrThrow({
    where: { projectId },
  });
  return { type: "user", userId, sessionId: "ses_test", projectId, role: "owner" };
};

describe("one payment for several deposits", () => {
  test("is shown with what is known, is shared out by a person's decisions, and pays no third deposit", async () => {
    const customer = await customerWith("100");
    const thirty = await expired(customer, "30");
    const twenty = await expired(customer, "20");
    const txHash = await pay(customer.treasury, 50n * USDC);
    await Promise.all([
      untilState(thirty, "needs_attention"),
      untilState(twenty, "needs_attention"),
    ]);
    const before = await shown(thirty);
    expect(before).toMatchObject({
      status: "processing",
      subStatus: "needs_attention",
      may: { retry: false },
    });
    expect(before.legs[0]?.attention).toMatchObject({
      reason: "unclear_payment",
      expected: { amount: "30" },
      depositTxHash: before.legs[0]?.txHash,
      payments: [{ chainId: ONE, txHash, paid: { amount: "50" } }],
    });
    for (const one of [thirty, twenty]) await refundedBy(one, txHash);
    for (const one of [thirty, twenty]) {
      const operation = await waitUntilFinal(
        customer.session.client,
        one.operationId,
        WAIT.timeout,
      );
      expect(operation).toMatchObject({ status: "refunded", may: { retry: true } });
      expect(operation.legs[0]).toMatchObject({
        state: "refunded",
        refund: { txHash },
        attention: null,
      });
      expect(await audits(one)).toMatchObject([
        { data: { legId: one.legId, decision: "refunded", txHash } },
      ]);
      const events = await database.prisma.operationEvent.findMany({
        where: { operationId: one.operationId },
      });
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(["leg.needs_attention", "leg.refund_decided", "leg.refunded"]),
      );
    }
    const shares = [[thirty.legId, 30n * USDC] as const, [twenty.legId, 20n * USDC] as const];
    expect(await claims(txHash)).toEqual(shares.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const ten = await expired(customer, "10");
    await database.prisma.operationLeg.update({
      where: { id: ten.legId },
      data: { fillDeadline: new Date(0) },
    });
    await untilState(ten, "needs_attention");
    // The payment was made before this deposit expired, and another leg has claimed it.
    await expect(refundedBy(ten, txHash)).rejects.toMatchObject({ status: 400 });
    expect(await claims(txHash)).toHaveLength(2);
    expect(await audits(ten)).toEqual([]);
  }, 180_000);

  test("two instances that give it to two deposits at once give it to one, and two decisions about one leg are one", async () => {
    const customer = await customerWith("100");
    const [first, other] = [await expired(customer, "12"), await expired(customer, "11")];
    const txHash = await pay(customer.treasury, 13n * USDC);
    await Promise.all([
      untilState(first, "needs_attention"),
      untilState(other, "needs_attention"),
    ]);
    const actor = await actorOf(first);
    const instances = [api.services.operations, second.operations];
    const both = await Promise.allSettled(
      instances.map((operations, index) =>
        operations.decideRefund(actor, params(index === 0 ? first : other), {
          decision: "refunded",
          txHash,
        }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "invalid_state" },
    });
    expect(await claims(txHash)).toHaveLength(1);
    const loser = both[0]?.status === "rejected" ? first : other;
    expect(await legOf(loser.operationId)).toMatchObject({
      state: "needs_attention",
      refundTxHash: null,
    });
    const answers = await Promise.allSettled(
      instances.map((operations) =>
        operations.decideRefund(actor, params(loser), {
          decision: "not_refunded_keep_waiting",
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await audits(loser)).toHaveLength(1);
  }, 180_000);
});

describe("keep waiting", () => {
  test("sets the payment aside and looks on: the deposit's own payment then ends it without a person", async () => {
    const customer = await customerWith("100");
    const one = await expired(customer, "10");
    const strange = await pay(customer.treasury, 15n * USDC);
    await untilState(one, "needs_attention");
    await keepWaiting(one);
    const waiting = await shown(one);
    expect(waiting).toMatchObject({ subStatus: "refunding" });
    expect(waiting.legs[0]).toMatchObject({ state: "refunding", attention: null });
    const own = await pay(customer.treasury, 10n * USDC, one.depositId);
    const operation = await waitUntilFinal(
      customer.session.client,
      one.operationId,
      WAIT.timeout,
    );
    expect(operation.legs[0]).toMatchObject({ state: "refunded", refund: { txHash: own } });
    expect(await claims(own)).toEqual([[one.legId, 10n * USDC]]);
    expect(await claims(strange)).toEqual([]);
    await expect(keepWaiting(one)).rejects.toMatchObject({
      status: 409,
      code: "invalid_state",
    });
  }, 120_000);

  test("a refund that is a day late needs attention, and goes on by itself when it comes after all", async () => {
    const customer = await customerWith("100");
    const one = await expired(customer, "10");
    await database.prisma.operationLeg.update({
      where: { id: one.legId },
      data: { fillDeadline: new Date(Date.now() - 25 * 3_600_000) },
    });
    await untilState(one, "needs_attention");
    expect((await shown(one)).legs[0]?.attention).toMatchObject({
      reason: "overdue",
      payments: [],
    });
    const own = await pay(customer.treasury, 10n * USDC, one.depositId);
    const operation = await waitUntilFinal(
      customer.session.client,
      one.operationId,
      WAIT.timeout,
    );
    expect(operation.legs[0]).toMatchObject({
      state: "refunded",
      refund: { txHash: own },
      attention: null,
    });
  }, 120_000);
});

describe("a decision", () => {
  test("is refused for a transaction that does not pay the wallet, for a viewer, an API key, and another project", async () => {
    const customer = await customerWith("100");
    const one = await expired(customer, "10");
    await pay(customer.treasury, 15n * USDC);
    await untilState(one, "needs_attention");
    const stranger = await pay(devAddress("postman"), 10n * USDC);
    const small = await pay(customer.treasury, 9n * USDC);
    for (const txHash of [stranger, small, `0x${"ab".repeat(32)}` as const]) {
      await expect(refundedBy(one, txHash)).rejects.toMatchObject({
        status: 400,
        code: "invalid_request",
        body: { details: [{ path: "txHash" }] },
      });
    }
    const body = { decision: "not_refunded_keep_waiting" } as const;
    const foreign = await newCustomer(api);
    await expect(
      foreign.session.client.call(decideRefund, { params: params(one), body }),
    ).rejects.toMatchObject({
      status: 404,
    });
    const key = await api.createKey(customer.session);
    await expect(
      key.client.call(decideRefund, { params: params(one), body }),
    ).rejects.toMatchObject({ status: 403 });
    const viewer = { ...(await actorOf(one)), role: "viewer" } as const;
    await expect(
      api.services.operations.decideRefund(viewer, params(one), body),
    ).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(await legOf(one.operationId)).toMatchObject({ state: "needs_attention" });
    expect(await audits(one)).toEqual([]);
  }, 120_000);

  test("is stored whole or not at all, and a claim whose process dies before the end is carried on by the next", async () => {
    const customer = await customerWith("100");
    const one = await expired(customer, "10");
    const txHash = await pay(customer.treasury, 15n * USDC);
    await untilState(one, "needs_attention");
    await worker.current.stop();
    const actor = await actorOf(one);
    // PostgreSQL refuses the audit row, which is written after the leg and the claim.
    const broken = {
      ...actor,
      request: { requestId: "a\u0000b", clientAddress: null },
    } as unknown as UserActor;
    const decision = { decision: "refunded", txHash } as const;
    await expect(
      api.services.operations.decideRefund(broken, params(one), decision),
    ).rejects.toThrow();
    expect(await legOf(one.operationId)).toMatchObject({ state: "needs_attention" });
    expect(await claims(txHash)).toEqual([]);
    await api.services.operations.decideRefund(actor, params(one), decision);
    expect(await legOf(one.operationId)).toMatchObject({
      state: "refund_seen",
      refundTxHash: txHash,
    });
    expect(await claims(txHash)).toEqual([[one.legId, 10n * USDC]]);
    worker.current = startWorker(second);
    const operation = await waitUntilFinal(
      customer.session.client,
      one.operationId,
      WAIT.timeout,
    );
    expect(operation).toMatchObject({ status: "refunded" });
    expect(operation.legs[0]?.spent?.amountBase).toBe(parseUnits("10", 6).toString());
    expect(await claims(txHash)).toEqual([[one.legId, 10n * USDC]]);
    await worker.current.stop();
    worker.current = startWorker(api.services);
  }, 120_000);
});
