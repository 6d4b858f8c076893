import { encodeFunctionData, erc20Abi, numberToHex, type Address, type Hex } from "viem";
import { createPrivacyPools } from "@/lib/adapters/privacy-pools/engine";
import type { Prover } from "@/lib/adapters/privacy-pools/prover";
import { entrypointAbi, privacyPoolAbi } from "@/lib/chain/privacy-pools";
import { createChainRegistry } from "@/lib/chain/registry";
import { bindDeps } from "@/lib/core/bind-deps";
import { chainConfig } from "@/lib/platform/config/chains";
import type { Token } from "@/lib/core/token";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { createAssociationChain } from "@/lib/dev/devnet/association/chain";
import { serveAssociationSets } from "@/lib/dev/devnet/association/server";
import { planDeployments } from "@/lib/dev/devnet/contracts";
import { deployAll } from "@/lib/dev/devnet/deploy/deploy";
import { localChains } from "@/lib/dev/devnet/local-chains";
import type { Call } from "@/lib/core/evm";
import type { PrivacyEngineHarness } from "./privacy-engine-contract";
import { startBareAnvil } from "./bare-anvil";

const GAS = 16_000_000;
const NO_FILE = "a-set-of-the-test-without-a-file-in-ipfs";
const OTHER_ROOT = 1n;

/** The revert data of the call; null when it would not revert. */
const revertOf = async (
  url: string,
  from: Address,
  { to, data }: Pick<Call, "to" | "data">,
): Promise<Hex | null> => {
  const params = [{ from, to, data, gas: numberToHex(GAS) }, "latest"];
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params }),
  });
  const { error } = (await response.json()) as { error?: { data?: Hex } };
  return error === undefined ? null : (error.data ?? "0x");
};

const registryOf = (own: {
  readonly chainId: number;
  readonly url: string;
  readonly associationUrl: string;
}) => {
  const [local] = localChains().chains;
  const config = chainConfig.parse({
    ...local,
    id: own.chainId,
    rpcUrls: [own.url],
    privacyPools: { ...local?.privacyPools, aspSource: own.associationUrl },
  });
  return createChainRegistry([config]);
};

/**
 * One chain with every contract of the local chains, whose association set changes only when the
 * test requests it.
 */
export const startPrivacyChain = async (chainId: number) => {
  const anvil = await startBareAnvil(chainId, [
    "--gas-limit",
    "60000000",
    "--balance",
    "10000000",
  ]);
  await deployAll(anvil.url, 0);
  const { client, url } = anvil;
  const { contracts } = planDeployments();
  const { privacy } = contracts;
  const association = createAssociationChain({ rpcUrl: url, privacy, delayMs: 0 });
  const sets = await serveAssociationSets(new Map([[String(chainId), association]]), 0);
  const registry = registryOf({ chainId, url, associationUrl: sets.url });
  const owner = devAddress("deployer");
  const relayer = devAddress("relayer");

  const send = async (from: Address, { to, data, value }: Call) => {
    const transaction = { from, to, data, value: numberToHex(value), gas: numberToHex(GAS) };
    const hash = await client.request({
      method: "eth_sendTransaction",
      params: [transaction],
    } as never);
    return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };

  const balanceOf = (token: Token, of: Address): Promise<bigint> =>
    token.address === "native"
      ? client.getBalance({ address: of })
      : client.readContract({
          address: token.address,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [of],
        });

  const harness = (prover: Prover): PrivacyEngineHarness => {
    const newEngine = () => createPrivacyPools({ registry, relayer, prover });
    return {
      engine: newEngine(),
      newEngine,
      chainId,
      token: registry.resolveToken(chainId, "USDC"),
      tokenOut: registry.resolveToken(chainId, "DAI"),
      owner,
      send: async (calls) => {
        for (const call of calls) {
          const { status } = await send(owner, call);
          if (status !== "success") throw new Error("A call of the owner reverted.");
        }
      },
      relay: async ({ to, data }) =>
        (await send(relayer, { to, data, value: 0n })).transactionHash,
      approveDeposits: () => association.advance(),
      declineDeposits: () => association.decline(owner),
      publishOtherSet: async () => {
        const args = [OTHER_ROOT, NO_FILE] as const;
        const data = encodeFunctionData({
          abi: entrypointAbi,
          functionName: "updateRoot",
          args,
        });
        await send(devAddress("postman"), { to: privacy.entrypoint, data, value: 0n });
      },
      balanceOf,
    };
  };

  return {
    ...anvil,
    chainId,
    contracts,
    registry,
    owner,
    relayer,
    association,
    /** URL of the association sets. */
    associationUrl: sets.url,
    send,
    revertOf: bindDeps(url, revertOf),
    balanceOf,
    scopeOf: (pool: Address): Promise<bigint> =>
      client.readContract({ address: pool, abi: privacyPoolAbi, functionName: "SCOPE" }),
    harness,
    stop: async (): Promise<void> => {
      await sets.close();
      await anvil.stop();
    },
  };
};
