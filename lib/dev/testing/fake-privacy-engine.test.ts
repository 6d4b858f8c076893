import type { Token } from "@/lib/core/token";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import { createFakePrivacyEngine } from "./fake-privacy-engine";
import { createFakePrivacyWorld } from "./fake-privacy-world";
import { privacyEngineContract } from "./privacy-engine-contract";

const CHAIN = 31337;
const OWNER = "0x2222222222222222222222222222222222222222";
const RELAYER = "0x3333333333333333333333333333333333333333";

const token = (symbol: string, address: `0x${string}`, decimals: number): Token => ({
  ...{ symbol, name: symbol, chainId: CHAIN, address, decimals },
  ...{ assetId: symbol.toLowerCase(), usdPegged: true },
});
const poolOf = (own: Token, address: `0x${string}`): PrivacyPool => ({
  ...{ chainId: CHAIN, token: own, address, minimumBase: 10n ** BigInt(own.decimals) },
  ...{ shieldFeeBps: 10, relayFeeBps: 25, mayProcess: true },
});

const usdc = token("USDC", "0x00000000000000000000000000000000000000A1", 6);
const dai = token("DAI", "0x00000000000000000000000000000000000000A2", 18);

privacyEngineContract("the fake engine", () => {
  const world = createFakePrivacyWorld({
    pools: [
      poolOf(usdc, "0x00000000000000000000000000000000000000B1"),
      poolOf(dai, "0x00000000000000000000000000000000000000B2"),
    ],
  });
  return Promise.resolve({
    engine: createFakePrivacyEngine(world),
    newEngine: () => createFakePrivacyEngine(world),
    chainId: CHAIN,
    token: usdc,
    tokenOut: dai,
    owner: OWNER,
    send: (calls) => {
      for (const call of calls) world.mine(OWNER, call);
      return Promise.resolve();
    },
    relay: (transaction) => Promise.resolve(world.mine(RELAYER, transaction)),
    approveDeposits: () => {
      world.approveDeposits();
      return Promise.resolve();
    },
    declineDeposits: () => {
      world.declineDepositsOf(OWNER);
      return Promise.resolve();
    },
    publishOtherSet: () => {
      world.publishOtherSet();
      return Promise.resolve();
    },
    balanceOf: (of, owner) => Promise.resolve(world.balanceOf(of, owner)),
  });
});
