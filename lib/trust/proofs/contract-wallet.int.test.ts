import { toSafeSmartAccount } from "permissionless/accounts";
import { createWalletClient, http, type PublicClient } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { beforeAll, describe, expect, test } from "vitest";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { createAuthServices } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testDevnet, type TestDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";

let database: Database;
let devnet: TestDevnet;
let registry: ChainRegistry;
beforeAll(async () => {
  [{ database }, devnet] = await Promise.all([testDatabase(), testDevnet()]);
  registry = createChainRegistry(devnet.chains);
});

const CHANGE = {
  kind: "policy.update" as const,
  title: "Let more pass",
  lines: ["Limit: 2 (now 1)"],
  values: { from: 1, to: 2 },
};

/** A person who signs in by a contract that is not deployed yet. */
const setUp = async () => {
  const [chain] = devnet.chains;
  if (!chain) throw new Error("The local chains are missing.");
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
  const message = await services.messageFor(safe, { chainId: chain.id });
  const signature = await safe.signMessage({ message });
  const actor = await services.actorOf(
    await services.auth.signIn({ message, signature, kind: "api" }),
  );
  const approve = async (sign: (text: string) => Promise<string>): Promise<string> => {
    const error: unknown = await services.approvals
      .requireApproval(actor, CHANGE, undefined)
      .catch((e: unknown) => e);
    if (!isDomainError(error)) throw new Error("No approval was asked for.");
    const given = {
      approvalId: String(error.extra.approvalId),
      signature: await sign(error.message),
    };
    return services.approvals.requireApproval(actor, CHANGE, given).then(
      ({ record }) => record.approvedBy,
      (refused: unknown) => (isDomainError(refused) ? refused.code : String(refused)),
    );
  };
  return { safe, owner, deploy, approve };
};

describe("a person who signs in by a contract", () => {
  test("approves by the contract's signature, before it is deployed (ERC-6492) and after (ERC-1271)", async () => {
    const { safe, deploy, approve } = await setUp();
    const sign = (message: string) => safe.signMessage({ message });
    expect(await approve(sign)).toBe("signature");
    await deploy();
    expect(await approve(sign)).toBe("signature");
  });

  test("does not approve by the owner's own signature, another message or another wallet", async () => {
    const { safe, owner, deploy, approve } = await setUp();
    const wrong = [
      (message: string) => owner.signMessage({ message }),
      () => safe.signMessage({ message: "another message" }),
      (message: string) => testAccount().signMessage({ message }),
      () => Promise.resolve("0x"),
    ];
    for (const sign of wrong) expect(await approve(sign)).toBe("invalid_signature");
    await deploy();
    for (const sign of wrong) expect(await approve(sign)).toBe("invalid_signature");
  });
});
