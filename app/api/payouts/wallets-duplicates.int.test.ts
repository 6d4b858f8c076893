import { beforeAll, describe, expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { cancelPayout, createAccountsPayout, listPayouts } from "@/lib/contracts/payouts";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { doubtUnseen } from "@/lib/dev/testing/payout-doubts";
import {
  idOf,
  newPayer,
  pay,
  read,
  refusal,
  row,
  someone,
  type Refusal,
} from "@/lib/dev/testing/payout-requests";

// No worker runs, so that an accepted payout stays in the state in which it was accepted.
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

test("the same payment within 30 days is refused, each row named with the payout that pays it, before the balance is looked at", async () => {
  const { key } = await newPayer(api, "20");
  const [a, b, c] = [someone(), someone(), someone()];
  const first = await pay(key, [row(a, "4", { reference: "INV-1" }), row(b, "2")]);
  const refused = await refusal(
    pay(key, [
      row(c, "15"),
      row(a.toLowerCase(), "4.0", { reference: "INV-1" }),
      row(a, "4"),
      row(b, "2"),
    ]),
  );
  expect(refused).toMatchObject({ status: 409, code: "duplicate_payout" });
  expect(refused.details?.map(({ path }) => path)).toEqual(["transfers.1", "transfers.3"]);
  expect(refused.details?.[0]?.message).toContain(
    `${idOf(first)} on ${first.createdAt.slice(0, 10)}`,
  );
  const validated = await refusal(pay(key, [row(b, "2")], { validateOnly: true }));
  expect(validated).toMatchObject({ status: 409, code: "duplicate_payout" });
  const allowed = await pay(key, [row(b, "2")], { allowDuplicates: true });
  expect(allowed.warnings).toMatchObject([{ code: "duplicate_row", path: "transfers.0" }]);
  expect(allowed.warnings[0]?.message).toContain(idOf(first));
  // Other amounts, references, tokens and chains are other payments; and so are those of other
  // projects.
  await pay(key, [row(b, "2", { reference: "INV-2" }), row(b, "1")]);
  const other = await newPayer(api, "10");
  await pay(other.key, [row(b, "2")]);
});

test("the same payment within one list is refused too", async () => {
  const { key } = await newPayer(api, "10");
  const [a, b] = [someone(), someone()];
  const refused = await refusal(pay(key, [row(a), row(b), row(a)]));
  expect(refused).toMatchObject({
    status: 409,
    code: "duplicate_payout",
    details: [{ path: "transfers.2" }],
  });
  expect(refused.details?.[0]?.message).toContain("row 0 of this list");
  const made = await pay(key, [row(a), row(b), row(a)], { allowDuplicates: true });
  expect(made.warnings).toMatchObject([
    { code: "duplicate_row", path: "transfers.2" },
    { code: "first_payment", path: "transfers.0.address" },
  ]);
});

test("the same payment is refused as long as another operation may have made it, and nobody has decided", async () => {
  const { key, customer } = await newPayer(api, "10");
  const to = someone();
  const first = idOf(await pay(key, [row(to)]));
  await doubtUnseen(api.services, first);
  expect(await read(key, first)).toMatchObject({ status: "failed", doubts: [{ rows: 1 }] });
  const refused = await refusal(pay(key, [row(to)]));
  expect(refused).toMatchObject({
    status: 409,
    code: "duplicate_payout",
    details: [{ path: "transfers.0" }],
  });
  expect(refused.details?.[0]?.message).toContain(first);
  await withApproval(customer.session.account, (approval) =>
    customer.session.client.call(decidePayoutDoubt, {
      params: { id: first },
      body: {
        batch: 0,
        decision: "not_paid",
        reason: "Explorer",
        ...(approval ? { approval } : {}),
      },
    }),
  );
  expect(await refusal(pay(key, [row(to)]))).toMatchObject({ code: "ok" });
});

test("the same payment within 30 days may be made once more when the first was cancelled, or lies longer ago", async () => {
  const { key } = await newPayer(api, "10");
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
  expect(
    await api.services.database.prisma.payoutRowKey.count({
      where: { payoutId: idOf(second) },
    }),
  ).toBe(0);
});

test("the same payment within 30 days asked for at the same moment by equal requests is accepted once", async () => {
  const { key } = await newPayer(api, "1000");
  const rows = Array.from({ length: 40 }, () => row(someone()));
  const answers = await Promise.all(Array.from({ length: 8 }, () => refusal(pay(key, rows))));
  expect(answers.map(({ code }) => code).sort()).toEqual([
    ...Array<string>(7).fill("duplicate_payout"),
    "ok",
  ]);
  // Lists that share one row only, in other orders.
  const shared = row(someone(), "2");
  const lists = Array.from({ length: 6 }, (_, index) => {
    const own = Array.from({ length: 20 }, () => row(someone()));
    return index % 2 === 0 ? [shared, ...own] : [...own, shared];
  });
  const mixed = await Promise.all(lists.map((list) => refusal(pay(key, list))));
  expect(mixed.filter(({ code }) => code === "ok")).toHaveLength(1);
});

test("the same payment within 30 days is refused for each row that did not fail", async () => {
  const { prisma } = api.services.database;
  const { key } = await newPayer(api, "1000");
  const rows = Array.from({ length: 200 }, () => row(someone()));
  const payoutId = idOf(await pay(key, rows));
  expect(await prisma.payoutRowKey.count({ where: { payoutId } })).toBe(rows.length);
  const stored = await prisma.payoutRowKey.count();
  const again = () => refusal(pay(key, rows.slice(150)));
  for (const answer of await Promise.all(Array.from({ length: 10 }, again))) {
    expect(answer.code).toBe("duplicate_payout");
    expect(answer.details).toHaveLength(50);
  }
  expect(await prisma.payoutRowKey.count()).toBe(stored);
  // A row that failed may be paid again, so a key keeps the place of its row.
  await prisma.walletPayoutItem.updateMany({
    where: { payoutId, index: 151 },
    data: { status: "failed" },
  });
  expect((await again()).details?.map(({ path }) => path)).toEqual(
    rows.slice(150).flatMap((_, index) => (index === 1 ? [] : [`transfers.${String(index)}`])),
  );
});

test("the same payment within 30 days between accounts is refused as well, and equal requests at once are accepted once", async () => {
  const { key, customer, person } = await newPayer(api, "100");
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, to] = [await open(), await open()];
  await vi.waitFor(
    () =>
      person.call(fundGlobalAccount, {
        params: { id: source },
        body: { amount: "50", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const transfers = [
    { recipientAccountId: to, amount: "5", currency: "USDC", reference: "Salary" },
  ];
  const send = (rest: object = {}) =>
    key.call(createAccountsPayout, { body: { sourceAccountId: source, transfers, ...rest } });
  const answers = await Promise.all(Array.from({ length: 5 }, () => refusal(send())));
  expect(answers.map(({ code }) => code).sort()).toEqual([
    ...Array<string>(4).fill("duplicate_payout"),
    "ok",
  ]);
  const [made] = (await key.call(listPayouts)).data;
  const refused = await refusal(send());
  expect(refused.details).toMatchObject([{ path: "transfers.0" }]);
  expect(refused.details?.[0]?.message).toContain(made?.payoutId ?? "none");
  expect(await refusal(send({ validateOnly: true }))).toMatchObject({
    code: "duplicate_payout",
  });
  expect(await refusal(send({ allowDuplicates: true }))).toMatchObject({ code: "ok" });
  expect(customer.treasury).toMatch(/^0x/);
});

test("equal payments of long lists and of a short one, asked for at once, are accepted once", async () => {
  const { key, person } = await newPayer(api, "1");
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, to] = [await open(), await open()];
  const row = (reference: string) => ({
    recipientAccountId: to,
    amount: "0.001",
    currency: "USDC",
    reference,
  });
  const common = Array.from({ length: 30 }, (_, index) =>
    row(`round 0 common ${String(index)}`),
  );
  for (const round of ["0", "1"]) {
    const repeated = common.map((each) =>
      row(each.reference.replace("round 0", `round ${round}`)),
    );
    const lists = Array.from({ length: 4 }, (_, list) => [
      ...Array.from({ length: list === 3 ? 0 : 600 }, (__, index) =>
        row(`round ${round} list ${String(list)} ${String(index)}`),
      ),
      ...repeated,
    ]);
    const answers = await Promise.all(
      lists.map((transfers) =>
        refusal(
          key.call(createAccountsPayout, {
            body: { sourceAccountId: source, mode: "independent", transfers },
          }),
        ),
      ),
    );
    expect(answers.map(({ code }) => code).sort()).toEqual([
      ...Array<string>(3).fill("duplicate_payout"),
      "ok",
    ]);
    for (const { code, details } of answers)
      expect(details?.length ?? 0).toBe(code === "ok" ? 0 : 30);
  }
});

test("a payment that one of many rows repeats is named by its row", async () => {
  const { key, person } = await newPayer(api, "1");
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, to] = [await open(), await open()];
  const rows = (list: string) =>
    Array.from({ length: 120 }, (_, index) => ({
      recipientAccountId: to,
      amount: "0.001",
      currency: "USDC",
      reference: `${list} ${String(index)}`,
    }));
  const send = (transfers: ReturnType<typeof rows>) =>
    key.call(createAccountsPayout, {
      body: { sourceAccountId: source, mode: "independent", transfers },
    });
  const { payoutId } = await send(rows("first"));
  const repeating = rows("second").map((each, index) =>
    index === 7 ? { ...each, reference: "first 100" } : each,
  );
  for (let time = 0; time < 3; time += 1) {
    const refused = await refusal(send(repeating));
    expect(refused).toMatchObject({
      code: "duplicate_payout",
      details: [{ path: "transfers.7" }],
    });
    expect(refused.details?.[0]?.message).toContain(payoutId ?? "none");
  }
  expect(await refusal(send(rows("third")))).toMatchObject({ code: "ok" });
});

describe("one Idempotency-Key", () => {
  test("used many times at once makes one payout; used for another list it is refused", async () => {
    const { customer } = await newPayer(api, "10");
    const { secret } = await api.createKey(customer.session, {
      otp: "exempt",
      dailyCapUsd: "1000",
    });
    const client = api.client({ "x-api-key": secret, "idempotency-key": crypto.randomUUID() });
    const rows = [row(someone(), "6")];
    const attempt = async () => {
      const answer = await pay(client, rows).then(
        idOf,
        (error: unknown) => (error as Refusal).code,
      );
      // Without the stored answer, as after 24 hours or after a crash that lost it.
      await api.services.database.prisma.idempotencyKey.deleteMany({});
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 12 }, attempt));
    const { data } = await customer.session.client.call(listPayouts);
    expect(data).toHaveLength(1);
    expect(new Set(answers.filter((each) => each !== "idempotency_in_progress"))).toEqual(
      new Set([data[0]?.payoutId]),
    );
    expect(await pay(client, rows)).toMatchObject({ payoutId: data[0]?.payoutId });
    await api.services.database.prisma.idempotencyKey.deleteMany({});
    expect(await refusal(pay(client, [row(someone(), "6")]))).toMatchObject({
      code: "idempotency_mismatch",
    });
    await api.services.database.prisma.idempotencyKey.deleteMany({});
    expect(
      await refusal(pay(client, [{ ...row(rows[0]?.address ?? "", "6"), note: "n" }])),
    ).toMatchObject({
      code: "idempotency_mismatch",
    });
  });
});
