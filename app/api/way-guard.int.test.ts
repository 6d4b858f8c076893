/**
 * Every public way in which money can leave, under every rule and the project's setting, for every
 * caller.
 */
import { beforeAll, expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { approveOperation, retryOperation } from "@/lib/contracts/operations";
import { approvePayoutSchedule, createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import {
  approvePayout,
  createAccountsPayout,
  createWalletsPayout,
  retryPayout,
} from "@/lib/contracts/payouts";
import { shield } from "@/lib/contracts/privacy";
import { createQuote, executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import type { BodyInput } from "@/lib/contracts/contract";
import { createSchedulesRepository } from "@/lib/money/payouts/schedules/repository";
import { createScheduleRuns } from "@/lib/money/payouts/schedules/runs";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import {
  callersOf,
  wrongEnds,
  type Attempt,
  type Callers,
  type Ways,
} from "@/lib/dev/testing/way-guard";
import { CALLERS, GUARD_NAMES, type Caller } from "@/lib/dev/testing/ways";
import { asOwner } from "@/lib/dev/testing/database";

const [HERE, THERE] = [31337, 31338];
const WAIT = { timeout: 30_000, interval: 200 };
const DAY_MS = 86_400_000;
const SLOT_MS = 600_000;
/** Nothing is carried out: what was accepted stays as it was stored. */
const api = await testApi();
const { services } = api;
const { prisma } = services.database;

let customer: Customer;
let callers: Callers;
let payer = "";
let payee = "";
/** Ids of schedules that pay every day; the key is the caller that made the schedule. */
const schedules = new Map<Caller, string>();
const startsAt = Date.now() + DAY_MS;
let day = -1;

const someone = () => testAccount().address;
const client = (caller: Caller) => callers.clients[caller];
const operationProof = async (caller: Caller, operationId: string): Promise<void> => {
  const person = callers.personOf(caller);
  const otp = await callers.codeFor(caller, { operationId }, person);
  await person.call(approveOperation, { params: { id: operationId }, body: { otp } });
};

/** A quote or transfer: prepared with the key's exemption or a code, and executed. */
const executing = (
  caller: Caller,
  quote: () => Promise<BodyInput<typeof executeSwap>>,
): Attempt => {
  let subject: BodyInput<typeof executeSwap> = {};
  const go = async (otp?: string): Promise<void> => {
    await client(caller).call(prepareSwap, {
      body: { ...subject, ...(otp === undefined ? {} : { otp }) },
    });
    await client(caller).call(executeSwap, { body: subject });
  };
  return {
    begin: async () => {
      subject = await quote();
      await go();
    },
    prove: async () => go(await callers.codeFor(caller, subject)),
  };
};

/** An operation that is started in one call. */
const operating = (caller: Caller, start: () => Promise<{ operationId: string }>): Attempt => {
  let operationId = "";
  return {
    begin: async () => void ({ operationId } = await start()),
    prove: () => operationProof(caller, operationId),
  };
};

const paying = (
  caller: Caller,
  create: () => Promise<{ payoutId: string | null }>,
): Attempt => {
  let payoutId = "";
  return {
    begin: async () => void (payoutId = (await create()).payoutId ?? ""),
    prove: async () => {
      const person = callers.personOf(caller);
      const otp = await callers.codeFor(caller, { payoutId }, person);
      await person.call(approvePayout, { params: { id: payoutId }, body: { otp } });
    },
  };
};

const payWallet = (caller: Caller, rest: Partial<BodyInput<typeof createWalletsPayout>> = {}) =>
  client(caller).call(createWalletsPayout, {
    body: {
      chainId: HERE,
      transfers: [{ address: someone(), amount: "2", token: "USDC" }],
      ...rest,
    },
  });

const payAccount = (caller: Caller, mode: "atomic" | "independent" = "independent") =>
  client(caller).call(createAccountsPayout, {
    body: {
      sourceAccountId: payer,
      transfers: [{ recipientAccountId: payee, amount: "2", currency: "USDC" }],
      mode,
      allowDuplicates: true,
    },
  });

/** A payout that an exempt key started, and that failed. */
const failedPayout = async (): Promise<string> => {
  const { payoutId } = await payAccount("exempt key", "atomic");
  await prisma.payout.update({
    where: { id: payoutId ?? "" },
    data: { status: "failed", subStatus: "full", itemsFailed: 1 },
  });
  return payoutId ?? "";
};

const sendOnce = (caller: Caller) => {
  const at = { fromWalletId: customer.treasuryId, fromChainId: HERE, toChainId: HERE };
  const body = { ...at, fromToken: "USDC", toToken: "USDC", amount: "2", recipient: someone() };
  return client(caller).call(swapAndTransfer, { body });
};

/**
 * An operation that an exempt key started, and whose only leg failed with the money in its wallet.
 */
const failedOperation = async (): Promise<string> => {
  const { operationId: id } = await sendOnce("exempt key");
  const failure = { code: "chain_unavailable", message: "It failed.", retryable: true };
  await prisma.operationLeg.updateMany({
    where: { operationId: id },
    data: { state: "failed", failure },
  });
  await prisma.operation.update({
    where: { id },
    data: { status: "failed", subStatus: "full", failure },
  });
  return id;
};

const runOf = (caller: Caller): Attempt => ({
  begin: async () => {
    if (!schedules.has(caller))
      return client(caller).call(createPayoutSchedule, { body: scheduleBody(caller) });
    const now = new Date(startsAt + day * DAY_MS + CALLERS.indexOf(caller) * SLOT_MS + 1000);
    const runs = createScheduleRuns({
      ...services,
      repository: createSchedulesRepository(services.database),
      clock: { now: () => now },
      log: { warn: () => undefined },
    });
    return runs.runDue();
  },
});

const scheduleBody = (caller: Caller) => ({
  chainId: HERE,
  transfers: [{ address: someone(), amount: "2", token: "USDC" }],
  startsAt: new Date(startsAt + CALLERS.indexOf(caller) * SLOT_MS).toISOString(),
  every: "day" as const,
});

const ways: Ways = {
  swap: (caller) =>
    executing(caller, async () => {
      const from = [{ address: customer.treasury, chainId: HERE, token: "USDC", amount: "2" }];
      const body = { from, toChainId: HERE, toToken: "USDC", toAddress: someone() };
      return { quoteId: (await client(caller).call(createQuote, { body })).quoteId };
    }),
  transfer: (caller) =>
    executing(caller, async () => {
      const at = {
        fromWalletId: customer.treasuryId,
        fromChainId: HERE,
        toChainId: HERE,
        token: "USDC",
      };
      const body = { ...at, amount: "2", toAddress: someone() };
      return { transferId: (await client(caller).call(createTransfer, { body })).transferId };
    }),
  swapAndTransfer: (caller) => operating(caller, () => sendOnce(caller)),
  operationRetry: async (caller) => {
    const params = { id: await failedOperation() };
    return executing(caller, async () => {
      const again = await client(caller).call(retryOperation, { params });
      if (!("quoteId" in again)) throw new Error("The retry is no quote.");
      return { quoteId: again.quoteId };
    });
  },
  accountsPayout: (caller) => paying(caller, () => payAccount(caller)),
  payoutRetry: async (caller) => {
    const id = await failedPayout();
    return paying(caller, () => client(caller).call(retryPayout, { params: { id } }));
  },
  walletsPayout: (caller) => paying(caller, () => payWallet(caller)),
  fundFrom: (caller) =>
    paying(caller, () => {
      const transfers = [{ address: someone(), amount: "50", token: "USDC" }];
      return payWallet(caller, {
        chainId: THERE,
        transfers,
        fundFrom: [{ chainId: HERE, token: "USDC" }],
      });
    }),
  withdrawal: (caller) => paying(caller, () => payWallet(caller, { sourceAccountId: payer })),
  scheduleRun: runOf,
  shield: (caller) =>
    operating(caller, () => {
      const body = { chainId: HERE, token: "USDC", amount: "20" };
      return client(caller).call(shield, { body });
    }),
};

beforeAll(async () => {
  customer = await newCustomer(api);
  const owner = customer.session;
  callers = await callersOf(api, { session: owner, email: customer.email });
  // Accepted money stays held.
  for (const amount of Array<string>(5).fill("9000"))
    await fund(owner.client, customer.treasury, { chainId: HERE, token: "USDC", amount });
  const open = async () =>
    (await owner.client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  [payer, payee] = [await open(), await open()];
  const funding = { params: { id: payer }, body: { currency: "USDC", amount: "1000" } };
  await vi.waitFor(() => owner.client.call(fundGlobalAccount, funding), WAIT);
  for (const caller of CALLERS.filter((each) => each !== "viewer")) {
    const { id: scheduleId } = await client(caller).call(createPayoutSchedule, {
      body: scheduleBody(caller),
    });
    const person = callers.personOf(caller);
    const otp = await callers.codeFor(caller, { scheduleId }, person);
    await person.call(approvePayoutSchedule, { params: { id: scheduleId }, body: { otp } });
    schedules.set(caller, scheduleId);
  }
}, 240_000);

test.each([null, ...GUARD_NAMES])(
  "under the guard %s every way ends as the table says, for every caller",
  async (guard) => {
    day += 1;
    await vi.waitFor(async () => {
      const [usdc] = await services.reserves.list(callers.projectId);
      if (usdc?.onChainBase === 0n)
        throw new Error("The screening rule of an earlier case still counts.");
    }, WAIT);
    // Only so many deposits may be under way at once, and none is carried out here.
    await asOwner(api.services.config.databaseUrl, "DELETE FROM privacy_slot");
    expect(await wrongEnds(api, callers, ways, guard)).toEqual([]);
  },
  300_000,
);
