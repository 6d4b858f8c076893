import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { register } from "prom-client";
import { getAddress, type Address } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SCOPES } from "@/lib/contracts/contract";
import { cancelOperation, retryOperation } from "@/lib/contracts/operations";
import {
  createPrivacyWallet,
  getPrivateTransfer,
  listPrivateExits,
  privateTransfer,
  shield,
  startPrivateExit,
  unshield,
} from "@/lib/contracts/privacy";
import { getLogger } from "@/lib/platform/log/logger";
import { testAccount } from "@/lib/dev/testing/factories";
import { privateMoney } from "@/lib/dev/testing/private-money";

/** The output of the process to stdout: its log lines, of every level. */
let written = "";
const write = vi.spyOn(fs, "write");
beforeAll(() => {
  write.mockImplementation(((
    fd: number,
    data: Buffer,
    done: (error: Error | null, count: number) => void,
  ) => {
    if (fd === STDOUT) written += data.toString();
    done(null, data.length);
  }) as never);
  syncBuiltinESMExports();
});
afterAll(() => {
  write.mockRestore();
  syncBuiltinESMExports();
});

const STDOUT = 1;
const HALF_HOUR_MS = 1_900_000;

/** All scopes of a key that may not read private operations. */
const BLIND = SCOPES.filter((scope) => !scope.startsWith("privacy:"));

/** A person with a private wallet of three notes, and with a key that needs no codes. */
const openContext = async () => {
  const money = await privateMoney({ LOG_LEVEL: "trace" });
  const { api } = money;
  const session = await api.signIn();
  await api.verifiedEmail(session);
  const { client } = await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000000" });
  const { id: privacyWalletId } = await session.client.call(createPrivacyWallet, {
    body: { name: "Payroll" },
  });
  for (const amount of ["100", "100", "100"])
    await money.deposit(privacyWalletId, "USDC", amount);
  return { money, session, client, privacyWalletId };
};

type Context = Awaited<ReturnType<typeof openContext>>;

/**
 * Runs private operations that complete, fail, are retried, cancelled or wait.
 * @returns their ids, and the first one, which was paid
 */
const runOperations = async (
  { money, session, client, privacyWalletId }: Context,
  toAddress: `0x${string}`,
) => {
  const { chainId, world, workerClock, hooks } = money;
  const move = { chainId, token: "USDC", amount: "7.654321", toAddress, privacyWalletId };
  const operationIds: string[] = [];
  const begin = async (call: Promise<{ operationId: string; transferId: string }>) => {
    const begun = await call;
    operationIds.push(begun.operationId);
    return begun;
  };
  const paid = await begin(client.call(privateTransfer, { body: move }));
  // A node may repeat the request in its error.
  hooks.beforeSending = () => {
    hooks.beforeSending = () => Promise.resolve();
    return Promise.reject(new Error(`execution reverted: transfer to ${toAddress}`));
  };
  await money.settle(paid.operationId);
  const failed = await begin(client.call(unshield, { body: move }));
  world.publishOtherSet();
  await money.look(failed.operationId);
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(failed.operationId);
  world.approveDeposits();
  const again = await client.call(retryOperation, { params: { id: failed.operationId } });
  if ("quoteId" in again) throw new Error("The retry is a quote.");
  await begin(Promise.resolve(again));
  await money.settle(again.operationId);
  const cancelled = await begin(session.client.call(privateTransfer, { body: move }));
  await session.client.call(cancelOperation, { params: { id: cancelled.operationId } });
  await begin(session.client.call(shield, { body: { chainId, token: "USDC", amount: "5" } }));
  await money.deposit(privacyWalletId, "USDC", "9", "declined");
  const [declined] = (
    await session.client.call(listPrivateExits, { query: { privacyWalletId } })
  ).data;
  const exit = { chainId, noteId: declined?.noteId ?? "", privacyWalletId };
  await begin(session.client.call(startPrivateExit, { body: exit }));
  return { operationIds, paid };
};

/**
 * The answers of many routes to a key that may not read private operations, to a key of another
 * project, and to a caller without a key.
 */
const answersToOthers = async (
  { money: { api }, session }: Context,
  own: {
    readonly operationIds: readonly string[];
    readonly transferId: string;
    readonly toAddress: string;
  },
): Promise<string[]> => {
  const { operationIds, transferId, toAddress } = own;
  const blind = await api.createKey(session, { scopes: BLIND });
  const stranger = await api.createKey(await api.signIn(), {});
  const lists = [
    "/operations",
    `/operations?q=${toAddress}`,
    "/operations?format=csv",
    "/events",
    "/transfers",
    "/audit-log",
  ];
  const others = [
    "/wallets",
    "/contacts",
    "/payouts",
    "/balances/unified",
    "/privacy/transfers",
    "/privacy/balances",
  ];
  const single = operationIds.flatMap((id) => [
    `/operations/${id}`,
    `/operations/${id}/events`,
  ]);
  const open = [
    "/health",
    "/ready",
    "/chains",
    "/tokens",
    "/openapi.json",
    `/privacy/transfers/${transferId}`,
  ];
  const answers: string[] = [];
  for (const secret of [blind.secret, stranger.secret, null])
    for (const path of [...lists, ...others, ...single, ...open]) {
      const headers = { accept: path.includes("csv") ? "text/csv" : "application/json" };
      const answer = await api.fetch(path, {
        headers: secret === null ? headers : { ...headers, "x-api-key": secret },
      });
      // The query is left out, because the caller wrote it.
      answers.push(
        `${path.split("?")[0] ?? ""} ${String(answer.status)} ${await answer.text()}`,
      );
    }
  return answers;
};

/**
 * The rows of events, jobs, search terms and the audit log, from which readers without access to
 * private operations are served.
 */
const storedRows = async ({ prisma }: Context["money"]["services"]["database"]) => {
  const [audit, operationEvents, outbox, events, jobs, operations] = await Promise.all([
    prisma.auditEvent.findMany(),
    prisma.operationEvent.findMany(),
    prisma.eventOutbox.findMany(),
    prisma.event.findMany(),
    prisma.job.findMany(),
    prisma.operation.findMany({ select: { searchTerms: true } }),
  ]);
  return { outbox, events, others: [audit, operationEvents, jobs, operations] };
};

test("what the service tells those who may not read privacy, and what it logs, names no recipient of a private operation", async () => {
  const context = await openContext();
  const { money, client } = context;
  const { api } = money;
  const { database } = api.services;
  const toAddress = testAccount().address;
  const bare = toAddress.slice(2).toLowerCase();
  const { operationIds, paid } = await runOperations(context, toAddress);

  // Proves that the search below works: the owner's own answer contains the secret.
  const own = await client.call(getPrivateTransfer, { params: { id: paid.transferId } });
  expect(JSON.stringify(own).toLowerCase()).toContain(bare);

  const answers = await answersToOthers(context, {
    operationIds,
    transferId: paid.transferId,
    toAddress,
  });
  expect(answers.filter((answer) => answer.toLowerCase().includes(bare))).toEqual([]);
  // The answers do not even reveal that such an operation exists.
  const listed = answers.filter((answer) =>
    /^\/(operations|transfers|payouts) 200/.test(answer),
  );
  expect(listed.length).toBeGreaterThanOrEqual(4);
  expect(listed.filter((answer) => operationIds.some((id) => answer.includes(id)))).toEqual([]);
  for (const id of operationIds)
    expect(
      answers.filter(
        (answer) => answer.startsWith(`/operations/${id}`) && answer.includes(" 200 "),
      ),
    ).toEqual([]);

  // Warnings about look-alikes must not reveal whom else the project paid.
  const { projectId } = await database.prisma.operation.findFirstOrThrow({
    where: { id: paid.operationId },
  });
  const twin = getAddress(`0x${bare.slice(0, 4)}${"0".repeat(32)}${bare.slice(-4)}`);
  const about = (address: Address) =>
    api.services.recipients.warnings({
      ...{ projectId, chainIds: [], tokens: [], purpose: "pay" },
      recipients: [{ path: "toAddress", address }],
    });
  expect((await about(twin)).map(({ code }) => code)).toEqual(["first_payment"]);
  expect((await about(toAddress)).map(({ code }) => code)).toEqual(["first_payment"]);

  const rows = await storedRows(database);
  const stored = JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  expect(stored.toLowerCase()).not.toContain(bare);
  const told = [...rows.outbox, ...rows.events].filter(({ objectId }) =>
    operationIds.includes(objectId),
  );
  expect(new Set(told.map(({ objectId }) => objectId))).toEqual(new Set(operationIds));
  expect(told.filter((event) => !event.private)).toEqual([]);
  expect(JSON.stringify(told.map(({ payload }) => payload))).not.toContain("7.654321");

  expect(money.logged).toHaveLength(1);
  // Lines are written in order, so once the last line is there, all are.
  getLogger("trace").info("the last line of this test");
  await vi.waitFor(() => expect(written).toContain("the last line of this test"), {
    timeout: 10_000,
  });
  expect([...money.logged, written].join("\n").toLowerCase()).not.toContain(bare);
  expect(written).toContain("/privacy/transfer");
  expect((await register.metrics()).toLowerCase()).not.toContain(bare);
});
