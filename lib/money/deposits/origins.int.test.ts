import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { originsOf } from "./judge";
import type { SeenTransfer } from "./hint-repository";

const { database } = await testDatabase();
const { prisma } = database;
const reader = sqlOn(database.pool);
const [USDC, DAI] = ["0xUsdc", "0xDai"];
const now = new Date();

const newProject = async () => {
  const projectId = newId("project");
  await prisma.project.create({ data: { id: projectId, name: "Test", createdAt: now } });
  const treasury = {
    id: newId("wallet"),
    projectId,
    kind: "treasury",
    address: testAccount().address,
    keyId: projectId,
  };
  await prisma.wallet.create({ data: { ...treasury, createdAt: now } });
  return { projectId, treasury };
};
type Project = Awaited<ReturnType<typeof newProject>>;

const token = (address: string, chainId: number) => ({ address, chainId });
// The deposited token never passes through the wallet.
const bridged = [{ kind: "bridge", from: token(DAI, 1), amountInBase: "90" }];

/**
 * An operation that pays USDC from a wallet on chain 1 to a recipient who receives USDC on chain 2.
 */
const newLeg = async (
  { projectId, treasury }: Project,
  leg: object,
  { owner = treasury.address, status = "completed", toChainId = 2 } = {},
) => {
  const operationId = newId("operation");
  const request = {
    sources: [{ owner, token: token(USDC, 1), amountBase: "100" }],
    destination: { token: token(USDC, toChainId), recipient: treasury.address },
    slippageBps: 0,
  };
  const operation = {
    id: operationId,
    projectId,
    kind: "transfer",
    status,
    subStatus: "full",
    request,
    quoted: {},
  };
  const times = { acceptedAt: now, createdAt: now, updatedAt: now };
  await prisma.operation.create({
    data: { ...operation, minimumBase: 0, createdBy: "test", searchTerms: [], ...times },
  });
  const plain = {
    walletId: treasury.id,
    walletAddress: owner,
    kind: "bridge",
    sourceChainId: 1,
    destChainId: toChainId,
  };
  const route = {
    routeLeg: { sourceIndex: 0, steps: bridged },
    amountBase: 100,
    via: "user_operation",
    gas: {},
  };
  await prisma.operationLeg.create({
    data: {
      ...{
        id: newId("leg"),
        projectId,
        operationId,
        position: 0,
        ...plain,
        state: "completed",
        ...route,
        fromBlock: 0n,
      },
      ...{ updatedAt: now, ...leg },
    },
  });
};

const incoming = (
  { projectId, treasury }: Project,
  over: Partial<SeenTransfer>,
): SeenTransfer => ({
  ...{
    projectId,
    chainId: 2,
    txHash: "0x1",
    walletAddress: treasury.address,
    token: USDC.toLowerCase(),
  },
  ...{
    sender: testAccount().address,
    amountBase: 95n,
    detectedAt: new Date(now.getTime() + 1000),
    ...over,
  },
});

const originOf = async (project: Project, over: Partial<SeenTransfer>) =>
  (await originsOf(reader, [incoming(project, over)]))[0];

test("what a leg's fill brings is its own: another amount, token, wallet or chain in the same transaction is from outside", async () => {
  const project = await newProject();
  const second = {
    ...project.treasury,
    id: newId("wallet"),
    address: testAccount().address,
    kind: "smart_account",
  };
  await prisma.wallet.create({ data: { ...second, createdAt: now } });
  await newLeg(project, { destTxHash: "0x1", receivedBase: 95 });
  expect(await originOf(project, {})).toBe("own");
  expect(await originOf(project, { amountBase: 96n })).toBe("outside");
  expect(await originOf(project, { token: "0xdai", amountBase: 1n })).toBe("outside");
  expect(await originOf(project, { walletAddress: second.address })).toBe("outside");
  expect(await originOf(project, { chainId: 1 })).toBe("outside");
  expect(
    await originsOf(reader, [incoming(project, {}), incoming(project, { amountBase: 40n })]),
  ).toEqual(["own", "outside"]);
  expect(await originOf(await newProject(), {})).toBe("outside");
});

test("a refund is the source wallet's, in the token and amount that came back", async () => {
  const project = await newProject();
  const refund = {
    state: "refunded",
    refundTxHash: "0x1",
    refundedBase: 90,
    refundToken: token(DAI, 1),
  };
  await newLeg(project, refund);
  expect(await originOf(project, { chainId: 1, token: "0xdai", amountBase: 90n })).toBe("own");
  expect(await originOf(project, { chainId: 1, token: "0xdai", amountBase: 91n })).toBe(
    "outside",
  );
  expect(await originOf(project, { chainId: 1, amountBase: 90n })).toBe("outside");
});

test("in the source's transaction a wallet gets back at most what it pays, and nothing of the token for the bridge", async () => {
  const project = await newProject();
  await newLeg(project, { sourceTxHash: "0x1" });
  expect(await originOf(project, { chainId: 1, amountBase: 100n })).toBe("own");
  expect(await originOf(project, { chainId: 1, amountBase: 101n })).toBe("outside");
  expect(await originOf(project, { chainId: 1, token: "0xdai", amountBase: 90n })).toBe(
    "outside",
  );
  expect(await originOf(project, { chainId: 1, token: "0xweth", amountBase: 1n })).toBe(
    "outside",
  );
});

test("the treasury that runs the leg of a linked wallet gets the wallet's money, and no more", async () => {
  const project = await newProject();
  const owner = testAccount().address;
  await newLeg(
    project,
    { sourceTxHash: "0x1", executorWalletId: project.treasury.id },
    { owner },
  );
  expect(await originOf(project, { chainId: 1, sender: owner, amountBase: 100n })).toBe("own");
  expect(await originOf(project, { chainId: 1, sender: owner, amountBase: 101n })).toBe(
    "outside",
  );
});

test("a swap on one chain brings what it received", async () => {
  const project = await newProject();
  const swap = {
    kind: "swap",
    sourceTxHash: "0x1",
    receivedBase: 99,
    routeLeg: { sourceIndex: 0, steps: [] },
  };
  await newLeg(project, { ...swap, amountBase: 5 }, { toChainId: 1 });
  expect(await originOf(project, { chainId: 1, amountBase: 99n })).toBe("own");
  expect(await originOf(project, { chainId: 1, amountBase: 105n })).toBe("outside");
});

test("a transaction that pays a payout explains nothing but what wallets of the project send", async () => {
  const project = await newProject();
  const batch = {
    projectId: project.projectId,
    payoutId: "po_1",
    number: 0,
    walletAddress: project.treasury.address,
    chainId: 2,
    txHash: "0x1",
    token: "0xusdc",
  };
  await prisma.walletPayoutBatch.create({
    data: { ...batch, rows: 1, amountBase: 95, state: "paid", updatedAt: now },
  });
  expect(await originOf(project, {})).toBe("outside");
  expect(await originOf(project, { sender: project.treasury.address })).toBe("own");
});

test("a private payment to a wallet brings its own token and amount", async () => {
  const project = await newProject();
  const { projectId, treasury } = project;
  const transfer = {
    projectId,
    id: "tr_1",
    operationId: "op_private",
    kind: "unshield",
    walletId: "wal",
    chainId: 2,
  };
  const tokens = {
    token: token(USDC, 2),
    tokenOut: token(USDC, 2),
    amountBase: 95,
    digest: Buffer.from(""),
  };
  await prisma.privacyTransfer.create({
    data: {
      ...transfer,
      ...tokens,
      toAddress: treasury.address,
      createdBy: "test",
      createdAt: now,
    },
  });
  const step = {
    projectId,
    operationId: "op_private",
    position: 0,
    chainId: 2,
    noteId: "1",
    state: "completed",
  };
  await prisma.privacyStep.create({
    data: {
      ...step,
      withdrawBase: 95,
      outBase: 95,
      txHash: "0x1",
      receivedBase: 95,
      updatedAt: now,
    },
  });
  expect(await originOf(project, {})).toBe("own");
  expect(await originOf(project, { amountBase: 96n })).toBe("outside");
  expect(await originOf(project, { token: "0xdai" })).toBe("outside");
});

test("a leg under way may bring money to its recipient in the token it delivers, and to the wallet that pays", async () => {
  const project = await newProject();
  await newLeg(project, { state: "needs_attention" }, { status: "processing" });
  expect(await originOf(project, {})).toBe("open");
  expect(await originOf(project, { token: "0xdai" })).toBe("outside");
  expect(await originOf(project, { chainId: 1, token: "0xdai" })).toBe("open");
  expect(await originOf(project, { detectedAt: new Date(now.getTime() - 1000) })).toBe(
    "outside",
  );
});

test("a thousand transfers of one transaction use up an amount once", async () => {
  const project = await newProject();
  await newLeg(project, { destTxHash: "0x1", receivedBase: 95 });
  const rows = Array.from({ length: 1200 }, () => incoming(project, { amountBase: 1n }));
  const origins = await originsOf(reader, rows);
  expect(origins.filter((origin) => origin === "own")).toHaveLength(95);
});
