import { expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { UserActor } from "@/lib/core/actor";
import { sqlOn } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { createRelease, type ReleaseDeps } from "./release";
import { depositsByIds, quarantinedDeposits } from "./repository";

const CHAIN = 31337;
const { database } = await testDatabase();
const { prisma } = database;
const reader = sqlOn(database.pool);
const token = {
  chainId: CHAIN,
  address: "0xUsdc",
  symbol: "USDC",
  name: "USDC",
  decimals: 6,
  assetId: "USDC",
};
const usdc = { ...token, address: testAccount().address, usdPegged: true };

const newProject = async () => {
  const [projectId, id] = [newId("project"), newId("wallet")];
  await prisma.project.create({ data: { id: projectId, name: "Test", createdAt: new Date() } });
  return { projectId, id, address: testAccount().address };
};

const newDeposit = async (
  wallet: Awaited<ReturnType<typeof newProject>>,
  over: object = {},
): Promise<string> => {
  const [id, now] = [newId("operation"), new Date()];
  await prisma.deposit.create({
    data: {
      ...{
        id,
        projectId: wallet.projectId,
        chainId: CHAIN,
        blockNumber: 0n,
        walletId: wallet.id,
      },
      ...{
        walletAddress: wallet.address,
        token: "native",
        amountBase: 1,
        state: "quarantined",
        isHeld: false,
      },
      ...{ verdict: "not_covered", screenedAt: now, detectedAt: now, updatedAt: now, ...over },
    },
  });
  return id;
};

const releaseAfter = (change: () => Promise<unknown>) => {
  const approvals: ReleaseDeps["approvals"] = {
    requireApproval: async () => {
      await change();
      const record = { approvalId: "apr_1", approvedBy: "signature" } as const;
      return {
        approvalId: "apr_1",
        expiresAt: new Date(),
        record,
        consume: () => Promise.resolve(),
      };
    },
  };
  const prices = { priceUsd: () => Promise.resolve([]) };
  return createRelease({
    database,
    clock: systemClock,
    approvals,
    prices,
    tokenOf: () => usdc,
  });
};

test("what changed while a person approved its release is not released", async () => {
  const wallet = await newProject();
  const user = {
    type: "user",
    userId: newId("user"),
    sessionId: newId("session"),
    role: "owner",
  } as const;
  const actor: UserActor = { ...user, projectId: wallet.projectId };
  for (const data of [{ verdict: "hit" }, { amountBase: 2 }]) {
    const id = await newDeposit(wallet, {
      blockNumber: BigInt(Object.keys(data).join("").length),
    });
    const [deposit] = await depositsByIds(reader, wallet.projectId, [id]);
    if (deposit === undefined) throw new Error("It is not there.");
    const view = { deposit, token: usdc, seenNumber: 0n, mayRelease: true };
    const release = releaseAfter(() => prisma.deposit.updateMany({ where: { id }, data }));
    await expect(release(actor, view, { reason: "checked" })).rejects.toMatchObject({
      code: "invalid_state",
    });
    expect(await prisma.deposit.findFirst({ where: { id } })).toMatchObject({
      state: "quarantined",
      decidedAt: null,
    });
  }
});

test("the deposits that wait for a person begin with those of the most worth, and dust hides none", async () => {
  const wallet = await newProject();
  const worths = [5_000_000, 900_000_000, null, 1];
  const ids: string[] = [];
  for (const [index, usdMicro] of worths.entries())
    ids.push(await newDeposit(wallet, { usdMicro, blockNumber: BigInt(index) }));
  const found = await quarantinedDeposits(reader, wallet.projectId, 3);
  expect(found.map(({ id }) => ids.indexOf(id))).toEqual([1, 0, 3]);
});
