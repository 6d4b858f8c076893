import { beforeEach, expect, test, vi } from "vitest";
import { cancelOperation } from "@/lib/contracts/operations";
import { unshield } from "@/lib/contracts/privacy";
import { testAccount } from "@/lib/dev/testing/factories";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { privatePayments } from "@/lib/dev/testing/private-payments";
import { codeOf } from "@/lib/dev/testing/refusals";

// Only the chain and the proofs are fakes. The fake engine and the real one pass the same contract
// tests.
const money = await privateMoney();
const { api, world, workerClock, hooks, transactions, chainId } = money;
const HALF_HOUR_MS = 1_900_000;

const {
  session,
  key,
  approve,
  walletWith,
  get,
  operationOf,
  paidTo,
  pay,
  retry,
  failedTransfer,
  swap,
} = await privatePayments(money);

beforeEach(() => {
  hooks.afterProof = () => Promise.resolve();
  hooks.beforeSending = () => Promise.resolve();
  hooks.aboveCap = () => null;
  world.setSwapRateBps(10_000);
});

test("an association set that changes after the proof leads to a new proof, and one payment", async () => {
  const recipient = testAccount().address;
  const begun = await pay(await walletWith("100"), "40", recipient);
  const other = await walletWith();
  let proofs = 0;
  hooks.afterProof = async () => {
    proofs += 1;
    if (proofs === 1) await money.deposit(other, "USDC", "5");
  };
  await money.settle(begun.operationId);
  expect(await get(begun.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "40" },
  });
  expect(proofs).toBe(2);
  expect(paidTo(recipient)).toBe(40_000_000n);
});

test("an association set that changes after the transaction was sent leads to a new proof, and one payment", async () => {
  const recipient = testAccount().address;
  const begun = await pay(await walletWith("100"), "40", recipient);
  await money.look(begun.operationId);
  await money.deposit(await walletWith(), "USDC", "5");
  await money.settle(begun.operationId);
  expect(await get(begun.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "40" },
  });
  const sent = [...transactions.stored.keys()].filter((purpose) =>
    purpose.includes(begun.operationId),
  );
  expect(sent).toHaveLength(2);
  expect(paidTo(recipient)).toBe(40_000_000n);
});

test("a note that somebody with the mnemonic spent fails alone; the other notes of the operation go on", async () => {
  const recipient = testAccount().address;
  const wallet = await walletWith("60", "50");
  const begun = await pay(wallet, "100", recipient);
  const [first] = await money.stepsOf({
    projectId: await projectOf(),
    operationId: begun.operationId,
  });
  await (
    await money.stealer(wallet)
  )(first?.noteId ?? "");
  await money.settle(begun.operationId);
  const ended = await get(begun.transferId);
  expect(ended).toMatchObject({
    status: "partially_completed",
    failure: { code: "note_spent", retryable: false },
  });
  expect(ended.steps.map(({ state }) => state)).toEqual(["failed", "completed"]);
  const received = ended.received?.amountBase ?? "0";
  expect(paidTo(recipient)).toBe(BigInt(received));
  // A copy of this service may have spent the lost note, so no retry may pay its amount a second
  // time.
  expect((await operationOf(begun.operationId)).may.retry).toBe(false);
  expect(await codeOf(retry(begun.operationId))).toBe("409 invalid_state");
});

test("a worker that stalls before it sends, while another one goes on, sends nothing any more", async () => {
  const recipient = testAccount().address;
  const begun = await pay(await walletWith("100"), "40", recipient);
  const never = new AbortController().signal;
  let goOn: () => void = () => undefined;
  const stalled = new Promise<void>((resolve) => (goOn = resolve));
  let isStalled = false;
  hooks.beforeSending = () => {
    hooks.beforeSending = () => Promise.resolve();
    isStalled = true;
    return stalled;
  };
  const late = money.newRunner().run(begun.operationId, never);
  await vi.waitFor(() => expect(isStalled).toBe(true), { timeout: 30_000 });
  // The association set changes, so the other worker makes a new proof.
  await money.deposit(await walletWith(), "USDC", "5");
  await money.settle(begun.operationId);
  goOn();
  await late;
  const sent = [...transactions.stored.keys()].filter((purpose) =>
    purpose.includes(begun.operationId),
  );
  expect(sent).toHaveLength(1);
  expect(paidTo(recipient)).toBe(40_000_000n);
});

test("a payment that a deep reorganisation brings back counts as made, and is not taken for a theft", async () => {
  const recipient = testAccount().address;
  const begun = await pay(await walletWith("100"), "40", recipient);
  await money.look(begun.operationId);
  const [purpose = ""] = [...transactions.stored.keys()].filter((each) =>
    each.includes(begun.operationId),
  );
  world.publishOtherSet();
  transactions.mine(purpose);
  hooks.afterProof = () => {
    // The chain has the earlier set again, and with it the first transaction.
    world.approveDeposits();
    transactions.mine(purpose);
    return Promise.resolve();
  };
  world.approveDeposits();
  await money.settle(begun.operationId);
  expect(await get(begun.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "40" },
  });
  expect(paidTo(recipient)).toBe(40_000_000n);
});

test("a payment waits while the network fee is above the chain's cap, and its record says so", async () => {
  const recipient = testAccount().address;
  const begun = await pay(await walletWith("100"), "40", recipient);
  hooks.aboveCap = () => ({ pricePerGas: 75_500_000_000n, capPerGas: 30_000_000_000n });
  for (let turns = 0; turns < 3; turns += 1) await money.look(begun.operationId);
  const waiting = await operationOf(begun.operationId);
  expect(waiting.waitsForGas).toMatchObject([
    { chainId: money.chainId, priceGwei: "75.5", capGwei: "30" },
  ]);
  expect(waiting.outcome.nextAction).toMatch(
    /waits until the network fee falls. The fee is 75.5 gwei on .*at most 30 is paid/,
  );
  expect(
    [...transactions.stored.keys()].filter((purpose) => purpose.includes(begun.operationId)),
  ).toEqual([]);
  hooks.aboveCap = () => null;
  await money.settle(begun.operationId);
  expect((await operationOf(begun.operationId)).waitsForGas).toEqual([]);
  expect(paidTo(recipient)).toBe(40_000_000n);
});

test("a payment whose network fee stays above the cap for half an hour fails, with its money in the note", async () => {
  const begun = await pay(await walletWith("100"), "40");
  hooks.aboveCap = () => ({ pricePerGas: 2n, capPerGas: 1n });
  await money.look(begun.operationId);
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(begun.operationId);
  hooks.aboveCap = () => null;
  expect(await operationOf(begun.operationId)).toMatchObject({
    status: "failed",
    failure: { code: "network_fee_too_high", retryable: true },
    may: { retry: true },
  });
  expect(
    [...transactions.stored.keys()].filter((purpose) => purpose.includes(begun.operationId)),
  ).toEqual([]);
});

test("an outage longer than a note may wait fails nothing: the note is tried once more", async () => {
  const begun = await pay(await walletWith("100"), "40");
  const stop = new AbortController();
  const release = world.holdProofs();
  const dying = money.newRunner().run(begun.operationId, stop.signal);
  await vi.waitFor(
    async () => expect((await operationOf(begun.operationId)).subStatus).toBe("proving"),
    20_000,
  );
  stop.abort(new Error("The worker dies."));
  release();
  await dying;
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(begun.operationId);
  expect(await get(begun.transferId)).toMatchObject({ status: "completed" });
});

const projectOf = async (): Promise<string> => {
  const row = await api.services.database.prisma.privacyWallet.findFirstOrThrow({
    select: { projectId: true },
  });
  return row.projectId;
};

test("a retry pays what did not arrive, once, as a new operation that names the old one", async () => {
  const wallet = await walletWith("100");
  const failed = await failedTransfer(wallet, "40");
  expect(await operationOf(failed.operationId)).toMatchObject({
    status: "failed",
    may: { retry: true },
  });
  const answers = await Promise.allSettled(
    [1, 2, 3, 4, 5].map(() => retry(failed.operationId)),
  );
  const begun = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  expect(begun).toHaveLength(1);
  const again = begun[0];
  expect(again).toMatchObject({
    kind: "private_transfer",
    status: "pending",
    amount: { amount: "40" },
  });
  await money.settle(again?.operationId ?? "");
  expect(await operationOf(again?.operationId ?? "")).toMatchObject({
    status: "completed",
    retryOf: failed.operationId,
  });
  expect(await operationOf(failed.operationId)).toMatchObject({
    retriedBy: again?.operationId,
    may: { retry: false },
  });
  expect(paidTo(failed.recipient)).toBe(40_000_000n);
});

test("a retry of a transfer that arrived in part pays the rest alone", async () => {
  const recipient = testAccount().address;
  const wallet = await walletWith("60", "50");
  const begun = await pay(wallet, "100", recipient);
  // Both proofs are made. Once the first one is sent, the set has changed for the second.
  hooks.beforeSending = () => {
    world.publishOtherSet();
    return Promise.resolve();
  };
  await money.look(begun.operationId);
  hooks.beforeSending = () => Promise.resolve();
  const [first = ""] = [...transactions.stored.keys()].filter((each) =>
    each.includes(begun.operationId),
  );
  world.approveDeposits();
  transactions.mine(first);
  world.publishOtherSet();
  await money.look(begun.operationId);
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(begun.operationId);
  world.approveDeposits();
  const partial = await get(begun.transferId);
  expect(partial).toMatchObject({
    status: "partially_completed",
    failure: { retryable: true },
  });
  const arrived = paidTo(recipient);
  expect(arrived).toBeGreaterThan(0n);
  await money.deposit(wallet, "USDC", "70");
  const again = await retry(begun.operationId);
  expect(again.amount.amountBase).toBe((100_000_000n - arrived).toString());
  await money.settle(again.operationId);
  expect(paidTo(recipient)).toBe(100_000_000n);
});

test("a retry of a person waits for a code; cancelled, it may be tried again", async () => {
  const failed = await failedTransfer(await walletWith("100"), "25");
  const waiting = await retry(failed.operationId, session.client);
  expect(waiting).toMatchObject({ status: "pending", subStatus: "awaiting_approval" });
  expect(await codeOf(retry(failed.operationId))).toBe("409 invalid_state");
  await session.client.call(cancelOperation, { params: { id: waiting.operationId } });
  expect(await operationOf(failed.operationId)).toMatchObject({
    retriedBy: null,
    may: { retry: true },
  });
  const again = await retry(failed.operationId, session.client);
  await money.look(again.operationId);
  expect(paidTo(failed.recipient)).toBe(0n);
  await approve(again.operationId);
  await money.settle(again.operationId);
  expect(paidTo(failed.recipient)).toBe(25_000_000n);
});

test("a retry of an unshield goes to the same address, and a key that may not pay it does not start it", async () => {
  const recipient = testAccount().address;
  const body = {
    chainId,
    token: "USDC",
    amount: "10",
    toAddress: recipient,
    privacyWalletId: await walletWith("100"),
  };
  const begun = await key.call(unshield, { body });
  world.publishOtherSet();
  await money.look(begun.operationId);
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(begun.operationId);
  world.approveDeposits();
  const limits = { recipients: [testAccount().address] };
  const narrow = await api.createKey(session, {
    otp: "exempt",
    dailyCapUsd: "1000",
    ...limits,
  });
  expect(await codeOf(retry(begun.operationId, narrow.client))).toBe(
    "403 recipient_not_allowed",
  );
  const blind = await api.createKey(session, {
    scopes: ["operations:read", "operations:write"],
  });
  expect(await codeOf(retry(begun.operationId, blind.client))).toBe("404 not_found");
  const stranger = await api.signIn();
  expect(await codeOf(retry(begun.operationId, stranger.client))).toBe("404 not_found");
  await money.settle((await retry(begun.operationId)).operationId);
  expect(paidTo(recipient)).toBe(10_000_000n);
});

test("a retry of a swap keeps the minimum that was promised", async () => {
  const { transferId, operationId } = await swap(await walletWith("200"), "100");
  // The price falls below the minimum, so the contracts refuse.
  world.setSwapRateBps(9_000);
  await money.settle(operationId);
  expect(await get(transferId)).toMatchObject({
    status: "failed",
    failure: { code: "pool_refused" },
  });
  expect(await codeOf(retry(operationId))).toBe("409 quote_price_moved");
  world.setSwapRateBps(10_100);
  const again = await retry(operationId);
  await money.settle(again.operationId);
  const ended = await get(again.transferId);
  expect(ended).toMatchObject({ status: "completed", amount: { amount: "100" } });
  expect(ended.minimum).toEqual((await get(transferId)).minimum);
  expect(Number(ended.received?.amount)).toBeGreaterThan(100);
});

test("a retry of what arrived or still runs is refused", async () => {
  const begun = await pay(await walletWith("100"), "10");
  expect(await codeOf(retry(begun.operationId))).toBe("409 invalid_state");
  await money.settle(begun.operationId);
  expect(await codeOf(retry(begun.operationId))).toBe("409 invalid_state");
});

test("of two transfers that need the same note at once, one pays", async () => {
  const wallet = await walletWith("50");
  const recipient = testAccount().address;
  const answers = await Promise.allSettled([
    pay(wallet, "40", recipient),
    pay(wallet, "40", recipient),
  ]);
  const begun = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  expect(begun).toHaveLength(1);
  await money.settle(begun[0]?.operationId ?? "");
  expect(paidTo(recipient)).toBe(40_000_000n);
});
