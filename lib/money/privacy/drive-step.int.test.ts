import { expect, test, vi } from "vitest";
import { bindDeps } from "@/lib/core/bind-deps";
import { newId } from "@/lib/core/ids";
import type { Token } from "@/lib/core/token";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";
import { testDatabase } from "@/lib/dev/testing/database";
import { createFakePrivacyEngine } from "@/lib/dev/testing/fake-privacy-engine";
import { createFakePrivacyWorld } from "@/lib/dev/testing/fake-privacy-world";
import { EMPTY_PRIVATE_TRANSFER } from "@/lib/dev/testing/private-transfer";
import { createDepositNumbers } from "./context";
import { driveStep, type DriveStepDeps } from "./drive-step";
import { TakenError } from "./errors";
import { createPrivacyRepository } from "./repository";

// Real rows of operations and steps, with fake pools.
const CHAIN = 31337;
const OWNER: EvmAddress = "0x2222222222222222222222222222222222222222";
const NOW = new Date("2026-01-01T00:00:00Z");
const { database } = await testDatabase();
const { prisma } = database;
const repository = createPrivacyRepository(database);

const usdc: Token = {
  ...{
    symbol: "USDC",
    name: "USD Coin",
    chainId: CHAIN,
    address: "0x00000000000000000000000000000000000000A1",
  },
  ...{ decimals: 6, assetId: "usdc", usdPegged: true },
};
const pool: PrivacyPool = {
  ...{
    chainId: CHAIN,
    token: usdc,
    address: "0x00000000000000000000000000000000000000B1",
    minimumBase: 1n,
  },
  ...{ shieldFeeBps: 0, relayFeeBps: 0, mayProcess: true },
};

interface Payer {
  readonly projectId: string;
  readonly walletId: string;
}

/** An operation that creates notes of the wallet with these numbers. */
const start = async (
  { projectId, walletId }: Payer,
  slots: readonly number[],
  noteId?: string,
): Promise<string> => {
  const operationId = newId("operation");
  const request = {
    sources: [{ owner: OWNER, token: usdc, amountBase: 1n }],
    destination: { token: usdc, recipient: OWNER },
    slippageBps: 0,
  } as const;
  const operation = () => ({
    ...{ id: operationId, projectId, kind: "private_transfer", queue: "privacy", request },
    ...{
      expectedBase: 1n,
      minimumBase: 1n,
      searchTerms: [],
      createdBy: "test",
      approvalUntil: null,
      retryOf: null,
    },
    audit: { projectId, actor: "test", action: "operation.executed", data: {} } as never,
  });
  const transfer = {
    ...EMPTY_PRIVATE_TRANSFER,
    ...{ projectId, id: newId("transfer"), operationId, walletId, chainId: CHAIN },
    kind: "private_transfer",
    ...{ toAddress: OWNER, token: usdc, tokenOut: usdc, amountBase: 1n, createdBy: "test" },
  } as const;
  const steps = slots.map((number) => ({
    ...{ noteId: noteId ?? newId("transfer"), withdrawBase: 1n, outBase: 1n },
    slot: { walletId, pool: pool.address, number },
  }));
  await repository.insertSpend(
    { operation, transfer, steps, quote: null },
    () => Promise.resolve("evl_1"),
    NOW,
  );
  return operationId;
};

/** An operation that takes the note out by the pool's public exit. */
const exit = ({ projectId, walletId }: Payer, noteId: string): Promise<void> =>
  database.transaction(async (tx) => {
    const operationId = newId("operation");
    const own = { projectId, kind: "public_exit", createdBy: "test", createdAt: NOW } as const;
    await tx.operation.create({
      data: {
        ...own,
        id: operationId,
        status: "pending",
        subStatus: "prepared",
        request: {},
        quoted: {},
        minimumBase: "1",
        searchTerms: [],
        updatedAt: NOW,
      },
    });
    await repository.claimExit(tx, {
      projectId,
      walletId,
      chainId: CHAIN,
      noteId,
      operationId,
    });
    const leaving = { chainId: CHAIN, token: usdc, tokenOut: usdc, amountBase: 1n, noteId };
    const ids = { id: newId("transfer"), operationId, walletId };
    await repository.insertTransfer(tx, {
      ...EMPTY_PRIVATE_TRANSFER,
      ...own,
      ...leaving,
      ...ids,
    });
  });

/** A private wallet in a separate project, and a function that spends to it. */
const newWallet = async () => {
  const projectId = newId("project");
  await prisma.project.create({
    data: { id: projectId, name: "Numbers", createdAt: NOW } as never,
  });
  const world = createFakePrivacyWorld({ pools: [pool] });
  const engine = createFakePrivacyEngine(world);
  const key = { id: newId("privacyWallet"), mnemonic: engine.newMnemonic() };
  const sealed = {
    ciphertext: new Uint8Array(1),
    wrappedDataKey: new Uint8Array(1),
    kekId: "test",
  };
  await prisma.privacyWallet.create({
    data: {
      projectId,
      id: key.id,
      name: "Private",
      isDefault: true,
      ...sealed,
      createdBy: "test",
      createdAt: NOW,
    },
  });
  const payer: Payer = { projectId, walletId: key.id };
  const holdings = () => engine.holdings(key, CHAIN, new AbortController().signal);
  const numbers = createDepositNumbers({ repository, holdings });

  const end = async (
    operationId: string,
    position: number,
    state: "completed" | "failed",
  ): Promise<void> => {
    const step = (await repository.steps(projectId, operationId))[position];
    if (step === undefined) throw new Error("There is no such step.");
    expect(await repository.moveStep(step, state, {}, null, NOW)).toBe(true);
  };

  const deposit = async (index: number): Promise<void> => {
    const { calls } = await engine.shield({
      chainId: CHAIN,
      token: usdc,
      amountBase: 5n,
      slot: { wallet: key, index },
    });
    for (const call of calls) world.mine(OWNER, call);
  };

  return {
    projectId,
    engine,
    world,
    key,
    start: bindDeps(payer, start),
    exit: bindDeps(payer, exit),
    end,
    deposit,
    holdings,
    free: (count = 1) => numbers.free({ projectId, key, pool }, count),
  };
};

test("operations that fail without a deposit, however many in a row, leave no gap: their number is given out again", async () => {
  const wallet = await newWallet();
  for (let failures = 0; failures < 15; failures += 1) {
    const [number = -1] = await wallet.free();
    expect(number).toBe(0);
    await wallet.end(await wallet.start([number]), 0, "failed");
  }
  const numbers = await wallet.free(3);
  const operationId = await wallet.start(numbers);
  await wallet.deposit(2);
  await wallet.end(operationId, 2, "completed");
  for (const position of [0, 1]) await wallet.end(operationId, position, "failed");
  // The numbers before a deposit stay unused, and the scan skips them.
  expect(await wallet.free()).toEqual([3]);
  expect((await wallet.holdings()).notes).toHaveLength(1);
});

test("a number beyond the gap that a scan bridges is refused, and nothing is stored", async () => {
  const wallet = await newWallet();
  const numbers = await wallet.free(10);
  const operations = await Promise.all(numbers.map((number) => wallet.start([number])));
  await expect(wallet.free()).rejects.toMatchObject({ code: "invalid_state" });
  // The first nine fail and the last one deposits, which is the largest possible gap.
  for (const operationId of operations.slice(0, 9)) await wallet.end(operationId, 0, "failed");
  await wallet.deposit(9);
  await wallet.end(operations[9] ?? "", 0, "completed");
  expect((await wallet.holdings()).notes).toHaveLength(1);
  expect(await wallet.free(10)).toEqual(Array.from({ length: 10 }, (_, index) => index + 10));
});

test("a number is one operation's at a time, and another's only when no transaction can use it any more", async () => {
  const wallet = await newWallet();
  const first = await wallet.start([0]);
  await expect(wallet.start([0])).rejects.toThrow(TakenError);
  const { projectId } = wallet;
  const sent = await prisma.chainTransaction.create({
    data: {
      ...{
        id: newId("operation"),
        chainId: CHAIN,
        fromAddress: OWNER,
        nonce: 0n,
        purpose: `privacy:${first}:0:0`,
      },
      ...{
        to: OWNER,
        data: "0x",
        value: "0",
        gas: 1n,
        maxFeePerGas: "1",
        maxPriorityFeePerGas: "1",
        raw: "0x",
      },
      ...{
        hash: first,
        replacedHashes: [],
        status: "broadcast",
        createdAt: NOW,
        updatedAt: NOW,
      },
    },
  });
  await wallet.end(first, 0, "failed");
  expect(await wallet.free()).toEqual([1]);
  await expect(wallet.start([0])).rejects.toThrow(TakenError);
  await prisma.chainTransaction.update({ where: { id: sent.id }, data: { status: "final" } });
  expect(await wallet.free()).toEqual([0]);
  const both = await Promise.allSettled([wallet.start([0]), wallet.start([0])]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await prisma.privacySlot.count({ where: { projectId } })).toBe(1);
});

test("a note leaves by a spend or by a public exit, and never by both, also when both begin at once", async () => {
  const wallet = await newWallet();
  const [exited, spent] = [newId("transfer"), newId("transfer")];
  await wallet.exit(exited);
  await expect(wallet.start([0], exited)).rejects.toThrow(TakenError);
  await wallet.start([0], spent);
  await expect(wallet.exit(spent)).rejects.toThrow(TakenError);
  for (let round = 1; round <= 10; round += 1) {
    const noteId = newId("transfer");
    const both = await Promise.allSettled([wallet.start([round], noteId), wallet.exit(noteId)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  }
});

test("the time that a proof takes is counted from its turn, and not from when it began to wait", async () => {
  const wallet = await newWallet();
  const { engine, world, key, projectId } = wallet;
  for (const index of [0, 1]) await wallet.deposit(index);
  world.approveDeposits();
  const { notes } = await wallet.holdings();
  const operations = [];
  for (const [index, { id }] of notes.entries())
    operations.push(await wallet.start([index + 2], id));
  let now = NOW;
  // The test only makes and stores proofs, so sending transactions and reading fees are not needed.
  const deps: Partial<DriveStepDeps> = {
    ...{ repository, engine, clock: { now: () => now } },
    wallets: { treasury: () => Promise.resolve({ address: OWNER }) },
    privateWallets: {
      find: () => Promise.resolve({}),
      keyOf: () => key,
    } as unknown as DriveStepDeps["privateWallets"],
  };
  const stepOf = async (operationId: string) => {
    const [step] = await repository.steps(projectId, operationId);
    const transfer = await repository.findByOperation(projectId, operationId);
    if (step === undefined || transfer === null) throw new Error("There is no step.");
    return { step, transfer };
  };
  const sinceOf = async (operationId = ""): Promise<Date | null> =>
    (await stepOf(operationId)).step.provingSince;
  const [first = "", second = ""] = operations;
  const release = world.holdProofs();
  const { signal } = new AbortController();
  const proofs = [];
  for (const operationId of [first, second]) {
    const { step, transfer } = await stepOf(operationId);
    proofs.push(driveStep(deps as DriveStepDeps, transfer, step, signal));
    await vi.waitFor(async () => expect(await sinceOf(first)).toEqual(NOW), 20_000);
  }
  expect(await sinceOf(second)).toBeNull();
  now = new Date(NOW.getTime() + 8_000);
  const holdNext = world.holdProofs();
  release();
  await vi.waitFor(async () => expect(await sinceOf(second)).toEqual(now), 20_000);
  holdNext();
  expect(await Promise.all(proofs)).toEqual(["moved", "moved"]);
});
