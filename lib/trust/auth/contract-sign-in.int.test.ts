import { toSafeSmartAccount } from "permissionless/accounts";
import { createWalletClient, getAddress, http, type PublicClient } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { beforeAll, expect, test } from "vitest";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { createAuthServices } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testDevnet, type TestDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { compileContract } from "@/lib/dev/testing/solidity";

let database: Database;
let devnet: TestDevnet;
let registry: ChainRegistry;
beforeAll(async () => {
  [{ database }, devnet] = await Promise.all([testDatabase(), testDevnet()]);
  registry = createChainRegistry(devnet.chains);
});

const setUp = async () => {
  const [chain, other] = devnet.chains;
  if (!chain || !other) throw new Error("The local chains are missing.");
  const client: PublicClient = registry.client(chain.id);
  const owner = testAccount();
  const entryPoint = { address: entryPoint07Address, version: "0.7" } as const;
  const safe = await toSafeSmartAccount({
    client,
    entryPoint,
    owners: [owner],
    version: "1.4.1",
    saltNonce: 0n,
  });
  const deploy = async (): Promise<void> => {
    const { factory, factoryData } = await safe.getFactoryArgs();
    if (!factory || !factoryData) throw new Error("The account is there already.");
    await devnet.setCoins(owner.address, "1");
    const [url] = chain.rpcUrls;
    const wallet = createWalletClient({
      account: owner,
      chain: registry.viemChain(chain.id),
      transport: http(url),
    });
    const hash = await wallet.sendTransaction({ to: factory, data: factoryData });
    await client.waitForTransactionReceipt({ hash });
  };
  const services = createAuthServices({ database, registry });
  const tryOn = async (
    chainId: number,
    sign: (message: string) => Promise<string>,
  ): Promise<string> => {
    const message = await services.messageFor(safe, { chainId });
    const signature = await sign(message);
    return services.auth.signIn({ message, signature, kind: "api" }).then(
      ({ address }) => address,
      (error: unknown) => (isDomainError(error) ? error.code : String(error)),
    );
  };
  return { safe, owner, deploy, tryOn, here: chain.id, elsewhere: other.id };
};

test("sign-in with a smart account is accepted before the account is deployed (ERC-6492) and after (ERC-1271)", async () => {
  const { safe, deploy, tryOn, here } = await setUp();
  const sign = (message: string) => safe.signMessage({ message });
  expect(await tryOn(here, sign)).toBe(safe.address);
  await deploy();
  expect(await tryOn(here, sign)).toBe(safe.address);
});

test("sign-in with a smart account is refused when another key signed, or the right key another message", async () => {
  const { safe, owner, tryOn, here, deploy } = await setUp();
  const bad = {
    "the owner, not the account": (message: string) => owner.signMessage({ message }),
    "another message": () => safe.signMessage({ message: "another message" }),
    "a stranger": (message: string) => testAccount().signMessage({ message }),
  };
  for (const sign of Object.values(bad))
    expect(await tryOn(here, sign)).toBe("invalid_signature");
  await deploy();
  for (const sign of Object.values(bad))
    expect(await tryOn(here, sign)).toBe("invalid_signature");
});

test("sign-in with a smart account asks the chain that the message names", async () => {
  const { safe, deploy, tryOn, here, elsewhere } = await setUp();
  await deploy();
  // A deployed account signs without the ERC-6492 wrapper, so its signature cannot be verified on
  // another chain.
  const sign = (message: string) => safe.signMessage({ message });
  expect(await tryOn(here, sign)).toBe(safe.address);
  expect(await tryOn(elsewhere, sign)).toBe("invalid_signature");
});

test("a contract that signed in on one chain cannot sign in on another, where the same address may have other owners", async () => {
  const { safe, tryOn, here, elsewhere } = await setUp();
  // The ERC-6492 wrapper of an account that is not deployed would deploy it on any chain, so its
  // signature would be valid on any chain.
  const sign = (message: string) => safe.signMessage({ message });
  expect(await tryOn(here, sign)).toBe(safe.address);
  expect(await tryOn(elsewhere, sign)).toBe("invalid_signature");
  expect(await tryOn(here, sign)).toBe(safe.address);
});

test("sign-in with a smart account costs the chain's node three million gas at most, whatever the contract does", async () => {
  const [chain] = devnet.chains;
  if (!chain) throw new Error("The local chains are missing.");
  const client: PublicClient = registry.client(chain.id);
  const owner = testAccount();
  await devnet.setCoins(owner.address, "1");
  const wallet = createWalletClient({
    account: owner,
    chain: registry.viemChain(chain.id),
    transport: http(chain.rpcUrls[0]),
  });
  // A contract that accepts every signature, after a loop that uses much gas.
  const { abi, bytecode } = compileContract(
    "Yes",
    `pragma solidity 0.8.26; contract Yes {
        uint256 immutable gasUsed; constructor(uint256 gas_) { gasUsed = gas_; }
        function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
          uint256 start = gasleft(); while (start - gasleft() < gasUsed) {} return 0x1626ba7e;
        }
      }`,
  );
  const signInWith = async (gasUsed: bigint): Promise<string> => {
    const hash = await wallet.deployContract({ abi, bytecode, args: [gasUsed] });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash });
    if (!contractAddress) throw new Error("The contract was not made.");
    const { auth, messageFor } = createAuthServices({ database, registry });
    const message = await messageFor(
      { address: getAddress(contractAddress) },
      { chainId: chain.id },
    );
    return auth.signIn({ message, signature: `0x${"12".repeat(40)}`, kind: "api" }).then(
      () => "ok",
      (error: unknown) => (isDomainError(error) ? error.code : String(error)),
    );
  };
  expect(await signInWith(1_500_000n)).toBe("ok");
  expect(await signInWith(4_000_000n)).toBe("invalid_signature");
});

test("sign-in with a smart account on a chain that does not answer says so; a plain account can still sign in", async () => {
  const [first] = devnet.chains;
  if (!first) throw new Error("The local chains are missing.");
  const away = createChainRegistry([{ ...first, rpcUrls: ["http://127.0.0.1:9"] }], {
    timeoutMs: 500,
  });
  const { auth, messageFor, signIn } = createAuthServices({ database, registry: away });
  const account = testAccount();
  expect((await signIn(account)).address).toBe(account.address);
  const message = await messageFor(account);
  const work = auth.signIn({ message, signature: "0x1234", kind: "api" });
  await expect(work).rejects.toMatchObject({ code: "chain_unavailable" });
});
