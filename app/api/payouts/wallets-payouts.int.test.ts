import { getAddress, type Address } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createContact } from "@/lib/contracts/contacts";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import {
  approvePayout,
  cancelPayout,
  createAccountsPayout,
  createWalletsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
  retryPayout,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import { REPLACED } from "@/lib/modules/payouts/wallets/batches/failures";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApi } from "@/lib/testing/api";
import { testDevnet } from "@/lib/testing/devnet";
import { testAccount } from "@/lib/testing/factories";
import { balanceOnChain, codesOf, fund, newCustomer, type Customer } from "@/lib/testing/journey";
import { eventsOf, eventTypesOf } from "@/lib/testing/project-events";
import { nobody } from "@/lib/testing/wallet-payouts";

const CHAIN = 31337;
const OTHER_CHAIN = 31338;
const devnet = await testDevnet();
// No worker carries payouts on, so that what is accepted stays as it was accepted; one test starts a worker of its own.
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

type Body = BodyInput<typeof createWalletsPayout>;
type Row = Body["transfers"][number];
type Record_ = ResponseOf<typeof createWalletsPayout>;

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { path: string; message: string; code?: string }[];
}
const refusal = (work: Promise<unknown>): Promise<Refusal> =>
  work.then(
    () => ({ status: 200, code: "ok", message: "" }),
    (error: unknown) => error as Refusal,
  );

/** A customer whose treasury has `amount` USDC, and a key that needs no code. */
const payer = async (amount: string, dailyCapUsd = "1000000") => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, { chainId: CHAIN, token: "USDC", amount });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd });
  return { customer, key: key.client, person: customer.session.client };
};

const someone = (): Address => testAccount().address;
const row = (address: string, amount = "1", rest: Partial<Row> = {}): Row => ({
  address,
  amount,
  token: "USDC",
  ...rest,
});

const pay = (client: ApiClient, transfers: readonly Row[], rest: Partial<Body> = {}) =>
  client.call(createWalletsPayout, { body: { chainId: CHAIN, transfers: [...transfers], ...rest } });

const idOf = ({ payoutId }: Record_): string => payoutId ?? "";
const read = (client: ApiClient, id: string) => client.call(getPayout, { params: { id } });
const itemsOf = async (client: ApiClient, id: string, status?: "cancelled" | "paid" | "failed" | "queued") =>
  (await client.call(listPayoutItems, { params: { id }, query: { limit: 100, ...(status ? { status } : {}) } })).data;

const held = async (payoutId: string): Promise<string[]> => {
  const where = { operationId: payoutId, releasedAt: null };
  const holds = await api.services.database.prisma.balanceHold.findMany({ where, orderBy: { id: "asc" } });
  return holds.map(({ id, amountBase }) => `${id.split("/")[1] ?? ""}:${amountBase.toFixed()}`);
};

const reported = (payoutId: string): Promise<string[]> => eventTypesOf(api.services.database, payoutId);

const reservedWei = async (): Promise<string> => {
  const { _sum } = await api.services.database.prisma.sponsorUsage.aggregate({ _sum: { reservedWei: true } });
  return _sum.reservedWei?.toFixed() ?? "0";
};

const approve = async (customer: Customer, id: string) => {
  const seen = await codesOf(api, customer);
  await customer.session.client.call(requestOtp, { body: { payoutId: id } });
  const otp = await api.readCode(customer.email, seen);
  return customer.session.client.call(approvePayout, { params: { id }, body: { otp } });
};

const setCode = async (chainId: number, address: Address, code: string): Promise<void> => {
  const url = devnet.chains.find(({ id }) => id === chainId)?.rpcUrls[0] ?? "";
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setCode", params: [address, code] }),
  });
};

/** Code at an address of one chain alone: it takes no coins. */
const newContractOn = async (chainId: number): Promise<Address> => {
  const address = someone();
  await setCode(chainId, address, "0x5f5ffd");
  return address;
};

describe("a payout to wallets", () => {
  test("is accepted as pending, with its rows, batches and the money that it holds", async () => {
    const { key, customer } = await payer("100");
    const [a, b] = [someone(), someone()];
    const rows = [row(a, "10", { reference: " INV-1 ", note: "Rent" }), row(b.toLowerCase(), "20.5")];
    const made = await pay(key, rows, { reference: "March" });
    expect(made).toMatchObject({
      kind: "wallets",
      status: "pending",
      subStatus: "queued",
      chainId: CHAIN,
      fromWalletId: customer.treasuryId,
      fromAddress: customer.treasury,
      reference: "March",
      items: { total: 2, queued: 2, paid: 0 },
      batches: { total: 1, settled: 0 },
      networkFee: { paidBy: "sponsor", estimated: true },
      warnings: [],
      may: { approve: false, cancel: true, retry: false },
    });
    expect(Number(made.networkFee?.amount)).toBeGreaterThan(0);
    expect(made.totals).toMatchObject([{ token: { symbol: "USDC" }, amount: "30.5", paid: "0", rows: 2 }]);
    expect(await read(key, idOf(made))).toMatchObject({ payoutId: made.payoutId, kind: "wallets" });
    expect((await key.call(listPayouts, { query: { kind: "wallets" } })).data).toHaveLength(1);
    expect((await key.call(listPayouts, { query: { kind: "global_accounts" } })).data).toEqual([]);
    expect(await itemsOf(key, idOf(made))).toMatchObject([
      { kind: "wallets", index: 0, address: a, amount: "10", status: "queued", reference: "INV-1", note: "Rent" },
      { kind: "wallets", index: 1, address: getAddress(b), amount: "20.5", status: "queued", batch: 0 },
    ]);
    expect(await held(idOf(made))).toEqual(["0:30500000"]);
    // What is held cannot be paid a second time.
    expect(await refusal(pay(key, [row(someone(), "70")]))).toMatchObject({
      status: 422,
      code: "insufficient_balance",
    });
  });

  test("keeps each token in batches of its own, and totals in the order of their first rows", async () => {
    const { key, person, customer } = await payer("10");
    for (const token of ["native", "DAI"])
      await fund(person, customer.treasury, { chainId: CHAIN, token, amount: "5" });
    const rows = ["DAI", "native", "DAI", "USDC"].map((token) => row(someone(), "1", { token }));
    const made = await pay(key, rows);
    expect(made.totals.map(({ token, rows: count }) => [token.symbol, count])).toEqual([
      ["DAI", 2],
      ["ETH", 1],
      ["USDC", 1],
    ]);
    expect((await itemsOf(key, idOf(made))).map((item) => (item.kind === "wallets" ? item.batch : -1))).toEqual([
      0, 1, 0, 2,
    ]);
    expect(await held(idOf(made))).toEqual(["0:2000000000000000000", "1:1000000000000000000", "2:1000000"]);
  });

  test("validated only stores nothing, holds nothing, and says what it would cost", async () => {
    const { key } = await payer("10");
    const before = await reservedWei();
    const made = await pay(key, [row(someone(), "4")], { validateOnly: true });
    expect(made).toMatchObject({ payoutId: null, items: { total: 1, queued: 1 }, batches: { total: 1, settled: 0 } });
    expect((await key.call(listPayouts)).data).toEqual([]);
    expect(await reservedWei()).toBe(before);
    expect(await refusal(pay(key, [row(someone(), "11")], { validateOnly: true }))).toMatchObject({
      code: "insufficient_balance",
      details: [{ path: "transfers", message: expect.stringContaining("1 USDC are missing") as string }],
    });
  });
});

describe("bad rows", () => {
  const BAD_CHECKSUM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD";

  test("are all named at once, by index and field, in words, and nothing is paid", async () => {
    const { key, customer } = await payer("10");
    const usdc = api.services.registry.resolveToken(CHAIN, "USDC").address;
    const { entryPoint, paymaster = "", distributor = "" } = api.services.registry.get(CHAIN).contracts;
    const good = someone();
    const rows: [Row, string, RegExp][] = [
      [row("0x1234"), "address", /0x address of 20 bytes/],
      [row("vitalik.eth"), "address", /0x address of 20 bytes/],
      [row(BAD_CHECKSUM), "address", /checksum/],
      [row(`0x${"0".repeat(40)}`), "address", /zero address/],
      [row(`0x${"0".repeat(39)}9`), "address", /zero address/],
      [row(usdc), "address", /contract of the token USDC/],
      [row(usdc, "1", { token: "native" }), "address", /contract of the token USDC/],
      [row(entryPoint), "address", /money is moved through/],
      [row(paymaster), "address", /money is moved through/],
      [row(distributor), "address", /money is moved through/],
      [row("0x41675C099F32341bf84BFc5382aF534df5C7461a"), "address", /money is moved through/],
      [row(customer.treasury), "address", /the treasury that pays/],
      ...["0", "0.0", "-1", "+1", "1e3", "1,5", " 1", "1.", ".5", "0x10", "NaN", "Infinity", "٣", "=1+1", ""].map(
        (amount): [Row, string, RegExp] => [row(good, amount), "amount", /decimal string|above zero/],
      ),
      [row(good, "1.0000001"), "amount", /7 fraction digits; the token has 6/],
      [row(good, `1${"0".repeat(40)}`), "amount", /decimal string/],
      [row(good, "1", { token: "DOGE" }), "token", /DOGE is not in the token list/],
      [row(good, "1", { reference: "a\tb" }), "reference", /control character/],
      [row(good, "1", { reference: "a\u202eb" }), "reference", /control character/],
      [row(good, "1", { reference: "x".repeat(141) }), "reference", /141 characters; 140/],
      [row(good, "1", { note: "x".repeat(501) }), "note", /501 characters; 500/],
      [row(good, "1", { note: "two\nlines" }), "note", /line break/],
    ];
    const refused = await refusal(pay(key, [...rows.map(([bad]) => bad), row(good)]));
    expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
    expect(refused.message).toContain(`${String(rows.length)} of ${String(rows.length + 1)} rows`);
    expect(refused.details?.map(({ path }) => path)).toEqual(
      rows.map(([, field], index) => `transfers.${String(index)}.${field}`),
    );
    rows.forEach(([, , words], index) => expect(refused.details?.[index]?.message).toMatch(words));
    expect((await key.call(listPayouts)).data).toEqual([]);
  });

  test("with several fields at fault have each of them named; one kind of fault alone has its own code", async () => {
    const { key } = await payer("10");
    const both = await refusal(pay(key, [row("0x12", "abc", { token: "DOGE" })]));
    expect(both.details?.map(({ path }) => path)).toEqual([
      "transfers.0.address",
      "transfers.0.token",
      "transfers.0.amount",
    ]);
    const precise = await refusal(pay(key, [row(someone()), row(someone(), "0.1234567")]));
    expect(precise).toMatchObject({ status: 422, code: "amount_precision", details: [{ path: "transfers.1.amount" }] });
    expect(await refusal(pay(key, [row(someone(), "1", { token: "DOGE" })]))).toMatchObject({
      status: 422,
      code: "unsupported_token",
    });
  });

  test("lists that are empty or too long, unknown chains and texts that cannot be stored are refused", async () => {
    const { key } = await payer("10");
    expect(await refusal(pay(key, []))).toMatchObject({ status: 400, code: "invalid_request" });
    const many = Array.from({ length: 10_001 }, () => row(BAD_CHECKSUM));
    expect(await refusal(pay(key, many))).toMatchObject({ status: 422, code: "batch_too_large" });
    expect(await refusal(pay(key, [row(someone())], { chainId: 5 }))).toMatchObject({
      status: 422,
      code: "unsupported_chain",
      details: [{ path: "chainId" }],
    });
    const nul = await refusal(pay(key, [row(someone(), "1", { note: "a\0b" })]));
    expect(nul).toMatchObject({ status: 400, code: "invalid_request", details: [{ path: "transfers.0.note" }] });
    expect(await refusal(pay(key, [row(someone())], { reference: "a\nb" }))).toMatchObject({ code: "invalid_request" });
  });
});

describe("the same payment within 30 days", () => {
  test("is refused, each row named with the payout that pays it, before the balance is looked at", async () => {
    const { key } = await payer("20");
    const [a, b, c] = [someone(), someone(), someone()];
    const first = await pay(key, [row(a, "4", { reference: "INV-1" }), row(b, "2")]);
    const refused = await refusal(
      pay(key, [row(c, "15"), row(a.toLowerCase(), "4.0", { reference: "INV-1" }), row(a, "4"), row(b, "2")]),
    );
    expect(refused).toMatchObject({ status: 409, code: "duplicate_payout" });
    expect(refused.details?.map(({ path }) => path)).toEqual(["transfers.1", "transfers.3"]);
    expect(refused.details?.[0]?.message).toContain(`${idOf(first)} on ${first.createdAt.slice(0, 10)}`);
    const validated = await refusal(pay(key, [row(b, "2")], { validateOnly: true }));
    expect(validated).toMatchObject({ status: 409, code: "duplicate_payout" });
    const allowed = await pay(key, [row(b, "2")], { allowDuplicates: true });
    expect(allowed.warnings).toMatchObject([{ code: "duplicate_row", index: 0 }]);
    expect(allowed.warnings[0]?.message).toContain(idOf(first));
    // Other amounts, references, tokens and chains are other payments; and so are those of other projects.
    await pay(key, [row(b, "2", { reference: "INV-2" }), row(b, "1")]);
    const other = await payer("10");
    await pay(other.key, [row(b, "2")]);
  });

  test("within one list is refused too", async () => {
    const { key } = await payer("10");
    const [a, b] = [someone(), someone()];
    const refused = await refusal(pay(key, [row(a), row(b), row(a)]));
    expect(refused).toMatchObject({ status: 409, code: "duplicate_payout", details: [{ path: "transfers.2" }] });
    expect(refused.details?.[0]?.message).toContain("row 0 of this list");
    const made = await pay(key, [row(a), row(b), row(a)], { allowDuplicates: true });
    expect(made.warnings).toMatchObject([{ code: "duplicate_row", index: 2 }]);
  });

  test("may be made once more when the first was cancelled, or lies longer ago", async () => {
    const { key } = await payer("10");
    const to = someone();
    const first = await pay(key, [row(to)]);
    await key.call(cancelPayout, { params: { id: idOf(first) } });
    const second = await pay(key, [row(to)]);
    const earlier = new Date(Date.now() - 30 * 24 * 3600 * 1000 - 60_000);
    await api.services.database.prisma.payoutRowKey.updateMany({
      where: { payoutId: idOf(second) },
      data: { createdAt: earlier },
    });
    expect(await refusal(pay(key, [row(to)]))).toMatchObject({ code: "ok" });
    await api.services.database.prisma.payoutRowKey.updateMany({
      where: { payoutId: idOf(second) },
      data: { createdAt: new Date(earlier.getTime() - 24 * 3600 * 1000) },
    });
    await api.services.sweep();
    expect(await api.services.database.prisma.payoutRowKey.count({ where: { payoutId: idOf(second) } })).toBe(0);
  });

  test("asked for at the same moment by equal requests is accepted once", async () => {
    const { key } = await payer("1000");
    const rows = Array.from({ length: 40 }, () => row(someone()));
    const answers = await Promise.all(Array.from({ length: 8 }, () => refusal(pay(key, rows))));
    expect(answers.map(({ code }) => code).sort()).toEqual([...Array<string>(7).fill("duplicate_payout"), "ok"]);
    // Lists that share one row only, in other orders.
    const shared = row(someone(), "2");
    const lists = Array.from({ length: 6 }, (_, index) => {
      const own = Array.from({ length: 20 }, () => row(someone()));
      return index % 2 === 0 ? [shared, ...own] : [...own, shared];
    });
    const mixed = await Promise.all(lists.map((list) => refusal(pay(key, list))));
    expect(mixed.filter(({ code }) => code === "ok")).toHaveLength(1);
  });

  test("between accounts is refused as well, and equal requests at once are accepted once", async () => {
    const { key, customer, person } = await payer("100");
    const open = async () => (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
    const [source, to] = [await open(), await open()];
    await vi.waitFor(
      () => person.call(fundGlobalAccount, { params: { id: source }, body: { amount: "50", currency: "USDC" } }),
      { timeout: 20_000, interval: 200 },
    );
    const transfers = [{ recipientAccountId: to, amount: "5", currency: "USDC", reference: "Salary" }];
    const send = (rest: object = {}) =>
      key.call(createAccountsPayout, { body: { sourceAccountId: source, transfers, ...rest } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => refusal(send())));
    expect(answers.map(({ code }) => code).sort()).toEqual([...Array<string>(4).fill("duplicate_payout"), "ok"]);
    const [made] = (await key.call(listPayouts)).data;
    const refused = await refusal(send());
    expect(refused.details).toMatchObject([{ path: "transfers.0" }]);
    expect(refused.details?.[0]?.message).toContain(made?.payoutId ?? "none");
    expect(await refusal(send({ validateOnly: true }))).toMatchObject({ code: "duplicate_payout" });
    expect(await refusal(send({ allowDuplicates: true }))).toMatchObject({ code: "ok" });
    expect(customer.treasury).toMatch(/^0x/);
  });
});

describe("one Idempotency-Key", () => {
  test("used many times at once makes one payout; used for another list it is refused", async () => {
    const { customer } = await payer("10");
    const { secret } = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });
    const client = api.client({ "x-api-key": secret, "idempotency-key": crypto.randomUUID() });
    const rows = [row(someone(), "6")];
    const attempt = async () => {
      const answer = await pay(client, rows).then(idOf, (error: unknown) => (error as Refusal).code);
      // As after 24 h, or after a crash before the answer was kept.
      await api.services.database.prisma.idempotencyKey.deleteMany({});
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 12 }, attempt));
    const { data } = await customer.session.client.call(listPayouts);
    expect(data).toHaveLength(1);
    expect(new Set(answers.filter((each) => each !== "idempotency_in_progress"))).toEqual(new Set([data[0]?.payoutId]));
    expect(await pay(client, rows)).toMatchObject({ payoutId: data[0]?.payoutId });
    await api.services.database.prisma.idempotencyKey.deleteMany({});
    expect(await refusal(pay(client, [row(someone(), "6")]))).toMatchObject({ code: "idempotency_mismatch" });
    await api.services.database.prisma.idempotencyKey.deleteMany({});
    expect(await refusal(pay(client, [{ ...row(rows[0]?.address ?? "", "6"), note: "n" }]))).toMatchObject({
      code: "idempotency_mismatch",
    });
  });
});

describe("who may pay", () => {
  test("a key with a list of recipients pays those alone, each other row named, also for a stored answer", async () => {
    const { customer } = await payer("10");
    const [friend, stranger] = [someone(), someone()];
    const limited = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000", recipients: [friend] });
    const refused = await refusal(pay(limited.client, [row(friend), row(stranger), row(stranger, "2")]));
    expect(refused).toMatchObject({ status: 403, code: "recipient_not_allowed" });
    expect(refused.details?.map(({ path }) => path)).toEqual(["transfers.1.address", "transfers.2.address"]);
    expect(await pay(limited.client, [row(friend)])).toMatchObject({ subStatus: "queued" });
  });

  test("a key above its cap, and every person, waits for a code; nothing is held before", async () => {
    const { key, person } = await payer("100", "25");
    const made = await Promise.all([11, 12, 13].map((amount) => pay(key, [row(someone(), String(amount))])));
    const waiting = made.filter(({ subStatus }) => subStatus === "awaiting_approval");
    expect(made.filter(({ subStatus }) => subStatus === "queued").length).toBe(3 - waiting.length);
    expect(waiting.length).toBeGreaterThanOrEqual(1);
    for (const each of waiting) expect(await held(idOf(each))).toEqual([]);
    expect(await pay(person, [row(someone())])).toMatchObject({
      subStatus: "awaiting_approval",
      may: { approve: true, cancel: true, retry: false },
    });
  });

  test("a code approves exactly one payout, states what is paid, and holds its money", async () => {
    const { customer, person } = await payer("100");
    const rows = Array.from({ length: 7 }, (_, index) => row(someone(), `${String(index + 1)}.5`));
    const id = idOf(await pay(person, rows));
    expect(await refusal(person.call(approvePayout, { params: { id }, body: { otp: "000000" } }))).toMatchObject({
      code: "otp_required",
    });
    const approved = await approve(customer, id);
    expect(approved).toMatchObject({ subStatus: "queued", expiresAt: null, may: { approve: false, cancel: true } });
    const mails = (await api.services.inbox?.list({ to: customer.email, limit: 5 })) ?? [];
    const text = mails.find(({ subject }) => subject.includes("payout"))?.text ?? "";
    for (const part of ["in 7 payments", "31.5 USDC", `1.5 USDC to ${rows[0]?.address ?? ""}`, "and 2 more"])
      expect(text).toContain(part);
    expect(text).not.toContain(rows[5]?.address);
    expect(await held(id)).toEqual(["0:31500000"]);
    expect(await refusal(approve(customer, id))).toMatchObject({ code: "invalid_state" });
    expect(await reported(id)).toEqual(["payout.created", "payout.approved"]);
  });

  test("an approval that finds the money gone changes nothing, and the code stays good", async () => {
    const { customer, person, key } = await payer("10");
    const id = idOf(await pay(person, [row(someone(), "8")]));
    const other = await pay(key, [row(someone(), "9")]);
    const seen = await codesOf(api, customer);
    await person.call(requestOtp, { body: { payoutId: id } });
    const otp = await api.readCode(customer.email, seen);
    const send = () => person.call(approvePayout, { params: { id }, body: { otp } });
    expect(await refusal(send())).toMatchObject({ code: "insufficient_balance" });
    expect(await held(id)).toEqual([]);
    await key.call(cancelPayout, { params: { id: idOf(other) } });
    expect(await send()).toMatchObject({ subStatus: "queued" });
  });

  test("another project's payout is not there", async () => {
    const { person } = await payer("10");
    const id = idOf(await pay(person, [row(someone())]));
    const { session: stranger } = await newCustomer(api);
    const calls = [
      read(stranger.client, id),
      stranger.client.call(listPayoutItems, { params: { id } }),
      stranger.client.call(cancelPayout, { params: { id } }),
      stranger.client.call(retryPayout, { params: { id } }),
      stranger.client.call(requestOtp, { body: { payoutId: id } }),
    ];
    for (const refused of await Promise.all(calls.map(refusal))) expect(refused).toMatchObject({ status: 404 });
  });
});

describe("money that is not the treasury's to give", () => {
  test("backs the global accounts: nothing is accepted that would take it", async () => {
    const { key, person } = await payer("100");
    const { id } = await person.call(createGlobalAccount, { body: { currency: "USDC" } });
    await vi.waitFor(
      () => person.call(fundGlobalAccount, { params: { id }, body: { amount: "60", currency: "USDC" } }),
      { timeout: 20_000, interval: 200 },
    );
    const rows = [row(someone(), "41")];
    for (const client of [key, person])
      expect(await refusal(pay(client, rows))).toMatchObject({ status: 422, code: "insufficient_reserves" });
    expect(await refusal(pay(key, rows, { validateOnly: true }))).toMatchObject({ code: "insufficient_reserves" });
    const made = await pay(key, [row(someone(), "40")]);
    expect(made.subStatus).toBe("queued");
    // What the payout holds no longer backs anything.
    expect(
      await refusal(person.call(fundGlobalAccount, { params: { id }, body: { amount: "1", currency: "USDC" } })),
    ).toMatchObject({ code: "insufficient_reserves" });
  });

  test("nor may the sponsor's budget be passed, which counts each batch", async () => {
    const { key, person, customer } = await payer("10");
    const projectId = (
      await api.services.database.prisma.wallet.findUniqueOrThrow({ where: { id: customer.treasuryId } })
    ).projectId;
    await api.services.sponsorship.setBudget({ projectId, chainId: CHAIN }, { dailyWei: 1000n, operationWei: null });
    for (const client of [key, person])
      expect(await refusal(pay(client, [row(someone())]))).toMatchObject({ code: "sponsor_budget_exceeded" });
    await api.services.sponsorship.setBudget({ projectId, chainId: CHAIN }, { dailyWei: null, operationWei: null });
    const before = BigInt(await reservedWei());
    const made = await pay(key, [row(someone())]);
    expect(BigInt(await reservedWei())).toBeGreaterThan(before);
    await key.call(cancelPayout, { params: { id: idOf(made) } });
    expect(BigInt(await reservedWei())).toBe(before);
  });
});

describe("recipients who may not be meant", () => {
  test("are warned about: look-alikes of contacts, and contracts of another chain", async () => {
    const { key, person } = await payer("10");
    const friend = nobody("a friend");
    await person.call(createContact, { body: { name: "Ada", address: friend } });
    const fake = getAddress(`${friend.slice(0, 6)}${"0".repeat(32)}${friend.slice(-4)}`.toLowerCase());
    const elsewhere = await newContractOn(OTHER_CHAIN);
    const made = await pay(key, [row(friend), row(fake), row(elsewhere), row(someone())], { validateOnly: true });
    expect(made.warnings.map(({ code, index }) => [code, index])).toEqual([
      ["lookalike_recipient", 1],
      ["code_elsewhere", 2],
    ]);
    expect(made.warnings[0]?.message).toContain(`${friend} (Ada)`);
  });
});

describe("a payout that was accepted", () => {
  test("can be cancelled before it begins: its rows are cancelled, and what it held is free", async () => {
    const { key } = await payer("10");
    const id = idOf(await pay(key, [row(someone(), "9")]));
    const cancelled = await key.call(cancelPayout, { params: { id } });
    expect(cancelled).toMatchObject({
      status: "cancelled",
      items: { cancelled: 1, queued: 0 },
      may: { cancel: false },
    });
    expect(await itemsOf(key, id)).toMatchObject([{ status: "cancelled" }]);
    expect(await held(id)).toEqual([]);
    expect(await pay(key, [row(someone(), "9")])).toMatchObject({ subStatus: "queued" });
    expect(await refusal(key.call(cancelPayout, { params: { id } }))).toMatchObject({ code: "invalid_state" });
    expect(await refusal(key.call(retryPayout, { params: { id } }))).toMatchObject({ code: "invalid_state" });
    expect(await reported(id)).toEqual(["payout.created", "payout.cancelled"]);
  });

  test("expires when nobody approves it, and its rows may be paid by another", async () => {
    const { person, key } = await payer("10");
    const to = someone();
    const id = idOf(await pay(person, [row(to)]));
    await api.services.database.prisma.payout.updateMany({ where: { id }, data: { expiresAt: new Date(0) } });
    await api.services.expireDue();
    expect(await read(person, id)).toMatchObject({ status: "expired", items: { cancelled: 1 } });
    expect(await reported(id)).toEqual(["payout.created", "payout.expired"]);
    expect(await refusal(pay(key, [row(to)]))).toMatchObject({ code: "ok" });
  });

  test("stops what was not sent yet, pays the rest, and retry pays the failed rows alone, once", async () => {
    const { key, person, customer } = await payer("100");
    await fund(person, customer.treasury, { chainId: CHAIN, token: "native", amount: "1" });
    const refusing = await newContractOn(CHAIN);
    const to = someone();
    const rows = [row(to, "5"), row(refusing, "0.1", { token: "native" }), row(to, "0.2", { token: "native" })];
    const id = idOf(await pay(key, rows));
    const worker = startWorker(api.services);
    try {
      const done = await settled(key, id);
      expect(done).toMatchObject({ kind: "wallets", status: "partially_completed", items: { paid: 2, failed: 1 } });
      expect(done.may).toEqual({ approve: false, cancel: false, retry: true });
      expect(done.nextAction).toContain(customer.treasury);
      const url = api.services.registry.get(CHAIN).rpcUrls[0] ?? "";
      expect(await balanceOnChain(url, "native", to)).toBe(200_000_000_000_000_000n);
      const failed = await itemsOf(key, id, "failed");
      expect(failed).toMatchObject([
        { index: 1, address: refusing, failure: { retryable: expect.any(Boolean) as boolean } },
      ]);
      expect(await itemsOf(key, id, "paid")).toHaveLength(2);
      const events = await eventsOf(api.services.database, id);
      expect(events.map(({ type, payload }) => [type, payload])).toMatchObject([
        ["payout.created", { payoutId: id, kind: "wallets", status: "pending", itemsTotal: 3 }],
        ["payout.processing", { status: "processing" }],
        ["payout.item.failed", { payoutId: id, index: 1, failure: { code: "simulation_failed", retryable: true } }],
        ["payout.partially_completed", { status: "partially_completed", itemsCompleted: 2, itemsFailed: 1 }],
      ]);
      // A failed row is no duplicate; a paid one is.
      expect(await refusal(pay(key, [rows[1] ?? row(to)], { validateOnly: true }))).toMatchObject({ code: "ok" });
      expect(await refusal(pay(key, [rows[0] ?? row(to)]))).toMatchObject({ code: "duplicate_payout" });
      await setCode(CHAIN, refusing, "0x");
      // What another operation may have paid is not paid again.
      const { prisma } = api.services.database;
      const { projectId } = await prisma.payout.findUniqueOrThrow({ where: { id } });
      const item = { projectId_payoutId_index: { projectId, payoutId: id, index: 1 } };
      const { failure } = await prisma.walletPayoutItem.findUniqueOrThrow({ where: item });
      const doubtful = { code: "source_replaced", message: "It may have been paid.", retryable: false };
      await prisma.walletPayoutItem.update({ where: item, data: { failure: doubtful } });
      expect(await refusal(key.call(retryPayout, { params: { id } }))).toMatchObject({ code: "invalid_state" });
      await prisma.walletPayoutItem.update({ where: item, data: { failure: failure ?? {} } });
      const tries = await Promise.all(
        Array.from({ length: 3 }, () =>
          key.call(retryPayout, { params: { id } }).then(
            (made) => made.payoutId,
            () => null,
          ),
        ),
      );
      const [again = "", ...others] = tries.filter((each) => each !== null);
      expect(others).toEqual([]);
      expect(await settled(key, again)).toMatchObject({
        status: "completed",
        retryOf: id,
        items: { total: 1, paid: 1 },
      });
      expect(await balanceOnChain(url, "native", refusing)).toBe(100_000_000_000_000_000n);
      // Once a retry has paid a row, the same payment is a duplicate.
      expect(await refusal(pay(key, [rows[1] ?? row(to)]))).toMatchObject({ code: "duplicate_payout" });
      expect((await read(key, id)).may.retry).toBe(false);
      expect([await held(id), await held(again)]).toEqual([[], []]);
      const csv = await (await api.fetch(`/payouts/${id}/items?format=csv`, await authorized(customer))).text();
      expect(csv.split("\r\n")[0]).toBe(
        "index,address,amount,token,tokenAddress,reference,note,status,batch,transaction,block,failure",
      );
      expect(csv.split("\r\n")[1]).toMatch(new RegExp(`^0,${to},5,USDC,0x.*,paid,0,0x[0-9a-f]{64},[0-9]+,$`));
    } finally {
      await worker.stop();
    }
  });

  test("is cancelled while it runs: batches that were not signed are stopped, and the others end it", async () => {
    const { key, person, customer } = await payer("10");
    await fund(person, customer.treasury, { chainId: CHAIN, token: "DAI", amount: "5" });
    const id = idOf(await pay(key, [row(someone(), "5"), row(someone(), "2", { token: "DAI" })]));
    const { prisma } = api.services.database;
    const firstBatch = { payoutId: id, number: 0 };
    await prisma.payout.updateMany({ where: { id }, data: { status: "processing" } });
    await prisma.walletPayoutBatch.updateMany({ where: firstBatch, data: { state: "signed" } });
    expect((await read(key, id)).may.cancel).toBe(true);
    // What is left was signed and counts as queued: it cannot be stopped any more, and nobody is told that it could be.
    expect(await key.call(cancelPayout, { params: { id } })).toMatchObject({
      status: "processing",
      items: { queued: 1, cancelled: 1 },
      may: { cancel: false },
    });
    expect(await held(id)).toEqual(["0:5000000"]);
    expect(await refusal(key.call(cancelPayout, { params: { id } }))).toMatchObject({ code: "invalid_state" });
    expect(await itemsOf(key, id, "cancelled")).toMatchObject([{ index: 1 }]);
    await prisma.walletPayoutBatch.updateMany({
      where: firstBatch,
      data: { state: "failed", failure: { ...REPLACED } },
    });
    await prisma.payout.updateMany({ where: { id }, data: { status: "failed", itemsFailed: 1 } });
    const { nextAction, may } = await read(key, id);
    expect(nextAction).toMatch(/^This payout paid nothing itself\. Another operation .* may have paid 1 row: /);
    expect(nextAction).toContain(`The money of the other 1 row is in the treasury ${customer.treasury}`);
    expect(may).toEqual({ approve: false, cancel: false, retry: false });
    await prisma.job.deleteMany({ where: { id } });
  });
});

const authorized = ({ session }: Customer) =>
  Promise.resolve({ headers: { authorization: `Bearer ${session.accessToken}` } });

const settled = (client: ApiClient, id: string) =>
  vi.waitFor(
    async () => {
      const payout = await read(client, id);
      if (!isFinal(payout.status)) throw new Error(`The payout is ${payout.status}.`);
      return payout;
    },
    { timeout: 45_000, interval: 100 },
  );
