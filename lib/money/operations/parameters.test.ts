import { expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { SignedPermit } from "@/lib/chain/smart-accounts/service";
import type { Leg } from "./leg";
import { parametersDigest } from "./parameters";

const A = "0x1111111111111111111111111111111111111111";
const B = "0x2222222222222222222222222222222222222222";
const token: Token = {
  symbol: "USDC",
  name: "USD Coin",
  chainId: 1,
  address: A,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};
const request: RouteRequest = {
  sources: [{ owner: A, token, amountBase: 5n }],
  destination: { token, recipient: B },
  slippageBps: 50,
};
const routeLeg: RouteLeg = {
  provider: "onchain",
  sourceIndex: 0,
  kind: "transfer",
  expectedOutBase: 5n,
  minOutBase: 5n,
  steps: [],
  fees: [],
  estimatedSeconds: 5,
  priceImpactBps: 0,
  plan: { to: B, value: "5" },
};
const leg = {
  ...{
    id: "leg_1",
    position: 0,
    walletId: "wal_1",
    walletAddress: A,
    executorWalletId: null,
    via: "user_operation",
  },
  ...{
    sourceChainId: 1,
    destChainId: 1,
    amountBase: 5n,
    routeLeg,
    permit: null,
    state: "queued",
    version: 0,
  },
} as unknown as Leg;
const permit: SignedPermit = {
  ...{
    standard: "eip2612",
    token: A,
    owner: A,
    spender: B,
    value: 5n,
    nonce: 0n,
    deadline: 9n,
    signature: "0x11",
  },
};
const operation = { id: "op_1", projectId: "prj_1", kind: "transfer", request };

const hex = (over: Partial<typeof operation> = {}, legs: readonly Leg[] = [leg]): string =>
  Buffer.from(parametersDigest({ ...operation, ...over }, legs)).toString("hex");

test("every parameter that decides what is signed changes the digest", () => {
  const otherRequests: RouteRequest[] = [
    { ...request, destination: { token, recipient: A } },
    { ...request, destination: { token: { ...token, chainId: 2 }, recipient: B } },
    { ...request, sources: [{ owner: A, token, amountBase: 6n }] },
    { ...request, sources: [{ owner: A, token: { ...token, address: B }, amountBase: 5n }] },
    { ...request, sources: [{ owner: B, token, amountBase: 5n }] },
  ];
  const otherLegs: Leg[] = [
    { ...leg, walletId: "wal_2" },
    { ...leg, amountBase: 6n },
    { ...leg, sourceChainId: 2 },
    { ...leg, executorWalletId: "wal_3" },
    { ...leg, routeLeg: { ...routeLeg, plan: { to: A, value: "5" } } },
    { ...leg, routeLeg: { ...routeLeg, minOutBase: 4n } },
    { ...leg, permit },
    { ...leg, permit: { ...permit, value: 6n } },
    { ...leg, permit: { ...permit, spender: A } },
  ];
  const digests = [
    ...[hex(), hex({ id: "op_2" }), hex({ projectId: "prj_2" }), hex({}, [])],
    ...otherRequests.map((other) => hex({ request: other })),
    ...otherLegs.map((other) => hex({}, [other])),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test("what changes while an operation runs does not change the digest, nor does the order of stored keys", () => {
  expect(hex({}, [{ ...leg, state: "completed", version: 7, userOpHash: "0x12" }])).toBe(hex());
  const turned = Object.fromEntries(
    Object.entries(routeLeg).reverse(),
  ) as unknown as Leg["routeLeg"];
  expect(hex({}, [{ ...leg, routeLeg: turned }])).toBe(hex());
});
