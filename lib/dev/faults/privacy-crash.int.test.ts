import { readFileSync } from "node:fs";
import type { Address } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import type { Services } from "@/lib/composition";
import type { Config } from "@/lib/platform/config/env";
import { listOperations } from "@/lib/contracts/operations";
import {
  getPrivateBalances,
  getPrivateTransfer,
  privateTransfer,
  shield,
} from "@/lib/contracts/privacy";
import { isFinal } from "@/lib/core/status";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import type { ChainTransaction, PrivacyStep } from "@/lib/platform/db/generated/client";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { testAccount } from "@/lib/dev/testing/factories";
import { balanceOnChain, fund, newCustomer } from "@/lib/dev/testing/journey";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

/**
 * A chain on which no other test file deposits, because each deposit changes the association set,
 * and proofs in progress have to be repeated.
 */
const CHAIN = 31338;
const TIMEOUT_MS = 150_000;
const AMOUNT = 25_000_000n;
/** `npm test` kills at one point; the long run at all of them. */
const IS_LONG = inject("isLong");

interface Found {
  readonly step: PrivacyStep;
  readonly transaction: ChainTransaction | null;
}

interface Point {
  readonly name: string;
  /** The method whose calls the chain does not answer, so that the worker cannot continue. */
  readonly holds?: string;
  readonly isReached: (found: Found) => boolean;
}

/** The points at which a worker is killed, in order. */
const POINTS: readonly Point[] = [
  {
    name: "while the proof is made",
    isReached: ({ step }) =>
      step.state === "queued" && step.provingSince !== null && step.transaction === null,
  },
  {
    name: "with the proof stored, and nothing sent",
    holds: "eth_estimateGas",
    isReached: ({ step, transaction }) =>
      step.state === "proved" && step.transaction !== null && transaction === null,
  },
  {
    name: "with the transaction stored, and no node has it",
    holds: "eth_sendRawTransaction",
    isReached: ({ step, transaction }) =>
      step.state === "submitted" && transaction?.status === "signed",
  },
  {
    name: "with the transaction broadcast, and nothing known of it",
    holds: "eth_getTransactionReceipt",
    isReached: ({ step, transaction }) =>
      step.state === "submitted" && transaction?.status === "broadcast",
  },
];
const AT_LEAST = "with the proof stored, and nothing sent";

const devnet = await testDevnet();
const rpcUrl = devnet.rpcUrls[String(CHAIN)] ?? "";

type Client = TestSession["client"];

/** The environment of a worker whose calls to the chain of this test go through the proxy. */
const environmentOf = (config: Config, proxyUrl: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(devnet.rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url]),
  ),
  ...Object.fromEntries(
    Object.keys(devnet.rpcUrls).map((id) => [`ASP_URL_${id}`, devnet.associationUrl]),
  ),
  [`RPC_URL_${String(CHAIN)}`]: proxyUrl,
  DATABASE_URL: config.databaseUrl,
  APP_SECRET: config.appSecret,
  KEY_ENCRYPTION_KEY: config.keyEncryptionKeys[0].toString("hex"),
  EXECUTOR_PRIVATE_KEY: config.executorPrivateKey ?? "",
  LOG_LEVEL: "trace",
});

const waitUntilSpendable = (client: Client, amount: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { data } = await client.call(getPrivateBalances, { query: {} });
      expect(
        data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC")
          ?.spendable,
      ).toBe(amount);
    },
    { timeout: TIMEOUT_MS, interval: 100 },
  );

/**
 * Checks that neither the log, nor a search, nor the audit log, nor the events name the recipient.
 */
const expectNotNamed = async (
  {
    services,
    client,
    operationId,
  }: { services: Services; client: Client; operationId: string },
  recipient: Address,
  log: string,
): Promise<void> => {
  const bare = recipient.slice(2).toLowerCase();
  expect(log).not.toBe("");
  expect(log.toLowerCase()).not.toContain(bare);
  const { data } = await client.call(listOperations, { query: { q: recipient } });
  expect(data).toEqual([]);
  const { prisma } = services.database;
  const audit = await prisma.auditEvent.findMany({ where: { projectId: { not: null } } });
  expect(JSON.stringify(audit.map(({ data: own }) => own)).toLowerCase()).not.toContain(bare);
  const events = await prisma.operationEvent.findMany({ where: { operationId } });
  expect(JSON.stringify(events).toLowerCase()).not.toContain(bare);
};

test(
  "a worker that is killed while it spends a note loses nothing, spends the note once, and tells nobody who paid whom",
  { timeout: 2 * TIMEOUT_MS },
  async () => {
    const api = await testApi({ variables: { PRIVACY_ANONYMITY_SET_MIN: "1000000" } });
    const { services } = api;
    const { config } = services;
    const workers = workerProcesses();
    const proxy = await startFaultProxy(rpcUrl);
    onTestFinished(() => proxy.close());
    const variables = environmentOf(config, proxy.url);
    const customer = await newCustomer(api);
    const { client } = await api.createKey(customer.session, {
      otp: "exempt",
      dailyCapUsd: "100000",
    });
    await fund(customer.session.client, customer.treasury, {
      chainId: CHAIN,
      token: "USDC",
      amount: "100",
    });
    let worker = await workers.start(variables);
    await worker.begin();
    await client.call(shield, { body: { chainId: CHAIN, token: "USDC", amount: "100" } });
    await waitUntilSpendable(client, "99.9");

    const recipient = testAccount().address;
    const body = { chainId: CHAIN, token: "USDC", amount: "25", toAddress: recipient };
    // The anonymity set is so small that the transfer must be confirmed.
    await expect(client.call(privateTransfer, { body })).rejects.toMatchObject({
      code: "small_anonymity_set",
    });
    const points = POINTS.filter(({ name }) => IS_LONG || name === AT_LEAST);
    expect(points).toHaveLength(IS_LONG ? POINTS.length : 1);
    const holdAt = (point: Point | undefined): { off(): void } =>
      point?.holds === undefined
        ? { off: () => undefined }
        : proxy.on({ fault: { kind: "hang" }, methods: [point.holds] });
    let rule = holdAt(points[0]);
    const { transferId, operationId } = await client.call(privateTransfer, {
      body: { ...body, acceptSmallSet: true },
    });
    const { prisma } = services.database;
    const look = async (): Promise<Found> => {
      const step = await prisma.privacyStep.findFirstOrThrow({ where: { operationId } });
      const transaction = await prisma.chainTransaction.findFirst({
        where: { purpose: { startsWith: "privacy:" } },
      });
      return { step, transaction };
    };
    let proved: unknown = null;
    const killed: string[] = [];
    for (const [index, { name, isReached }] of points.entries()) {
      const next = workers.start(variables);
      await vi.waitFor(
        async () => {
          const found = await look();
          if (!isReached(found)) throw new Error(`${name}: the step is ${found.step.state}.`);
        },
        { timeout: TIMEOUT_MS, interval: 5 },
      );
      worker.kill();
      await worker.exited;
      // Proves that the worker died at this point and not later.
      const found = await look();
      expect([name, isReached(found)]).toEqual([name, true]);
      killed.push(name);
      if (found.step.state === "proved") proved = found.step.transaction;
      rule.off();
      rule = holdAt(points[index + 1]);
      worker = await next;
      await worker.begin();
    }
    expect(killed).toEqual(points.map(({ name }) => name));
    const ended = await vi.waitFor(
      async () => {
        const transfer = await client.call(getPrivateTransfer, { params: { id: transferId } });
        if (!isFinal(transfer.status)) throw new Error(`It is ${transfer.status}.`);
        return transfer;
      },
      { timeout: TIMEOUT_MS, interval: 100 },
    );
    worker.kill();
    expect(ended).toMatchObject({ status: "completed", received: { amount: "25" } });
    const usdc = devnet.chains
      .find(({ id }) => id === CHAIN)
      ?.tokens.find(({ symbol }) => symbol === "USDC")?.address as Address;
    expect(await balanceOnChain(rpcUrl, usdc, recipient)).toBe(AMOUNT);
    const sent = await services.database.prisma.chainTransaction.findMany({
      where: { purpose: { startsWith: "privacy:" } },
    });
    expect(sent).toHaveLength(1);
    // The transaction that was proved before the crash was sent after it.
    expect(proved).toMatchObject({ to: sent[0]?.to, data: sent[0]?.data });
    expect(sent[0]?.fromAddress).toBe(privateKeyToAddress(config.executorPrivateKey ?? "0x"));

    await expectNotNamed(
      { services, client, operationId },
      recipient,
      readFileSync(workers.logFile, "utf8"),
    );
  },
);
