import { describe, expect, test } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { type TokenInfo, assetsOf } from "@/components/features/swap/tokens";
import {
  fieldErrorsOf,
  toTransferBody,
  transferSchema,
  type TransferValues,
} from "./form-model";

const token = (assetId: string, chainId: number, decimals: number): TokenInfo => ({
  symbol: assetId.toUpperCase(),
  address: `0x${assetId}${String(chainId)}`,
  chainId,
  decimals,
  assetId,
  name: assetId,
  caip19: "",
  priceUsd: null,
  usdPegged: false,
});
const TOKENS = [token("usdc", 1, 6), token("usdc", 2, 18), token("odd", 1, 0)];
const VALUES: TransferValues = {
  walletId: "wal_1",
  assetId: "usdc",
  fromChainId: "1",
  toChainId: "2",
  amount: " 1.5 ",
  toAddress: " 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
};
const problems = (change: Partial<TransferValues>): Record<string, string> =>
  Object.fromEntries(
    (transferSchema(TOKENS).safeParse({ ...VALUES, ...change }).error?.issues ?? []).map(
      ({ path, message }) => [path.join("."), message],
    ),
  );

describe("a transfer", () => {
  test("names the token by its address on the chain that it leaves", () => {
    expect(toTransferBody(TOKENS, VALUES)).toEqual({
      fromWalletId: "wal_1",
      fromChainId: 1,
      toChainId: 2,
      token: "0xusdc1",
      amount: "1.5",
      toAddress: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    });
  });

  test("is asked for only when it is whole and right", () => {
    for (const change of [
      { amount: "" },
      { amount: "1.0000001" },
      { toAddress: "0x1" },
      { walletId: "" },
    ])
      expect(toTransferBody(TOKENS, { ...VALUES, ...change })).toBeNull();
  });

  test("counts digits as the chain it leaves has them", () => {
    expect(problems({ amount: "0.0000001" })).toEqual({
      amount: "USDC has 6 digits after the point, no more.",
    });
    expect(problems({ amount: "0.0000001", fromChainId: "2", toChainId: "1" })).toEqual({});
  });

  test("cannot go where its token is not", () => {
    expect(problems({ assetId: "odd", amount: "1" })).toEqual({
      toChainId: "This token is not on this chain. Swap it on the way instead.",
    });
  });
});

test("each asset stands once, with its chains", () => {
  expect(assetsOf(TOKENS).map(({ assetId, chainIds }) => [assetId, chainIds])).toEqual([
    ["usdc", ["1", "2"]],
    ["odd", ["1"]],
  ]);
});

const refused = (details: ApiError["details"], code = "invalid_request"): ApiError =>
  new ApiError({
    status: 400,
    code,
    message: "No.",
    details,
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

test("errors of the API stand at the fields they name; what names none is not lost", () => {
  expect(
    fieldErrorsOf(refused([{ path: "toAddress", message: "must be an address" }])),
  ).toEqual({
    fields: { toAddress: "Must be an address." },
    rest: null,
  });
  const mixed = refused([
    { path: "fromWalletId", message: "This is not yours." },
    { path: "x", message: "?" },
  ]);
  expect(fieldErrorsOf(mixed)).toEqual({
    fields: { walletId: "This is not yours." },
    rest: mixed,
  });
  const bare = refused([]);
  expect(fieldErrorsOf(bare).rest).toBe(bare);
  const refusal = refused(
    [{ path: "amount", message: "is above the cap" }],
    "policy_violation",
  );
  expect(fieldErrorsOf(refusal).rest).toBe(refusal);
});
