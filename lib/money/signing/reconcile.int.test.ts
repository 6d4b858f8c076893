import { parseEther, toHex, zeroHash } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test, vi } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import { startWorker } from "@/lib/workers/runner";
import type { ReconcileRequest } from "./reconcile";
import { asOwner } from "@/lib/dev/testing/database";

const CHAIN_ID = 31337;
const WAIT = { timeout: 30_000, interval: 50 };
const OTHER_HASH = toHex(7n, { size: 32 });
const REQUEST: ReconcileRequest = { by: "operator:test", reason: "drill", accept: [] };

const api = await testApi();
const { services } = api;
const { database, reconciliation, transactions, config } = services;
const { prisma } = database;
const [executorKey] = config.executorPrivateKeys;
if (executorKey === undefined) throw new Error("There is no executor.");
const executor = privateKeyToAddress(executorKey);

/**
 * Turns signing off as another server would, so long ago that no earlier operation can still be
 * executed.
 */
const turnOff = async (): Promise<void> => {
  await services.signing.require();
  await database.pool.query(
    "UPDATE signing_state SET off_since = now() - interval '10 min', off_reason = 'a test', seen_at = now() WHERE id = 1",
  );
  // The service caches the state. Without this wait it could still use the state of before.
  await vi.waitFor(
    async () => expect((await services.signing.state()).isAllowed).toBe(false),
    WAIT,
  );
};
const turnOn = async (): Promise<void> => {
  await database.pool.query(
    "UPDATE signing_state SET off_since = NULL, off_reason = NULL WHERE id = 1",
  );
  await vi.waitFor(
    async () => expect((await services.signing.state()).isAllowed).toBe(true),
    WAIT,
  );
};

/** Pays a coin with a transaction of the executor, and waits until it is final. */
const payCoin = async (purpose: string) => {
  const to = testAccount().address;
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
  const own = {
    chainId: CHAIN_ID,
    keyId: "executor",
    purpose,
    to,
    data: "0x",
    value: parseEther("0.5"),
  } as const;
  const { id } = await transactions.send({ ...own, gas: 21_000n, fees });
  await vi.waitFor(async () => {
    await transactions.reconcile(CHAIN_ID);
    expect((await transactions.find(CHAIN_ID, purpose))?.status).toBe("final");
  }, WAIT);
  const { minedHash } = await prisma.chainTransaction.findUniqueOrThrow({ where: { id } });
  return { id, to, hash: minedHash ?? "" };
};

test("a transaction of the executor that no row knows is unknown, and the next nonce is the chain's again", async () => {
  const { id, to, hash } = await payCoin("lost");
  const where = { address_chainId: { address: executor, chainId: CHAIN_ID } };
  const { next } = await prisma.signerNonce.findUniqueOrThrow({ where });
  await asOwner(
    api.services.config.databaseUrl,
    "DELETE FROM chain_transaction WHERE id = $1",
    [id],
  );
  await prisma.signerNonce.update({ where, data: { next: next - 1n } });
  await turnOff();
  // Comparing repeatedly gives the same result, because nothing hides the movement before it is
  // accepted.
  for (const time of [1, 2]) {
    const report = await reconciliation.reconcile(REQUEST);
    expect([time, report.isAllowed]).toEqual([time, false]);
    expect(report.unknown.filter((move) => move.hash === hash)).toMatchObject([
      { projectId: null, payments: [{ to, token: "native", symbol: "ETH", amount: "0.5" }] },
    ]);
  }
  // Other test files use the same paymaster, and their newest operations may not be final.
  await vi.waitFor(async () => {
    expect(await reconciliation.reconcile({ ...REQUEST, accept: "all" })).toMatchObject({
      isAllowed: true,
    });
  }, WAIT);
  expect(await prisma.unknownMove.count({ where: { hash } })).toBe(1);
  expect(await prisma.signerNonce.findUniqueOrThrow({ where })).toMatchObject({ next });
  await turnOn();
  await expect(services.signing.requireUnpaid("prj_any", [to])).rejects.toMatchObject({
    code: "paid_already",
  });
}, 120_000);

test("a stored transaction that was mined in a version of which the row does not know is found", async () => {
  const { id, hash } = await payCoin("raised");
  await prisma.chainTransaction.update({
    where: { id },
    data: { status: "broadcast", hash: OTHER_HASH, minedHash: null, blockNumber: null },
  });
  await turnOff();
  const { unknown } = await reconciliation.reconcile(REQUEST);
  expect(unknown.map((move) => move.hash)).not.toContain(hash);
  await turnOn();
  await transactions.reconcile(CHAIN_ID);
  expect(await prisma.chainTransaction.findUniqueOrThrow({ where: { id } })).toMatchObject({
    status: "final",
    minedHash: hash,
  });
}, 120_000);

test("a leg that names another operation than the chain executed for it follows the executed one; while signing is allowed nothing is changed", async () => {
  const customer = await fundedCustomer(api);
  const worker = startWorker(services, { searchesDeposits: false });
  const { operationId } = await sendUsdc(customer, "3");
  await waitUntilFinal(customer.client, operationId);
  await worker.stop();
  const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  await prisma.operation.update({ where: { id: operationId }, data: { status: "processing" } });
  await prisma.operationLeg.update({
    where: { id: leg.id },
    data: { state: "submitted", userOpHash: zeroHash },
  });
  const hashes = async () => {
    const { userOpHash, earlierUserOpHashes } = await prisma.operationLeg.findUniqueOrThrow({
      where: { id: leg.id },
    });
    return [userOpHash, ...earlierUserOpHashes];
  };
  const allowed = await reconciliation.reconcile(REQUEST);
  expect(allowed).toMatchObject({ wasOff: false, isAllowed: true });
  expect(allowed.unknown.map((move) => move.hash)).toContain(leg.userOpHash);
  expect(await hashes()).toEqual([zeroHash]);
  await turnOff();
  const report = await reconciliation.reconcile(REQUEST);
  expect(report.unknown.map((move) => move.hash)).not.toContain(leg.userOpHash);
  expect(report.chains.flatMap(({ adopted }) => adopted)).toContain(
    `leg ${leg.id} of ${operationId}`,
  );
  expect(await hashes()).toEqual([leg.userOpHash, zeroHash]);
  await turnOn();
}, 120_000);
