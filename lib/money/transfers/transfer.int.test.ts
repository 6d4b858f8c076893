import { parseUnits, type Address } from "viem";
import { describe, expect, test, vi } from "vitest";
import { listEvents } from "@/lib/contracts/events";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import {
  cancelTransfer,
  createTransfer,
  getTransfer,
  listTransfers,
} from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  codesOf,
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";

const [ONE, TWO] = [31337, 31338];
const api = await testApi({ worker: true });
const { registry } = api.services;

type Customer = Awaited<ReturnType<typeof newCustomer>>;

const balance = (chainId: number, symbol: string, owner: Address): Promise<bigint> => {
  const { address } = registry.resolveToken(chainId, symbol);
  return balanceOnChain(registry.get(chainId).rpcUrls[0] ?? "", address, owner);
};

const bodyOf = (customer: Customer, over: object = {}) => ({
  fromWalletId: customer.treasuryId,
  toAddress: testAccount().address,
  fromChainId: ONE,
  toChainId: ONE,
  token: "USDC",
  amount: "12.5",
  ...over,
});

const send = (
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Response> =>
  api.fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const bearer = (customer: Customer) => ({
  authorization: `Bearer ${customer.session.accessToken}`,
});
const refusal = async (
  response: Promise<Response>,
): Promise<{ status: number; code: string; paths: string[] }> => {
  const answer = await response;
  const body = (await answer.json()) as { code: string; details?: { path: string }[] };
  return {
    status: answer.status,
    code: body.code,
    paths: (body.details ?? []).map(({ path }) => path),
  };
};

/** Waits for an event of that type, and returns the project's events. */
const eventsUntil = (client: Customer["session"]["client"], type: string) =>
  vi.waitFor(
    async () => {
      const { data } = await client.call(listEvents, { query: {} });
      expect(data.map((event) => event.type)).toContain(type);
      return data;
    },
    { timeout: 10_000, interval: 50 },
  );

describe("a transfer moves a token", () => {
  test.each([
    {
      what: "a token on one chain",
      token: "USDC",
      amount: "12.5",
      toChainId: ONE,
      exact: true,
    },
    {
      what: "the native coin on one chain",
      token: "native",
      amount: "0.25",
      toChainId: ONE,
      exact: true,
    },
    {
      what: "a token to another chain",
      token: "USDC",
      amount: "12.5",
      toChainId: TWO,
      exact: false,
    },
    {
      what: "the native coin to another chain",
      token: "native",
      amount: "0.25",
      toChainId: TWO,
      exact: false,
    },
  ])(
    "$what, through code, prepare and execute",
    async ({ token, amount, toChainId, exact }) => {
      const customer = await newCustomer(api);
      const { client } = customer.session;
      await fund(client, customer.treasury, { chainId: ONE, token, amount: "20" });
      const recipient = testAccount().address;
      const body = bodyOf(customer, { token, amount, toChainId, toAddress: recipient });
      const created = await prepareTransfer(api, customer, body);
      expect(created).toMatchObject({
        status: "pending",
        subStatus: "created",
        operationId: null,
        received: null,
      });
      expect(created.steps.map(({ kind }) => kind)).toContain(
        toChainId === ONE ? "transfer" : "bridge",
      );
      const prepared = await client.call(getTransfer, { params: { id: created.transferId } });
      expect(prepared).toMatchObject({ status: "pending", subStatus: "prepared" });
      const started = await client.call(executeSwap, {
        body: { transferId: created.transferId },
      });
      expect(started).toMatchObject({ status: "pending", transferId: created.transferId });
      const operation = await waitUntilFinal(client, started.operationId);
      expect(operation).toMatchObject({ kind: "transfer", status: "completed" });
      const done = await client.call(getTransfer, { params: { id: created.transferId } });
      const received = await balance(toChainId, token, recipient);
      expect(done).toMatchObject({
        status: "completed",
        operationId: started.operationId,
        expiresAt: null,
        failure: null,
      });
      expect(done.received?.amountBase).toBe(received.toString());
      expect(received).toBeGreaterThanOrEqual(BigInt(created.minimum.amountBase));
      const { decimals } = registry.resolveToken(ONE, token);
      if (exact) expect(received).toBe(parseUnits(amount, decimals));
      expect(await balance(ONE, token, customer.treasury)).toBe(
        parseUnits("20", decimals) - parseUnits(amount, decimals),
      );
      expect(done.outcome?.holds).toEqual([
        expect.objectContaining({ wallet: recipient, chainId: toChainId }),
      ]);
      const events = await eventsUntil(client, "transfer.completed");
      for (const [objectId, object] of [
        [started.operationId, "operation"],
        [created.transferId, "transfer"],
      ] as const) {
        const own = events.filter((event) => event.objectId === objectId);
        // Each sub-status while processing has an event.
        const approved = object === "transfer" ? ["approved"] : [];
        expect([...new Set(own.map(({ type }) => type))]).toEqual(
          ["created", ...approved, "processing", "completed"].map(
            (what) => `${object}.${what}`,
          ),
        );
        expect(own.map(({ objectSequence }) => objectSequence)).toEqual(
          own.map((_, index) => index + 1),
        );
      }
      expect(events.at(-1)?.data).toMatchObject({
        transferId: created.transferId,
        status: "completed",
      });
    },
  );

  test("once, when execute is called a hundred times at once", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    // Funded twice, so that a second execution would have enough money to succeed.
    await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "25" });
    const recipient = testAccount().address;
    const { transferId } = await prepareTransfer(
      api,
      customer,
      bodyOf(customer, { toAddress: recipient }),
    );
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => client.call(executeSwap, { body: { transferId } })),
    );
    const [operationId = "", ...others] = new Set(answers.map((answer) => answer.operationId));
    expect(others).toEqual([]);
    await waitUntilFinal(client, operationId);
    expect(await balance(ONE, "USDC", recipient)).toBe(parseUnits("12.5", 6));
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("12.5", 6));
  });
});

describe("a transfer is created", () => {
  test("answers 201 and the same again for the same Idempotency-Key", async () => {
    const customer = await newCustomer(api);
    const body = bodyOf(customer);
    const headers = { ...bearer(customer), "idempotency-key": "one" };
    const [first, again] = [
      await send("/transfers", headers, body),
      await send("/transfers", headers, body),
    ];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual(await first.json());
    const { data } = await customer.session.client.call(listTransfers, { query: {} });
    expect(data).toHaveLength(1);
  });

  test("names every field at fault by the name that the caller gave it", async () => {
    const customer = await newCustomer(api);
    const fault = (over: object) =>
      refusal(send("/transfers", bearer(customer), bodyOf(customer, over)));
    expect(await fault({ fromWalletId: "wal_1" })).toEqual({
      status: 400,
      code: "unknown_wallet",
      paths: ["fromWalletId"],
    });
    expect(await fault({ token: "NOPE" })).toMatchObject({
      status: 422,
      code: "unsupported_token",
    });
    expect(await fault({ fromChainId: 5 })).toMatchObject({
      code: "unsupported_chain",
      paths: ["fromChainId"],
    });
    expect(await fault({ toChainId: 5 })).toMatchObject({
      code: "unsupported_chain",
      paths: ["toChainId"],
    });
    expect(await fault({ amount: "1.0000001" })).toMatchObject({
      code: "amount_precision",
      paths: ["amount"],
    });
    expect(await fault({ amount: "0" })).toMatchObject({
      status: 400,
      code: "invalid_request",
      paths: ["amount"],
    });
    expect(await fault({ toAddress: customer.treasury })).toMatchObject({
      status: 400,
      paths: ["toAddress"],
    });
    expect(
      await fault({ toAddress: "0x0000000000000000000000000000000000000001" }),
    ).toMatchObject({
      status: 400,
      paths: ["toAddress"],
    });
    expect(await fault({ amount: "1.0000001", fromChainId: 5, toChainId: 6 })).toMatchObject({
      paths: ["fromChainId", "toChainId"],
    });
  });

  test("is for members: without credentials 401, and another project's wallet does not exist", async () => {
    const [customer, other] = [await newCustomer(api), await newCustomer(api)];
    expect((await send("/transfers", {}, bodyOf(customer))).status).toBe(401);
    expect(await refusal(send("/transfers", bearer(other), bodyOf(customer)))).toMatchObject({
      code: "unknown_wallet",
    });
  });

  test("a key sends only to the recipients on its list, also what somebody else prepared", async () => {
    const customer = await newCustomer(api);
    await fund(customer.session.client, customer.treasury, {
      chainId: ONE,
      token: "USDC",
      amount: "20",
    });
    const friend = testAccount().address;
    const key = await api.createKey(customer.session, { recipients: [friend] });
    const refused = { status: 403, code: "recipient_not_allowed" };
    await expect(
      key.client.call(createTransfer, { body: bodyOf(customer) }),
    ).rejects.toMatchObject(refused);
    const { transferId } = await prepareTransfer(api, customer, bodyOf(customer));
    await expect(key.client.call(prepareSwap, { body: { transferId } })).rejects.toMatchObject(
      refused,
    );
    await expect(key.client.call(executeSwap, { body: { transferId } })).rejects.toMatchObject(
      refused,
    );
    const allowed = await key.client.call(createTransfer, {
      body: bodyOf(customer, { toAddress: friend }),
    });
    expect(allowed.status).toBe("pending");
  });
});

test("a transfer that was not executed tells how far it is, and expires", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const { transferId } = await client.call(createTransfer, { body: bodyOf(customer) });
  const stateOf = async () => {
    const { status, subStatus } = await client.call(getTransfer, {
      params: { id: transferId },
    });
    return [status, subStatus];
  };
  expect(await stateOf()).toEqual(["pending", "created"]);
  await client.call(requestOtp, { body: { transferId } });
  expect(await stateOf()).toEqual(["pending", "awaiting_otp"]);
  await api.services.database.prisma.quote.update({
    where: { transferId },
    data: { expiresAt: new Date(0) },
  });
  expect(await stateOf()).toEqual(["expired", "created"]);
  await expect(
    client.call(prepareSwap, { body: { transferId, otp: "123456" } }),
  ).rejects.toMatchObject({
    status: 410,
    code: "quote_expired",
  });
});

test("a transfer that was not executed can be cancelled: then nothing lets it go any more", async () => {
  const [customer, other] = [await newCustomer(api), await newCustomer(api)];
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "12.5" });
  const { transferId } = await prepareTransfer(api, customer, bodyOf(customer));
  const params = { id: transferId };
  await expect(other.session.client.call(cancelTransfer, { params })).rejects.toMatchObject({
    status: 404,
  });
  const cancelled = { transferId, status: "cancelled", operationId: null };
  expect(await client.call(cancelTransfer, { params })).toMatchObject(cancelled);
  expect(await client.call(cancelTransfer, { params })).toMatchObject(cancelled);
  expect(await client.call(getTransfer, { params })).toMatchObject(cancelled);
  const refused = {
    status: 409,
    code: "invalid_state",
    message: expect.stringContaining("cancelled") as string,
  };
  for (const step of [requestOtp, prepareSwap, executeSwap])
    await expect(client.call(step, { body: { transferId } })).rejects.toMatchObject(refused);
});

test("a transfer that was not executed is either cancelled or executed, when both are asked for at once", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "50" });
  for (let round = 0; round < 4; round += 1) {
    const { transferId } = await prepareTransfer(api, customer, bodyOf(customer));
    const params = { id: transferId };
    const fiveTimes = <T>(ask: () => Promise<T>) =>
      Promise.allSettled(Array.from({ length: 5 }, ask));
    const asked = await Promise.all([
      fiveTimes(() => client.call(cancelTransfer, { params })),
      fiveTimes(() => client.call(executeSwap, { body: { transferId } })),
    ]);
    const [cancels, executions] = asked.map(
      (answers) => answers.filter(({ status }) => status === "fulfilled").length,
    );
    // Repeated executions are answered with the one operation.
    expect([cancels, executions]).toEqual(cancels === 0 ? [0, 5] : [5, 0]);
    const operationIds = asked[1].flatMap((answer) =>
      answer.status === "fulfilled" ? [answer.value.operationId] : [],
    );
    expect(new Set(operationIds).size).toBe(cancels === 0 ? 1 : 0);
    const { status, operationId } = await client.call(getTransfer, { params });
    expect(status === "cancelled").toBe(cancels === 5);
    expect(operationId === null).toBe(cancels === 5);
  }
});

test("a transfer that was not executed is warned about while the wallet does not hold the amount, and cannot be prepared", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const seen = await codesOf(api, customer);
  const transfer = await client.call(createTransfer, { body: bodyOf(customer) });
  expect(transfer.warnings.map(({ code }) => code)).toEqual([
    "first_payment",
    "insufficient_balance",
  ]);
  await client.call(requestOtp, { body: { transferId: transfer.transferId } });
  const otp = await api.readCode(customer.email, seen);
  await expect(
    client.call(prepareSwap, { body: { transferId: transfer.transferId, otp } }),
  ).rejects.toMatchObject({
    status: 422,
    code: "insufficient_balance",
  });
  // The code was right before, so it is not requested again.
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "12.5" });
  const prepared = await client.call(prepareSwap, {
    body: { transferId: transfer.transferId },
  });
  expect(prepared).toMatchObject({
    prepared: true,
    transferId: transfer.transferId,
    actions: [],
  });
  expect(prepared.warnings.map(({ code }) => code)).toEqual(["first_payment"]);
});

test("a transfer that was not executed needs its own code: that of another transfer is good for nothing", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "30" });
  const [one, two] = [
    await client.call(createTransfer, { body: bodyOf(customer) }),
    await client.call(createTransfer, { body: bodyOf(customer) }),
  ];
  const seen = await codesOf(api, customer);
  await client.call(requestOtp, { body: { transferId: one.transferId } });
  const otp = await api.readCode(customer.email, seen);
  const prepare = (transferId: string, code?: string) =>
    client.call(prepareSwap, {
      body: { transferId, ...(code === undefined ? {} : { otp: code }) },
    });
  await expect(prepare(two.transferId, otp)).rejects.toMatchObject({
    status: 409,
    code: "otp_required",
  });
  await expect(prepare(one.transferId)).rejects.toMatchObject({
    status: 409,
    code: "otp_required",
  });
  await expect(
    client.call(executeSwap, { body: { transferId: one.transferId } }),
  ).rejects.toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  expect(await prepare(one.transferId, otp)).toMatchObject({ prepared: true });
});

describe("transfers of another project", () => {
  test("do not exist, byte for byte as those that never did, on every step", async () => {
    const [customer, other] = [await newCustomer(api), await newCustomer(api)];
    const { transferId } = await customer.session.client.call(createTransfer, {
      body: bodyOf(customer),
    });
    const unknown = "tr_01980000-0000-7000-8000-000000000000";
    const answer = async (path: string, body?: unknown) => {
      const response = await send(path, bearer(other), body);
      return [response.status, (await response.text()).replace(/"requestId":"[^"]*"/, "")];
    };
    for (const id of ["tr_1", "tr_%00", unknown]) {
      expect(await answer(`/transfers/${id}`)).toEqual(
        await answer(`/transfers/${transferId}`),
      );
    }
    for (const path of ["/swap/request-otp", "/swap/prepare", "/swap/execute"]) {
      const otp = path === "/swap/prepare" ? { otp: "123456" } : {};
      const [theirs, nobodys] = [
        await answer(path, { transferId, ...otp }),
        await answer(path, { transferId: unknown, ...otp }),
      ];
      expect([path, theirs]).toEqual([path, nobodys]);
      expect(theirs[0]).toBe(404);
    }
    expect((await other.session.client.call(listTransfers, { query: {} })).data).toEqual([]);
  });
});

test("transfers are listed newest first, page by page, without a gap or a double", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const made: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    made.unshift((await client.call(createTransfer, { body: bodyOf(customer) })).transferId);
  }
  const read: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.call(listTransfers, {
      query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) },
    });
    read.push(...page.data.map(({ transferId }) => transferId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(read).toEqual(made);
  expect((await send("/transfers?limit=0", bearer(customer))).status).toBe(400);
  expect((await send("/transfers", {})).status).toBe(401);
});
