import { describe, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { screeningContract } from "@/lib/trust/ports/screening.contract";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployLookAlike } from "@/lib/dev/testing/freezable";
import { createOracleScreening } from "./oracle";

const [ONE, TWO] = [31337, 31338] as const;
const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const at = { rpcUrl: devnet.rpcUrls[ONE] ?? "", deployer };
const oracle = await deployLookAlike(at, "SanctionsList");
const listed = testAccount().address;
await oracle.add(listed);

/** A source in which chain ONE has an oracle. */
const sourceWith = (sanctionsOracle: `0x${string}` | undefined, rpcUrl = at.rpcUrl) => {
  const chains = devnet.chains.map((chain) =>
    chain.id === ONE && sanctionsOracle !== undefined
      ? { ...chain, rpcUrls: [rpcUrl], contracts: { ...chain.contracts, sanctionsOracle } }
      : chain,
  );
  return createOracleScreening({ registry: createChainRegistry(chains), clock: systemClock });
};
const signal = () => AbortSignal.timeout(30_000);

screeningContract("the oracle on chain", () => {
  let source = sourceWith(oracle.address);
  return Promise.resolve({
    source: {
      name: source.name,
      isActive: () => source.isActive(),
      screen: (addresses, aborts) => source.screen(addresses, aborts),
    },
    listed: { address: listed, chainId: ONE },
    clear: { address: testAccount().address, chainId: ONE },
    breakDown: () =>
      Promise.resolve(void (source = sourceWith(oracle.address, "http://127.0.0.1:9"))),
  });
});

describe("the oracle on chain", () => {
  test("is asked for addresses of chains without an oracle too, and of none", async () => {
    const verdicts = await sourceWith(oracle.address).screen(
      [TWO, null].map((chainId) => ({ address: listed, chainId })),
      signal(),
    );
    expect(verdicts).toMatchObject([
      { state: "hit", source: `oracle:${String(ONE)}` },
      { state: "hit", source: `oracle:${String(ONE)}` },
    ]);
  });

  test("covers nothing while no chain has one", async () => {
    const source = sourceWith(undefined);
    expect(await source.isActive()).toBe(false);
    expect(await source.screen([{ address: listed, chainId: ONE }], signal())).toMatchObject([
      { state: "not_covered" },
    ]);
  });

  test("is unavailable where the address has no code, or a contract that is no oracle", async () => {
    const noOracle = devnet.chains.find(({ id }) => id === ONE)?.contracts.wrappedNative;
    for (const address of [testAccount().address, noOracle]) {
      const [verdict] = await sourceWith(address).screen(
        [{ address: listed, chainId: ONE }],
        signal(),
      );
      expect(verdict?.state).toBe("unavailable");
    }
  });

  test("changes its verdict with the list on chain", async () => {
    const { address } = testAccount();
    const stateNow = async () =>
      (await sourceWith(oracle.address).screen([{ address, chainId: ONE }], signal()))[0]
        ?.state;
    await oracle.add(address);
    expect(await stateNow()).toBe("hit");
    await oracle.remove(address);
    expect(await stateNow()).toBe("clear");
  });
});
