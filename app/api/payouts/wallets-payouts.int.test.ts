import { getAddress } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createContact } from "@/lib/contracts/contacts";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import {
  approvePayout,
  cancelPayout,
  createWalletsPayout,
  listPayoutItems,
  listPayouts,
  retryPayout,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import {
  approve,
  heldBy,
  idOf,
  itemsOf,
  newContractOn,
  newPayer,
  pay,
  PAYOUT_CHAIN,
  read,
  refusal,
  row,
  someone,
  type PayoutRow,
} from "@/lib/dev/testing/payout-requests";
import { putRules } from "@/lib/dev/testing/policies";
import { eventTypesOf } from "@/lib/dev/testing/project-events";
import { nobody } from "@/lib/dev/testing/wallet-payouts";

const OTHER_CHAIN = 31338;
const devnet = await testDevnet();
// No worker runs, so that an accepted payout stays in the state in which it was accepted.
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

const reservedWei = async (): Promise<string> => {
  const { _sum } = await api.services.database.prisma.sponsorUsage.aggregate({
    _sum: { reservedWei: true },
  });
  return _sum.reservedWei?.toFixed() ?? "0";
};

describe("a payout to wallets", () => {
  test("is accepted as pending, with its rows, batches and the money that it holds", async () => {
    const { key, customer } = await newPayer(api, "100");
    const [a, b] = [someone(), someone()];
    const rows = [
      row(a, "10", { reference: " INV-1 ", note: "Rent" }),
      row(b.toLowerCase(), "20.5"),
    ];
    const made = await pay(key, rows, { reference: "March" });
    expect(made).toMatchObject({
      kind: "wallets",
      status: "pending",
      subStatus: "queued",
      chainId: PAYOUT_CHAIN,
      fromWalletId: customer.treasuryId,
      fromAddress: customer.treasury,
      reference: "March",
      items: { total: 2, queued: 2, paid: 0 },
      batches: { total: 1, settled: 0 },
      networkFee: { paidBy: "sponsor", estimated: true },
      warnings: [{ code: "first_payment", path: "transfers.0.address" }],
      may: { approve: false, cancel: true, retry: false },
    });
    expect(Number(made.networkFee?.amount)).toBeGreaterThan(0);
    expect(made.totals).toMatchObject([
      { token: { symbol: "USDC" }, amount: "30.5", paid: "0", rows: 2 },
    ]);
    expect(await read(key, idOf(made))).toMatchObject({
      payoutId: made.payoutId,
      kind: "wallets",
    });
    expect((await key.call(listPayouts, { query: { kind: "wallets" } })).data).toHaveLength(1);
    expect((await key.call(listPayouts, { query: { kind: "global_accounts" } })).data).toEqual(
      [],
    );
    expect(await itemsOf(key, idOf(made))).toMatchObject([
      {
        kind: "wallets",
        index: 0,
        address: a,
        amount: "10",
        status: "queued",
        reference: "INV-1",
        note: "Rent",
      },
      {
        kind: "wallets",
        index: 1,
        address: getAddress(b),
        amount: "20.5",
        status: "queued",
        batch: 0,
      },
    ]);
    expect(await heldBy(api, idOf(made))).toEqual(["0:30500000"]);
    // Money that is held for one payout cannot be used by another.
    expect(await refusal(pay(key, [row(someone(), "70")]))).toMatchObject({
      status: 422,
      code: "insufficient_balance",
    });
  });

  test("keeps each token in batches of its own, and totals in the order of their first rows", async () => {
    const { key, person, customer } = await newPayer(api, "10");
    for (const token of ["native", "DAI"])
      await fund(person, customer.treasury, { chainId: PAYOUT_CHAIN, token, amount: "5" });
    const rows = ["DAI", "native", "DAI", "USDC"].map((token) =>
      row(someone(), "1", { token }),
    );
    const made = await pay(key, rows);
    expect(made.totals.map(({ token, rows: count }) => [token.symbol, count])).toEqual([
      ["DAI", 2],
      ["ETH", 1],
      ["USDC", 1],
    ]);
    expect(
      (await itemsOf(key, idOf(made))).map((item) =>
        item.kind === "wallets" ? item.batch : -1,
      ),
    ).toEqual([0, 1, 0, 2]);
    expect(await heldBy(api, idOf(made))).toEqual([
      "0:2000000000000000000",
      "1:1000000000000000000",
      "2:1000000",
    ]);
  });

  test("validated only stores nothing, holds nothing, and says what it would cost", async () => {
    const { key } = await newPayer(api, "10");
    const before = await reservedWei();
    const made = await pay(key, [row(someone(), "4")], { validateOnly: true });
    expect(made).toMatchObject({
      id: null,
      payoutId: null,
      items: { total: 1, queued: 1 },
      batches: { total: 1, settled: 0 },
    });
    expect((await key.call(listPayouts)).data).toEqual([]);
    expect(await reservedWei()).toBe(before);
    expect(
      await refusal(pay(key, [row(someone(), "11")], { validateOnly: true })),
    ).toMatchObject({
      code: "insufficient_balance",
      details: [
        { path: "transfers", message: expect.stringContaining("1 USDC are missing") as string },
      ],
    });
  });
});

describe("bad rows", () => {
  const BAD_CHECKSUM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD";

  test("are all named at once, by index and field, in words, and nothing is paid", async () => {
    const { key, customer } = await newPayer(api, "10");
    const usdc = api.services.registry.resolveToken(PAYOUT_CHAIN, "USDC").address;
    const {
      entryPoint,
      paymaster = "",
      distributor = "",
    } = api.services.registry.get(PAYOUT_CHAIN).contracts;
    const good = someone();
    const rows: [PayoutRow, string, RegExp][] = [
      [row("0x1234"), "address", /0x address of 20 bytes/],
      [row("vitalik.eth"), "address", /names \(ENS\) are not resolved here/],
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
      ...[
        "0",
        "0.0",
        "-1",
        "+1",
        "1e3",
        "1,5",
        " 1",
        "1.",
        ".5",
        "0x10",
        "NaN",
        "Infinity",
        "٣",
        "=1+1",
        "",
      ].map((amount): [PayoutRow, string, RegExp] => [
        row(good, amount),
        "amount",
        /decimal string|above zero/,
      ]),
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
    expect(refused.message).toContain(
      `${String(rows.length)} of ${String(rows.length + 1)} rows`,
    );
    expect(refused.details?.map(({ path }) => path)).toEqual(
      rows.map(([, field], index) => `transfers.${String(index)}.${field}`),
    );
    rows.forEach(([, , words], index) =>
      expect(refused.details?.[index]?.message).toMatch(words),
    );
    expect((await key.call(listPayouts)).data).toEqual([]);
  });

  test("with several fields at fault have each of them named; one kind of fault alone has its own code", async () => {
    const { key } = await newPayer(api, "10");
    const both = await refusal(pay(key, [row("0x12", "abc", { token: "DOGE" })]));
    expect(both.details?.map(({ path }) => path)).toEqual([
      "transfers.0.address",
      "transfers.0.token",
      "transfers.0.amount",
    ]);
    const precise = await refusal(pay(key, [row(someone()), row(someone(), "0.1234567")]));
    expect(precise).toMatchObject({
      status: 422,
      code: "amount_precision",
      details: [{ path: "transfers.1.amount" }],
    });
    expect(await refusal(pay(key, [row(someone(), "1", { token: "DOGE" })]))).toMatchObject({
      status: 422,
      code: "unsupported_token",
    });
  });

  test("lists that are empty or too long, unknown chains and texts that cannot be stored are refused", async () => {
    const { key } = await newPayer(api, "10");
    expect(await refusal(pay(key, []))).toMatchObject({ status: 400, code: "invalid_request" });
    const many = Array.from({ length: 10_001 }, () => row(BAD_CHECKSUM));
    expect(await refusal(pay(key, many))).toMatchObject({
      status: 422,
      code: "batch_too_large",
    });
    expect(await refusal(pay(key, [row(someone())], { chainId: 5 }))).toMatchObject({
      status: 422,
      code: "unsupported_chain",
      details: [{ path: "chainId" }],
    });
    const nul = await refusal(pay(key, [row(someone(), "1", { note: "a\0b" })]));
    expect(nul).toMatchObject({
      status: 400,
      code: "invalid_request",
      details: [{ path: "transfers.0.note" }],
    });
    expect(await refusal(pay(key, [row(someone())], { reference: "a\nb" }))).toMatchObject({
      code: "invalid_request",
    });
  });
});

describe("who may pay", () => {
  test("a key with a list of recipients pays those alone, each other row named, also for a stored answer", async () => {
    const { customer } = await newPayer(api, "10");
    const [friend, stranger] = [someone(), someone()];
    const limited = await api.createKey(customer.session, {
      otp: "exempt",
      dailyCapUsd: "1000",
      recipients: [friend],
    });
    const refused = await refusal(
      pay(limited.client, [row(friend), row(stranger), row(stranger, "2")]),
    );
    expect(refused).toMatchObject({ status: 403, code: "recipient_not_allowed" });
    expect(refused.details?.map(({ path }) => path)).toEqual([
      "transfers.1.address",
      "transfers.2.address",
    ]);
    expect(await pay(limited.client, [row(friend)])).toMatchObject({ subStatus: "queued" });
  });

  test("a key above its cap, and every person, waits for a code; nothing is held before", async () => {
    const { key, person } = await newPayer(api, "100", "25");
    const made = await Promise.all(
      [11, 12, 13].map((amount) => pay(key, [row(someone(), String(amount))])),
    );
    const waiting = made.filter(({ subStatus }) => subStatus === "awaiting_approval");
    expect(made.filter(({ subStatus }) => subStatus === "queued").length).toBe(
      3 - waiting.length,
    );
    expect(waiting.length).toBeGreaterThanOrEqual(1);
    for (const each of waiting) expect(await heldBy(api, idOf(each))).toEqual([]);
    expect(await pay(person, [row(someone())])).toMatchObject({
      subStatus: "awaiting_approval",
      may: { approve: true, cancel: true, retry: false },
    });
  });

  test("a payout of an exempt key that a policy lets wait for a code does not count as spent", async () => {
    const { key, customer } = await newPayer(api, "100");
    const rules = { code: { mode: "exempt" as const, dailyCapUsd: "5" } };
    await putRules(customer.session, { scope: "project", baseVersion: 0, rules });
    const { prisma } = api.services.database;
    const first = await pay(key, [row(someone(), "4")]);
    expect(first.subStatus).toBe("queued");
    expect((await pay(key, [row(someone(), "3")])).subStatus).toBe("awaiting_approval");
    const { projectId } = await prisma.payout.findUniqueOrThrow({ where: { id: idOf(first) } });
    const spent = await prisma.projectSpend.findMany({ where: { projectId } });
    expect(spent.map(({ spentUsd }) => spentUsd.toFixed())).toEqual(["4"]);
  });

  test("a code approves exactly one payout, states what is paid, and holds its money", async () => {
    const { customer, person } = await newPayer(api, "100");
    const rows = Array.from({ length: 7 }, (_, index) =>
      row(someone(), `${String(index + 1)}.5`),
    );
    const id = idOf(await pay(person, rows));
    expect(
      await refusal(person.call(approvePayout, { params: { id }, body: { otp: "000000" } })),
    ).toMatchObject({
      code: "otp_required",
    });
    const approved = await approve(api, customer, id);
    expect(approved).toMatchObject({
      subStatus: "queued",
      expiresAt: null,
      may: { approve: false, cancel: true },
    });
    const mails = (await api.services.inbox?.list({ to: customer.email, limit: 5 })) ?? [];
    const text = mails.find(({ subject }) => subject.includes("payout"))?.text ?? "";
    for (const part of [
      "in 7 payments",
      "31.5 USDC",
      `1.5 USDC to ${rows[0]?.address ?? ""}`,
      "and 2 more",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain(rows[5]?.address);
    expect(await heldBy(api, id)).toEqual(["0:31500000"]);
    expect(await refusal(approve(api, customer, id))).toMatchObject({ code: "invalid_state" });
    expect(await eventTypesOf(api.services.database, id)).toEqual([
      "payout.created",
      "payout.approved",
    ]);
  });

  test("an approval that finds the money gone changes nothing, and the code stays good", async () => {
    const { customer, person, key } = await newPayer(api, "10");
    const id = idOf(await pay(person, [row(someone(), "8")]));
    const other = await pay(key, [row(someone(), "9")]);
    const seen = await codesOf(api, customer);
    await person.call(requestOtp, { body: { payoutId: id } });
    const otp = await api.readCode(customer.email, seen);
    const send = () => person.call(approvePayout, { params: { id }, body: { otp } });
    expect(await refusal(send())).toMatchObject({ code: "insufficient_balance" });
    expect(approvePayout.errors).toContain("insufficient_balance");
    expect(await heldBy(api, id)).toEqual([]);
    await key.call(cancelPayout, { params: { id: idOf(other) } });
    expect(await send()).toMatchObject({ subStatus: "queued" });
  });

  test("another project's payout is not there", async () => {
    const { person } = await newPayer(api, "10");
    const id = idOf(await pay(person, [row(someone())]));
    const { session: stranger } = await newCustomer(api);
    const calls = [
      read(stranger.client, id),
      stranger.client.call(listPayoutItems, { params: { id } }),
      stranger.client.call(cancelPayout, { params: { id } }),
      stranger.client.call(retryPayout, { params: { id } }),
      stranger.client.call(requestOtp, { body: { payoutId: id } }),
    ];
    for (const refused of await Promise.all(calls.map(refusal)))
      expect(refused).toMatchObject({ status: 404 });
  });
});

describe("money that is not the treasury's to give", () => {
  test("backs the global accounts: a payout that would take it is refused", async () => {
    const { key, person } = await newPayer(api, "100");
    const { id } = await person.call(createGlobalAccount, { body: { currency: "USDC" } });
    await vi.waitFor(
      () =>
        person.call(fundGlobalAccount, {
          params: { id },
          body: { amount: "60", currency: "USDC" },
        }),
      { timeout: 20_000, interval: 200 },
    );
    const rows = [row(someone(), "41")];
    for (const client of [key, person])
      expect(await refusal(pay(client, rows))).toMatchObject({
        status: 422,
        code: "insufficient_reserves",
      });
    expect(await refusal(pay(key, rows, { validateOnly: true }))).toMatchObject({
      code: "insufficient_reserves",
    });
    const made = await pay(key, [row(someone(), "40")]);
    expect(made.subStatus).toBe("queued");
    // The money that the payout holds does not back global accounts any more.
    expect(
      await refusal(
        person.call(fundGlobalAccount, {
          params: { id },
          body: { amount: "1", currency: "USDC" },
        }),
      ),
    ).toMatchObject({ code: "insufficient_reserves" });
  });

  test("includes the sponsor's budget, against which each batch counts", async () => {
    const { key, person, customer } = await newPayer(api, "10");
    const projectId = (
      await api.services.database.prisma.wallet.findUniqueOrThrow({
        where: { id: customer.treasuryId },
      })
    ).projectId;
    await api.services.sponsorship.setBudget(
      { projectId, chainId: PAYOUT_CHAIN },
      { dailyWei: 1000n, operationWei: null },
    );
    for (const client of [key, person])
      expect(await refusal(pay(client, [row(someone())]))).toMatchObject({
        code: "sponsor_budget_exceeded",
      });
    for (const { errors } of [createWalletsPayout, approvePayout, retryPayout])
      expect(errors).toContain("sponsor_budget_exceeded");
    await api.services.sponsorship.setBudget(
      { projectId, chainId: PAYOUT_CHAIN },
      { dailyWei: null, operationWei: null },
    );
    const before = BigInt(await reservedWei());
    const made = await pay(key, [row(someone())]);
    expect(BigInt(await reservedWei())).toBeGreaterThan(before);
    await key.call(cancelPayout, { params: { id: idOf(made) } });
    expect(BigInt(await reservedWei())).toBe(before);
  });
});

describe("recipients who may not be meant", () => {
  test("are warned about: look-alikes of contacts, and contracts of another chain", async () => {
    const { key, person } = await newPayer(api, "10");
    const friend = nobody("a friend");
    await person.call(createContact, { body: { name: "Ada", address: friend } });
    const fake = getAddress(
      `${friend.slice(0, 6)}${"0".repeat(32)}${friend.slice(-4)}`.toLowerCase(),
    );
    const elsewhere = await newContractOn(devnet.rpcUrls[String(OTHER_CHAIN)] ?? "");
    const made = await pay(
      key,
      [row(friend), row(fake), row(elsewhere.address), row(someone())],
      {
        validateOnly: true,
      },
    );
    expect(made.warnings.map(({ code, path }) => [code, path])).toEqual([
      ["lookalike_recipient", "transfers.1.address"],
      ["code_elsewhere", "transfers.2.address"],
      ["first_payment", "transfers.0.address"],
    ]);
    expect(made.warnings[0]?.message).toContain(`${friend} (a contact that is not approved)`);
  });
});
