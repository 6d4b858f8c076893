import { parseUnits, type Address } from "viem";
import { describe, expect, test } from "vitest";
import { approveOperation, cancelOperation, getOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  codesOf,
  fund,
  newCustomer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { keepOneDay } from "@/lib/dev/testing/one-day";

const [ONE, TWO] = [31337, 31338];
const api = await testApi({ worker: true });
const { registry, database } = api.services;
keepOneDay(api.services.clock);

const balance = (chainId: number, symbol: string, owner: Address): Promise<bigint> =>
  balanceOnChain(
    registry.get(chainId).rpcUrls[0] ?? "",
    registry.resolveToken(chainId, symbol).address,
    owner,
  );

const fundedCustomer = async (amount = "100"): Promise<Customer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: ONE,
    token: "USDC",
    amount,
  });
  return customer;
};
const exemptKey = (customer: Customer, dailyCapUsd: string): Promise<TestApiKey> =>
  api.createKey(customer.session, { otp: "exempt", dailyCapUsd });

const bodyOf = (customer: Customer, over: object = {}) => ({
  fromWalletId: customer.treasuryId,
  fromChainId: ONE,
  toChainId: TWO,
  fromToken: "USDC",
  toToken: "WETH",
  amount: "20",
  recipient: testAccount().address,
  ...over,
});

const sendCode = async (customer: Customer, operationId: string): Promise<string> => {
  const seen = await codesOf(api, customer);
  await customer.session.client.call(requestOtp, { body: { operationId } });
  return api.readCode(customer.email, seen);
};

const approve = (customer: Customer, id: string, otp: string) =>
  customer.session.client.call(approveOperation, { params: { id }, body: { otp } });

const wrongCode = (code: string): string => (code === "000000" ? "000001" : "000000");

describe("within the cap of an exempt key", () => {
  test("one call moves the money, and what it was worth is noted", async () => {
    const customer = await fundedCustomer();
    const key = await exemptKey(customer, "50");
    const recipient = testAccount().address;
    const started = await key.client.call(swapAndTransfer, {
      body: bodyOf(customer, { recipient }),
    });
    expect(started).toMatchObject({
      status: "pending",
      subStatus: "prepared",
      expiresAt: null,
    });
    const operation = await waitUntilFinal(key.client, started.operationId);
    expect(operation).toMatchObject({
      kind: "swap_and_transfer",
      status: "completed",
      createdBy: key.id,
    });
    const received = await balance(TWO, "WETH", recipient);
    expect(received).toBeGreaterThanOrEqual(parseUnits(started.minimum, 18));
    const [spend] = await database.prisma.policySpend.findMany({ where: { apiKeyId: key.id } });
    expect(spend?.spentUsd.toFixed()).toBe("20");
  });

  test("of several at once only so many run as the cap allows; the others wait", async () => {
    const customer = await fundedCustomer();
    const key = await exemptKey(customer, "50");
    const started = await Promise.all(
      Array.from({ length: 4 }, () =>
        key.client.call(swapAndTransfer, { body: bodyOf(customer, { toChainId: ONE }) }),
      ),
    );
    const subStatuses = started.map(({ subStatus }) => subStatus).sort();
    expect(subStatuses).toEqual([
      "awaiting_approval",
      "awaiting_approval",
      "prepared",
      "prepared",
    ]);
    const spent = await database.prisma.policySpend.findFirstOrThrow({
      where: { apiKeyId: key.id },
    });
    expect(spent.spentUsd.toFixed()).toBe("40");
    for (const { operationId, subStatus } of started)
      if (subStatus === "prepared") await waitUntilFinal(key.client, operationId);
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("60", 6));
  });

  test("a transfer needs no code; above the cap prepare asks for one, and so does execute when the cap was passed meanwhile", async () => {
    const customer = await fundedCustomer();
    const key = await exemptKey(customer, "50");
    const body = (amount: string) => {
      const { fromWalletId, recipient } = bodyOf(customer);
      return {
        fromWalletId,
        toAddress: recipient,
        fromChainId: ONE,
        toChainId: ONE,
        token: "USDC",
        amount,
      };
    };
    const make = async (amount: string): Promise<string> =>
      (await key.client.call(createTransfer, { body: body(amount) })).transferId;
    const [one, two, three] = [await make("30"), await make("30"), await make("50.01")];
    for (const transferId of [one, two])
      await key.client.call(prepareSwap, { body: { transferId } });
    const refused = { status: 409, code: "otp_required" };
    await expect(
      key.client.call(prepareSwap, { body: { transferId: three } }),
    ).rejects.toMatchObject(refused);
    // A person's operation always needs an approval, even if a key prepared it.
    const person = customer.session.client;
    await expect(person.call(executeSwap, { body: { transferId: one } })).rejects.toMatchObject(
      refused,
    );
    const { operationId } = await key.client.call(executeSwap, { body: { transferId: one } });
    await expect(
      key.client.call(executeSwap, { body: { transferId: two } }),
    ).rejects.toMatchObject(refused);
    await waitUntilFinal(key.client, operationId);
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("70", 6));
    const operations = await database.prisma.operation.count({ where: { createdBy: key.id } });
    expect(operations).toBe(1);
  });
});

test("without a policy that allows it it waits, holds nothing, and runs once its code is given", async () => {
  const customer = await fundedCustomer();
  const key = await api.createKey(customer.session);
  const recipient = testAccount().address;
  const waiting = await key.client.call(swapAndTransfer, {
    body: bodyOf(customer, { recipient }),
  });
  expect(waiting).toMatchObject({ status: "pending", subStatus: "awaiting_approval" });
  const before = await key.client.call(getOperation, { params: { id: waiting.operationId } });
  expect(before).toMatchObject({
    legs: [],
    may: { approve: true, cancel: true, retry: false },
  });
  expect(before.quoted.to.minAmount).toBe(waiting.minimum);
  expect(Date.parse(before.expiresAt ?? "") - Date.parse(before.createdAt)).toBe(
    24 * 3600 * 1000,
  );
  expect(
    await database.prisma.balanceHold.count({ where: { operationId: waiting.operationId } }),
  ).toBe(0);
  const code = await sendCode(customer, waiting.operationId);
  await expect(approve(customer, waiting.operationId, wrongCode(code))).rejects.toMatchObject({
    status: 422,
    code: "otp_invalid",
  });
  const approved = await approve(customer, waiting.operationId, code);
  // A worker may have started it before this test read it again.
  expect(approved).toMatchObject({ expiresAt: null, may: { approve: false } });
  expect(approved.subStatus).not.toBe("awaiting_approval");
  await expect(approve(customer, waiting.operationId, code)).rejects.toMatchObject({
    code: "invalid_state",
  });
  const operation = await waitUntilFinal(key.client, waiting.operationId);
  expect(operation.status).toBe("completed");
  expect(await balance(TWO, "WETH", recipient)).toBeGreaterThanOrEqual(
    parseUnits(waiting.minimum, 18),
  );
});

test("without a policy that allows it approved twice at once it starts once", async () => {
  const customer = await fundedCustomer();
  const body = bodyOf(customer, { toChainId: ONE, toToken: "USDC" });
  const { operationId } = await customer.session.client.call(swapAndTransfer, { body });
  const code = await sendCode(customer, operationId);
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => approve(customer, operationId, code)),
  );
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await waitUntilFinal(customer.session.client, operationId);
  expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("80", 6));
  expect(await database.prisma.operationLeg.count({ where: { operationId } })).toBe(1);
});

test("without a policy that allows it approved and cancelled at once, one of them wins", async () => {
  const customer = await fundedCustomer();
  const { client } = customer.session;
  for (let round = 0; round < 3; round += 1) {
    const body = bodyOf(customer, { toChainId: ONE, toToken: "USDC", amount: "10" });
    const { operationId } = await client.call(swapAndTransfer, { body });
    const code = await sendCode(customer, operationId);
    const before = await balance(ONE, "USDC", customer.treasury);
    const [approved, cancelled] = await Promise.allSettled([
      approve(customer, operationId, code),
      client.call(cancelOperation, { params: { id: operationId } }),
    ]);
    const operation = await waitUntilFinal(client, operationId);
    // An approved operation that has not begun may still be cancelled; a cancelled one never runs.
    expect(operation.status).toBe(cancelled.status === "fulfilled" ? "cancelled" : "completed");
    expect([approved.status, cancelled.status]).toContain("fulfilled");
    const spent = cancelled.status === "fulfilled" ? 0n : parseUnits("10", 6);
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(before - spent);
    const held = await database.prisma.balanceHold.count({
      where: { operationId, releasedAt: null },
    });
    expect(held).toBe(0);
  }
});

test("without a policy that allows it a code that has expired, or that was never asked for, lets nothing run", async () => {
  const customer = await fundedCustomer();
  const { operationId } = await customer.session.client.call(swapAndTransfer, {
    body: bodyOf(customer),
  });
  await expect(approve(customer, operationId, "123456")).rejects.toMatchObject({
    code: "otp_required",
  });
  const code = await sendCode(customer, operationId);
  await database.prisma.otp.updateMany({
    where: { subjectId: operationId },
    data: { expiresAt: new Date(0) },
  });
  await expect(approve(customer, operationId, code)).rejects.toMatchObject({
    status: 410,
    code: "otp_expired",
  });
});

test("without a policy that allows it unapproved for its time it expires, with an event, and can be approved no more", async () => {
  const customer = await fundedCustomer();
  const { client } = customer.session;
  const { operationId } = await client.call(swapAndTransfer, { body: bodyOf(customer) });
  const code = await sendCode(customer, operationId);
  await database.prisma.operation.update({
    where: { id: operationId },
    data: { expiresAt: new Date(0) },
  });
  await expect(approve(customer, operationId, code)).rejects.toMatchObject({
    status: 410,
    code: "quote_expired",
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({
    status: "expired",
    may: { approve: false, cancel: false, retry: false },
  });
  const events = await database.prisma.operationEvent.findMany({
    where: { operationId },
    orderBy: { seq: "asc" },
  });
  expect(events.map(({ type }) => type)).toEqual(["operation.created", "operation.expired"]);
  await expect(client.call(requestOtp, { body: { operationId } })).rejects.toMatchObject({
    code: "quote_expired",
  });
});

test("without a policy that allows it cancelled it stays cancelled", async () => {
  const customer = await fundedCustomer();
  const { client } = customer.session;
  const { operationId } = await client.call(swapAndTransfer, { body: bodyOf(customer) });
  const code = await sendCode(customer, operationId);
  const cancelled = await client.call(cancelOperation, { params: { id: operationId } });
  expect(cancelled).toMatchObject({
    status: "cancelled",
    may: { approve: false, cancel: false, retry: false },
  });
  await expect(approve(customer, operationId, code)).rejects.toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  expect(await client.call(cancelOperation, { params: { id: operationId } })).toEqual(
    cancelled,
  );
});

describe("what is refused", () => {
  test("is named by the fields of this call", async () => {
    const customer = await fundedCustomer("5");
    const { client } = customer.session;
    const fault = (over: object) =>
      client
        .call(swapAndTransfer, { body: bodyOf(customer, over) })
        .catch((error: unknown) => error);
    const at = (...paths: string[]) =>
      paths.map((path) => expect.objectContaining({ path }) as object);
    expect(await fault({ fromWalletId: "wal_1" })).toMatchObject({
      code: "unknown_wallet",
      details: at("fromWalletId"),
    });
    expect(
      await fault({
        fromToken: "NOPE",
        recipient: "0x0000000000000000000000000000000000000001",
      }),
    ).toMatchObject({
      status: 422,
      details: at("fromToken", "recipient"),
    });
    expect(await fault({ amount: "1.0000001" })).toMatchObject({
      code: "amount_precision",
      details: at("amount"),
    });
    expect(await fault({})).toMatchObject({ status: 422, code: "insufficient_balance" });
    expect(
      await database.prisma.operation.count({
        where: { createdBy: customer.session.account.address },
      }),
    ).toBe(0);
  });

  test("a wallet that signs for itself, other recipients of a key, and callers without a name", async () => {
    const customer = await fundedCustomer();
    const { projectId } = await database.prisma.wallet.findUniqueOrThrow({
      where: { id: customer.treasuryId },
    });
    const own = testAccount().address;
    const wallet = {
      id: `wal_${own}`,
      projectId,
      kind: "linked",
      address: own,
      createdAt: new Date(),
    };
    await database.prisma.wallet.create({ data: wallet });
    const { client } = customer.session;
    const body = bodyOf(customer, { fromWalletId: wallet.id });
    await expect(client.call(swapAndTransfer, { body })).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
      details: [expect.objectContaining({ path: "fromWalletId" })],
    });
    const key = await api.createKey(customer.session, { recipients: [testAccount().address] });
    await expect(
      key.client.call(swapAndTransfer, { body: bodyOf(customer) }),
    ).rejects.toMatchObject({
      status: 403,
      code: "recipient_not_allowed",
    });
    const anybody = await api.fetch("/swap-and-transfer", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyOf(customer)),
    });
    expect(anybody.status).toBe(401);
  });

  test("operations of another project do not exist, and a key may not approve", async () => {
    const [customer, other] = [await fundedCustomer(), await newCustomer(api)];
    const { operationId } = await customer.session.client.call(swapAndTransfer, {
      body: bodyOf(customer),
    });
    const { client } = other.session;
    const missing = { status: 404, code: "not_found" };
    await expect(client.call(requestOtp, { body: { operationId } })).rejects.toMatchObject(
      missing,
    );
    await expect(
      client.call(cancelOperation, { params: { id: operationId } }),
    ).rejects.toMatchObject(missing);
    await expect(approve(other, operationId, "123456")).rejects.toMatchObject(missing);
    const key = await api.createKey(customer.session);
    const byKey = key.client.call(approveOperation, {
      params: { id: operationId },
      body: { otp: "123456" },
    });
    await expect(byKey).rejects.toMatchObject({ status: 403 });
  });
});

test("the same Idempotency-Key starts one operation", async () => {
  const customer = await fundedCustomer();
  const init = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${customer.session.accessToken}`,
      "idempotency-key": "start",
    },
    body: JSON.stringify(bodyOf(customer)),
  };
  const [first, again] = [
    await api.fetch("/swap-and-transfer", init),
    await api.fetch("/swap-and-transfer", init),
  ];
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(await again.json()).toEqual(await first.json());
});

describe("one Idempotency-Key starts one operation, also when the HTTP layer has forgotten it:", () => {
  const callAs = (customer: Customer, key: string) =>
    api.client({
      authorization: `Bearer ${customer.session.accessToken}`,
      "idempotency-key": key,
    });

  test("called again it answers with the operation as it stands, and another request is refused", async () => {
    const customer = await fundedCustomer();
    const key = crypto.randomUUID();
    const body = bodyOf(customer);
    const first = await callAs(customer, key).call(swapAndTransfer, { body });
    await database.prisma.idempotencyKey.deleteMany({});
    await customer.session.client.call(cancelOperation, { params: { id: first.operationId } });
    const again = await callAs(customer, key).call(swapAndTransfer, { body });
    expect(again).toMatchObject({
      operationId: first.operationId,
      status: "cancelled",
      minimum: first.minimum,
    });
    await database.prisma.idempotencyKey.deleteMany({});
    const other = callAs(customer, key).call(swapAndTransfer, {
      body: { ...body, amount: "21" },
    });
    await expect(other).rejects.toMatchObject({ status: 422, code: "idempotency_mismatch" });
    expect(
      await database.prisma.quote.count({ where: { operationId: first.operationId } }),
    ).toBe(1);
  });

  test("20 at once within the policy pay once", async () => {
    const customer = await fundedCustomer();
    const { id: keyId } = await exemptKey(customer, "1000");
    const { projectId } = await database.prisma.wallet.findUniqueOrThrow({
      where: { id: customer.treasuryId },
    });
    const actor = {
      type: "apiKey" as const,
      keyId,
      projectId,
      createdBy: "",
      scopes: [],
      policy: { otp: "exempt" as const, dailyCapUsd: "1000", recipients: [] },
    };
    const body = swapAndTransfer.body.parse(
      bodyOf(customer, { toChainId: ONE, toToken: "USDC" }),
    );
    const started = await Promise.all(
      Array.from({ length: 20 }, () => api.services.swaps.swapAndTransfer(actor, body, "once")),
    );
    expect(new Set(started.map(({ operationId }) => operationId)).size).toBe(1);
    expect(await database.prisma.operation.count({ where: { projectId } })).toBe(1);
    await waitUntilFinal(customer.session.client, started[0]?.operationId ?? "");
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("80", 6));
  });

  test("a transfer is made once as well", async () => {
    const customer = await fundedCustomer();
    const { fromWalletId, recipient } = bodyOf(customer);
    const body = {
      fromWalletId,
      toAddress: recipient,
      fromChainId: ONE,
      toChainId: ONE,
      token: "USDC",
      amount: "1",
    };
    const first = await callAs(customer, "transfer").call(createTransfer, { body });
    await database.prisma.idempotencyKey.deleteMany({});
    const again = await callAs(customer, "transfer").call(createTransfer, { body });
    expect(again.transferId).toBe(first.transferId);
  });
});
