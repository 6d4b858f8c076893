import { expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import { parsePrivateTransfer, type PrivateTransfer, privateTransferColumns } from "./rows";

const token: Token = {
  ...{
    symbol: "USDC",
    name: "USD Coin",
    chainId: 1,
    address: "0x00000000000000000000000000000000000000A1",
  },
  ...{ decimals: 6, assetId: "usdc", usdPegged: true },
};
const swap: PrivateTransfer = {
  ...{
    projectId: "prj_1",
    id: "tr_1",
    operationId: "op_1",
    kind: "private_swap",
    walletId: "pw_1",
    toWalletId: "pw_1",
  },
  ...{
    toAddress: null,
    chainId: 1,
    token,
    tokenOut: token,
    amountBase: 10n ** 30n,
    noteId: null,
  },
  ...{
    path: "0xabcd",
    minimumBase: 7n,
    digest: new Uint8Array(32),
    idempotencyKey: null,
    requestDigest: null,
  },
  ...{ createdBy: "key_1", createdAt: new Date(0) },
};

test("a private transfer is read back as it was stored, whatever its amount", () => {
  expect(parsePrivateTransfer(privateTransferColumns(swap))).toEqual(swap);
});

test.each([
  ["an unknown kind", { kind: "gift" }],
  ["a recipient that is no address", { toAddress: "somebody" }],
  ["a token without decimals", { token: { ...token, decimals: undefined } }],
  ["a path that is not hexadecimal", { path: "xyz" }],
])("a stored transfer with %s is refused when it is read", (_name, change) => {
  expect(() => parsePrivateTransfer({ ...privateTransferColumns(swap), ...change })).toThrow();
});
