/** Withdrawals in a database that was restored: moves that it lost may have paid them. */
import { zeroHash, type Address } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { cancelPayout } from "@/lib/contracts/payouts";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { losePaid, whileMined } from "@/lib/dev/testing/payout-doubts";
import {
  heldBy,
  idOf,
  pay,
  PAYOUT_CHAIN,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";
import { newWithdrawer, postedOf, transitOf } from "@/lib/dev/testing/withdrawals";

const WAIT = { timeout: 10_000, interval: 50 };

let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

const withAccount = () => newWithdrawer(api, { treasury: "30", funded: "10" });

const { turnOff, turnOn } = {
  turnOff: async (): Promise<void> => {
    await api.services.signing.require();
    await api.services.database.pool.query(
      "UPDATE signing_state SET off_since = now(), off_reason = 'a test'",
    );
    await vi.waitFor(
      async () => expect((await api.services.signing.state()).isAllowed).toBe(false),
      WAIT,
    );
  },
  turnOn: async (): Promise<void> => {
    await api.services.database.pool.query(
      "UPDATE signing_state SET off_since = NULL, off_reason = NULL",
    );
    await vi.waitFor(
      async () => expect((await api.services.signing.state()).isAllowed).toBe(true),
      WAIT,
    );
  },
};

/** Accepts a lost move of the payout's treasury that paid the recipient. */
const acceptLost = async (
  payoutId: string,
  to: Address,
  amount: string,
): Promise<{ release: () => Promise<void> }> => {
  const { database, registry, signing } = api.services;
  const { projectId } = await database.prisma.payout.findUniqueOrThrow({
    where: { id: payoutId },
  });
  const token =
    registry.tokens(PAYOUT_CHAIN).find(({ symbol }) => symbol === "USDC")?.address ?? "";
  const own = {
    chainId: PAYOUT_CHAIN,
    hash: `${zeroHash}${payoutId}`,
    txHash: zeroHash,
    blockNumber: 1n,
  };
  await database.prisma.unknownMove.create({
    data: {
      ...{ ...own, projectId, payments: [{ to, token, symbol: "USDC", amount }] },
      payload: to.slice(2).toLowerCase(),
      ...{ acceptedAt: new Date(), acceptedBy: "operator:test", reason: "a test" },
    },
  });
  await vi.waitFor(
    async () => expect(await signing.state()).toMatchObject({ hasLostMoves: true }),
    WAIT,
  );
  const where = { chainId_hash: { chainId: own.chainId, hash: own.hash } };
  return {
    release: async () => {
      await database.prisma.unknownMove.update({ where, data: { releasedAt: new Date() } });
    },
  };
};

/**
 * Makes the second row one that the batch's operation has not paid, in the transaction that stores
 * the operation as mined: before anything reads the rows to settle them.
 */
const leaveOutOnceMined = async (payoutId: string, recipient: Address): Promise<void> => {
  const url = api.services.config.databaseUrl;
  await asOwner(
    url,
    `
    CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE wallet_payout_item SET recipient = '${recipient}' WHERE payout_id = '${payoutId}' AND index = 1;
      RETURN NULL;
    END $$`,
  );
  await asOwner(
    url,
    `
    CREATE TRIGGER leave_out AFTER UPDATE OF state ON wallet_payout_batch FOR EACH ROW
    WHEN (NEW.state = 'mined' AND NEW.payout_id = '${payoutId}') EXECUTE FUNCTION leave_out()`,
  );
};

const cancel = (client: ApiClient, id: string) => client.call(cancelPayout, { params: { id } });
const byChain = (client: ApiClient, id: string, batch = 0) =>
  client.call(decidePayoutDoubt, { params: { id }, body: { batch, decision: "by_chain" } });

const expectBooksToBalance = async (): Promise<void> => {
  expect((await verifyLedger(api.services.database.pool)).violations).toEqual([]);
};

test("a withdrawal that was accepted before the backup is not cancelled before the chains were compared, nor where a lost move paid it", async () => {
  const { key, person, account } = await withAccount();
  const recipient = someone();
  const id = idOf(
    await pay(key, [row(recipient, "4"), row(someone(), "2")], { sourceAccountId: account }),
  );
  await turnOff();
  expect(await refusal(cancel(key, id))).toMatchObject({ status: 503, code: "signing_off" });
  await turnOn();
  const { release } = await acceptLost(id, recipient, "4");
  expect(await refusal(cancel(key, id))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("Before the database was restored") as string,
  });
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["4", "6"]);
  expect(await heldBy(api, id)).toEqual(["0:6000000"]);
  await release();
  expect(await cancel(key, id)).toMatchObject({
    status: "cancelled",
    account: { returned: "6", inTransit: "0" },
  });
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["10", "0"]);
  await expectBooksToBalance();
});

test("a row that the batch's own operation left out, and a lost move paid, is not returned to the account by the chain", async () => {
  const { key, person, account } = await withAccount();
  const id = idOf(
    await pay(key, [row(someone(), "4"), row(someone(), "2")], { sourceAccountId: account }),
  );
  await losePaid(api.services, id);
  const leftOut = someone();
  await api.services.database.prisma.walletPayoutItem.updateMany({
    where: { payoutId: id, index: 1 },
    data: { recipient: leftOut },
  });
  const { release } = await acceptLost(id, leftOut, "2");
  expect(await refusal(byChain(person, id))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("A move that the database lost in a restore") as string,
  });
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["4", "6"]);
  await turnOff();
  expect(await refusal(byChain(person, id))).toMatchObject({
    status: 503,
    code: "signing_off",
  });
  await turnOn();
  await release();
  expect(await byChain(person, id)).toMatchObject({
    account: { paid: "4", returned: "2", inTransit: "0" },
  });
  await expectBooksToBalance();
});

test("a row that an executed operation did not pay, and a lost move did, is in doubt; the others are paid", async () => {
  const { key, person, account } = await withAccount();
  const id = idOf(
    await pay(key, [row(someone(), "4"), row(someone(), "2")], { sourceAccountId: account }),
  );
  const leftOut = someone();
  await acceptLost(id, leftOut, "2");
  await leaveOutOnceMined(id, leftOut);
  await whileMined(api.services, id, () => Promise.resolve());
  expect(await read(person, id)).toMatchObject({
    status: "partially_completed",
    items: { paid: 1, failed: 1 },
    account: { paid: "4", returned: "0", inTransit: "2" },
    doubts: [{ batch: 1, rows: 1, amount: "2" }],
    may: { retry: false },
  });
  expect([await postedOf(person, account), await transitOf(person)]).toEqual(["4", "2"]);
  expect(await refusal(byChain(person, id, 1))).toMatchObject({
    code: "invalid_state",
    message: expect.stringContaining("shows no transaction of this part") as string,
  });
  await expectBooksToBalance();
});
