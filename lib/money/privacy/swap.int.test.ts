import { describe, expect, test } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { listAuditLog } from "@/lib/contracts/audit";
import { getMe } from "@/lib/contracts/auth";
import { executePrivateSwap, preparePrivateSwap } from "@/lib/contracts/privacy-swap";
import { recordAudit } from "@/lib/news/audit/service";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { privatePayments } from "@/lib/dev/testing/private-payments";
import { codeOf } from "@/lib/dev/testing/refusals";

// Only the chain and the proofs are fakes. The fake engine and the real one pass the same contract
// tests.
const money = await privateMoney();
const { api, clock } = money;
const QUOTE_TTL_MS = 301_000;

const { session, key, codeFor, approve, walletWith, get, quoteOf } =
  await privatePayments(money);

test("a quote says among how many deposits its withdrawal hides now", async () => {
  await walletWith("10");
  const before = (await quoteOf()).anonymitySet ?? 0;
  expect(before).toBeGreaterThanOrEqual(1);
  await walletWith("10");
  expect((await quoteOf()).anonymitySet).toBe(before + 1);
});

test("an entry of the audit log about a quote names what the quote swaps", async () => {
  const { quoteId } = await quoteOf("1250.5");
  const projectId = (await session.client.call(getMe)).projects[0]?.id ?? "";
  const at = new Date();
  await api.services.database.transaction((tx) =>
    recordAudit(tx, {
      projectId,
      actor: "system",
      action: "factor.used",
      subject: quoteId,
      request: null,
      at,
    }),
  );
  const { data } = await session.client.call(listAuditLog, { query: { subject: quoteId } });
  expect(data.map(({ subjectName }) => subjectName)).toEqual(["Private swap of 1,250.50 USDC"]);
});

describe("codes of private swaps", () => {
  const execute = (quoteId: string, by: ApiClient = session.client) =>
    by.call(executePrivateSwap, { body: { quoteId } });

  test("a quote that was prepared with its code runs with no further one, and once", async () => {
    const privacyWalletId = await walletWith("200");
    const { quoteId } = await quoteOf();
    const otp = await codeFor({ quoteId });
    const other = await quoteOf();
    const prepare = (body: { quoteId: string; otp: string }) =>
      session.client.call(preparePrivateSwap, { body: { ...body, privacyWalletId } });
    const wrong = otp === "000000" ? "000001" : "000000";
    expect(await codeOf(prepare({ quoteId, otp: wrong }))).toBe("422 otp_invalid");
    expect(await codeOf(prepare({ quoteId: other.quoteId, otp }))).toBe("409 otp_required");
    expect(await prepare({ quoteId, otp })).toMatchObject({
      prepared: true,
      approved: true,
      privacyWalletId,
    });
    const begun = await execute(quoteId);
    expect(begun).toMatchObject({ status: "pending", subStatus: "prepared" });
    await money.settle(begun.operationId);
    expect(await get(begun.transferId)).toMatchObject({ status: "completed" });
    expect(await execute(quoteId)).toMatchObject({
      transferId: begun.transferId,
      status: "completed",
    });
    expect(await codeOf(prepare({ quoteId, otp }))).toBe("409 quote_already_used");
  });

  test("a quote whose private wallet is chosen is prepared for any key, and waits for a code where the key needs one", async () => {
    const privacyWalletId = await walletWith("200");
    const careful = (await api.createKey(session, {})).client;
    const { quoteId } = await quoteOf();
    expect(
      await careful.call(preparePrivateSwap, { body: { quoteId, privacyWalletId } }),
    ).toMatchObject({
      prepared: true,
      approved: false,
    });
    const begun = await execute(quoteId, careful);
    expect(begun).toMatchObject({
      status: "pending",
      subStatus: "awaiting_approval",
      steps: [],
    });
    await approve(begun.operationId);
    await money.settle(begun.operationId);
    expect(await get(begun.transferId)).toMatchObject({ status: "completed" });
  });

  test("a code approves the private wallet of then: choosing another one takes the approval back", async () => {
    const [approved, other] = [await walletWith("200"), await walletWith("200")];
    const { quoteId } = await quoteOf();
    const otp = await codeFor({ quoteId });
    await session.client.call(preparePrivateSwap, {
      body: { quoteId, otp, privacyWalletId: approved },
    });
    const careful = (await api.createKey(session, {})).client;
    expect(
      await careful.call(preparePrivateSwap, { body: { quoteId, privacyWalletId: approved } }),
    ).toMatchObject({
      approved: true,
    });
    expect(
      await careful.call(preparePrivateSwap, { body: { quoteId, privacyWalletId: other } }),
    ).toMatchObject({
      approved: false,
    });
    expect(await execute(quoteId, careful)).toMatchObject({ subStatus: "awaiting_approval" });
  });

  test("a quote that ran out of time cannot be prepared or executed", async () => {
    const privacyWalletId = await walletWith("200");
    const [open, prepared] = [await quoteOf(), await quoteOf()];
    await key.call(preparePrivateSwap, {
      body: { quoteId: prepared.quoteId, privacyWalletId },
    });
    clock.aheadMs += QUOTE_TTL_MS;
    expect(
      await codeOf(
        key.call(preparePrivateSwap, { body: { quoteId: open.quoteId, privacyWalletId } }),
      ),
    ).toBe("410 quote_expired");
    expect(await codeOf(execute(prepared.quoteId, key))).toBe("410 quote_expired");
  });
});
