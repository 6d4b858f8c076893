import { describe, expect, test } from "vitest";
import { messagesByField } from "@/components/ui/form-errors";
import { ApiError } from "@/lib/api-client/client";
import { readOrTyped } from "@/lib/core/read-amount";
import type { PoolBalance } from "../parts";
import { API_FIELDS, checkForm, feesOf, type FormValues, mostOf } from "./form-model";
import { POOL } from "./testing";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const WETH: PoolBalance = {
  ...POOL,
  token: { ...POOL.token, symbol: "WETH", address: "0x2", decimals: 18 },
};
const VALUES: FormValues = {
  walletId: "pw_1",
  pool: "31337-0x1",
  amount: "25",
  target: "address",
  toAddress: ADA,
  toWalletId: "",
  toPool: "",
  slippage: "0.5",
};
const AROUND = { pool: POOL, toPool: undefined, treasury: "500" };
const USDC = (amount: number): bigint => BigInt(Math.round(amount * 1e6));

describe("amounts", () => {
  test("are read as people write them", () => {
    expect([" 1,250.50 ", ".5", "1 000", "12"].map((text) => readOrTyped(text))).toEqual([
      "1250.50",
      "0.5",
      "1000",
      "12",
    ]);
    for (const amount of ["1,0,0", "25 USDC", "-25"])
      expect(
        checkForm("transfer", { ...VALUES, amount }, AROUND).errors.amount,
        amount,
      ).toMatch(/such as/);
  });

  test("below the pool's minimum are refused, except when money leaves to an address in public", () => {
    const small = { ...VALUES, amount: "9.999999" };
    const message = "The smallest amount of this pool is 10 USDC.";
    for (const action of ["shield", "transfer", "swap"] as const)
      expect(checkForm(action, small, AROUND).errors.amount).toBe(message);
    expect(checkForm("unshield", small, AROUND)).toEqual({ errors: {}, amount: "9.999999" });
  });

  test("above what is spendable, fees included, say how much is missing", () => {
    expect(checkForm("transfer", { ...VALUES, amount: "99.5" }, AROUND).errors.amount).toBe(
      "You are short 0.5 USDC of what is spendable now.",
    );
    expect(checkForm("shield", { ...VALUES, amount: "501" }, AROUND).errors.amount).toBe(
      "The treasury is short of 1 USDC.",
    );
    // A treasury balance that is not known blocks nobody, because the service checks it.
    expect(
      checkForm("shield", { ...VALUES, amount: "501" }, { ...AROUND, treasury: null }).amount,
    ).toBe("501");
  });

  test("with more digits than the token has are refused", () => {
    expect(
      checkForm("transfer", { ...VALUES, amount: "25.0000001" }, AROUND).errors.amount,
    ).toMatch(/6 digits/);
  });
});

describe("fees", () => {
  test("are taken off a shield", () => {
    expect(feesOf("shield", POOL, { amountBase: USDC(100), target: "address" })).toEqual({
      grossBase: USDC(100),
      netBase: USDC(99.5),
      relayFeeBase: 0n,
      poolFeeBase: USDC(0.5),
    });
  });

  test("stand on top of a transfer, so that the recipient gets exactly the amount", () => {
    const toAddress = feesOf("transfer", POOL, { amountBase: USDC(99), target: "address" });
    // The relayer's share is rounded down.
    expect(toAddress).toEqual({
      grossBase: 99_999_999n,
      netBase: USDC(99),
      relayFeeBase: 999_999n,
      poolFeeBase: 0n,
    });
    const inside = feesOf("transfer", POOL, { amountBase: USDC(50), target: "wallet" });
    expect(inside.netBase).toBe(USDC(50));
    expect(inside.relayFeeBase + inside.poolFeeBase + inside.netBase).toBe(inside.grossBase);
    expect(inside.poolFeeBase).toBeGreaterThan(0n);
  });

  test("are left for by MAX", () => {
    expect(mostOf("transfer", POOL, { treasury: null, target: "address" })).toBe("99");
    const inside = mostOf("transfer", POOL, { treasury: null, target: "wallet" }) ?? "";
    const spent = feesOf("transfer", POOL, {
      amountBase: USDC(Number(inside)),
      target: "wallet",
    }).grossBase;
    expect(spent).toBeLessThanOrEqual(USDC(100));
    expect(
      feesOf("transfer", POOL, { amountBase: USDC(Number(inside)) + 1n, target: "wallet" })
        .grossBase,
    ).toBeGreaterThan(USDC(100));
    expect(mostOf("unshield", POOL, { treasury: null, target: "wallet" })).toBe("99");
    expect(mostOf("swap", POOL, { treasury: null, target: "address" })).toBe("100");
    expect(mostOf("shield", POOL, { treasury: "500", target: "address" })).toBe("500");
  });

  test("that have nothing to spend are zero, and the shortage is named", () => {
    const empty = { ...POOL, spendable: "0" };
    expect(mostOf("transfer", empty, { treasury: null, target: "address" })).toBe("0");
    expect(mostOf("unshield", empty, { treasury: null, target: "address" })).toBe("0");
    expect(checkForm("unshield", VALUES, { ...AROUND, pool: empty }).errors.amount).toMatch(
      /^You are short 25 USDC/,
    );
    expect(checkForm("shield", VALUES, { ...AROUND, treasury: "0" }).errors.amount).toMatch(
      /short of 25 USDC/,
    );
  });
});

describe("recipients", () => {
  test("of a transfer are an address with a right checksum, or another private wallet", () => {
    expect(checkForm("transfer", VALUES, AROUND)).toEqual({ errors: {}, amount: "25" });
    expect(
      checkForm("transfer", { ...VALUES, toAddress: "" }, AROUND).errors.toAddress,
    ).toMatch(/^Enter/);
    expect(
      checkForm("transfer", { ...VALUES, toAddress: ADA.slice(0, -1) }, AROUND).errors
        .toAddress,
    ).toMatch(/20/);
    const inside = { ...VALUES, target: "wallet" as const, toAddress: "nonsense" };
    expect(checkForm("transfer", inside, AROUND).errors.toWalletId).toMatch(/^Choose the/);
    expect(
      checkForm("transfer", { ...inside, toWalletId: "pw_1" }, AROUND).errors.toWalletId,
    ).toMatch(/another/);
    expect(checkForm("transfer", { ...inside, toWalletId: "pw_2" }, AROUND).errors).toEqual({});
    const closed = { ...AROUND, pool: { ...POOL, canProcess: false } };
    expect(
      checkForm("transfer", { ...inside, toWalletId: "pw_2" }, closed).errors.pool,
    ).toMatch(/address instead/);
  });

  test("of an unshield are the treasury where none is typed", () => {
    expect(checkForm("unshield", { ...VALUES, toAddress: "" }, AROUND).amount).toBe("25");
    expect(
      checkForm("unshield", { ...VALUES, toAddress: "0x12" }, AROUND).errors.toAddress,
    ).toBeDefined();
  });
});

test("a swap needs two pools and a slippage", () => {
  expect(checkForm("swap", VALUES, AROUND).errors.toPool).toMatch(/^Choose the token/);
  expect(checkForm("swap", VALUES, { ...AROUND, toPool: POOL }).errors.toPool).toMatch(
    /^Choose another/,
  );
  expect(checkForm("swap", VALUES, { ...AROUND, toPool: WETH })).toEqual({
    errors: {},
    amount: "25",
  });
});

test("what the service refuses stands at its field", () => {
  const refused = new ApiError({
    status: 400,
    code: "invalid_request",
    message: "No.",
    details: [
      { path: "token", message: "There is no privacy pool." },
      { path: "amount", message: "First." },
      { path: "amount", message: "Second." },
      { path: "elsewhere", message: "x" },
    ],
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });
  expect(messagesByField(refused, (path) => API_FIELDS[path])).toEqual({
    fields: { pool: "There is no privacy pool.", amount: "First." },
    rest: refused,
  });
});
